"""Open Bandit's files and dictionaries of obp: the answer of arrays, positions, and what is refused."""

import numpy as np
import pytest

import counterfold as cf
from other_tools import (
    WANTED,
    value_by_ips,
    write_open_bandit,
)
from tool_logs import (
    COUNTED,
    ROWS,
    SETTINGS,
    as_feedback,
    evaluate_plainly,
    list_notes,
    refuse,
)


def test_a_dictionary_of_obp_gives_the_same_answer():
    log = cf.from_obp(as_feedback())
    target = cf.from_action_dist(np.tile(WANTED, (len(ROWS), 1))[:, :, None], as_feedback())
    known = {line.name: line.value for line in cf.evaluate(log, target, **SETTINGS).table}
    assert known["IPS"] == pytest.approx(value_by_ips(ROWS), rel=1e-12)
    assert known == pytest.approx({line.name: line.value for line in evaluate_plainly().table}, rel=1e-12)
    assert log.action_features.shape == (3, 3)


def test_open_bandit_needs_its_columns(save):
    refuse(save("a,b\n1,2\n", "log.csv"), "column `item_id` must be there", format="open-bandit")


def test_positions_of_obp_are_decisions_of_their_own_and_that_is_said():
    feedback = as_feedback()
    position = np.arange(len(ROWS)) % 3
    rng = np.random.default_rng(0)
    action_dist = rng.dirichlet([1.0, 1.0, 1.0], size=(len(ROWS), 3)).transpose(0, 2, 1)
    feedback |= {"position": position, "pi_b": np.repeat(feedback["pi_b"], 3, axis=2)}
    log = cf.from_obp(feedback)
    target = cf.from_action_dist(action_dist, feedback)
    total = 0.0
    for row, place in zip(ROWS, position, strict=True):
        weight = action_dist[row["id"], row["action"], place] / row["probs"][row["action"]]
        total += weight * row["reward"]
    result = cf.evaluate(log, target, **SETTINGS)
    assert {line.name: line.value for line in result.table}["IPS"] == pytest.approx(total / len(ROWS), rel=1e-12)
    assert log.context[:, 2].tolist() == position.tolist()
    assert "each of several positions" in list_notes(result)[0]


def test_positions_in_files_of_open_bandit_are_noted(save):
    text = write_open_bandit(ROWS).replace("00:00:00,1,1,", "00:00:00,1,2,")
    result = cf.evaluate(save(text, "all.csv"), COUNTED, format="open-bandit", **SETTINGS)
    assert "each of several positions" in list_notes(result)[0]


def test_actions_of_obp_without_a_number_are_doses():
    feedback = as_feedback() | {"n_actions": None, "pi_b": None, "action": np.linspace(0, 1, len(ROWS))}
    assert cf.from_obp(feedback).kind == "doses"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action": None}, "`feedback` must hold `action`"),
        ({"reward": None}, "`feedback` must hold `reward`"),
        ({"pscore": None, "pi_b": None}, "propensity"),
        ({"slate_id": [1]}, "slates"),
        ({"n_actions": 2}, "`pi_b` must be 600 rows x 2 actions x positions, got 600 x 3 x 1"),
        ({"n_actions": "three"}, "`n_actions` must be the number of actions"),
        ({"position": np.full(600, -1)}, "`position` must be whole numbers from 0 on"),
        ({"position": np.zeros(5)}, "`position` must have one entry per row"),
        ({"position": np.full(600, 2)}, "`pi_b` must have a slice for each position, got 1 for positions up to 2"),
        ({"pi_b": 3}, "`pi_b` must be 600 rows"),
    ],
)
def test_bad_feedback_is_refused(changes, message):
    with pytest.raises(cf.DataError, match=message):
        cf.from_obp(as_feedback() | changes)


def test_what_users_of_obp_try_first_is_answered_with_the_way():
    with pytest.raises(cf.DataError, match=r"Give bandit feedback of obp as `cf\.from_obp\(feedback\)`"):
        cf.evaluate(as_feedback(), COUNTED)
    with pytest.raises(cf.DataError, match=r"take `cf\.from_action_dist\(action_dist, feedback\)`"):
        cf.evaluate(cf.from_obp(as_feedback()), np.full((len(ROWS), 3, 1), 1 / 3))


def test_feedback_must_be_a_dictionary():
    with pytest.raises(cf.DataError, match="must be a dictionary of bandit feedback, got list"):
        cf.from_obp([1])


def test_feedback_of_obp_without_probabilities_can_be_fitted():
    rng = np.random.default_rng(0)
    feedback = {"n_rounds": 200, "n_actions": 2, "context": rng.normal(size=(200, 2)), "position": None}
    feedback |= {"action": rng.integers(2, size=200), "reward": rng.normal(size=200)}
    with pytest.raises(cf.DataError, match="got neither"):
        cf.from_obp(feedback)
    assert cf.from_obp(feedback, propensity="fit").fitted is not None
