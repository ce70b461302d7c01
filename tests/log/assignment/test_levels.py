"""Texts, and gaps, that are no context: outcomes, copies of the reward, names of the action; and clean ones."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.log.assignment import balance_log
from counterfold.log.assignment.levels import correlate, find_rewarded

ROWS = 4000
QUIET = {"progress": False}


def make_log(*, clicks=False, **more):
    """Return a log whose rewards depend on a number and the action; functions make columns of action and reward."""
    rng = np.random.default_rng(7)
    x, action = rng.normal(size=ROWS), rng.integers(3, size=ROWS)
    reward = x + action + rng.normal(size=ROWS)
    reward = (reward > 2).astype(float) if clicks else reward
    columns = {"x": x, "action": action, "reward": reward, "propensity": np.full(ROWS, 1 / 3)}
    columns |= {f"target.{one}": np.full(ROWS, share) for one, share in enumerate((0.2, 0.2, 0.6))}
    made = {name: make(action, reward, rng) for name, make in more.items()}
    return pa.table(columns | made)


def flip(share):
    """Return a function that makes a text of clicks which is wrong in some of the rows."""
    return lambda _, reward, rng: np.where((reward > 0) ^ (rng.random(ROWS) < share), "bought", "left").tolist()


OUTCOMES = {
    "copy": (True, flip(0.0), "it is a copy of the reward"),
    "correlation of 0.9": (True, flip(0.05), "it tells much of the reward"),
    "correlation of 0.7": (True, flip(0.15), "it tells much of the reward"),
    "correlation of 0.5": (True, flip(0.25), "it depends on the action"),
    "grades of the reward": (
        False,
        lambda _a, r, _g: [f"grade {one:.0f}" for one in np.clip(r, -1, 4)],
        "it tells much",
    ),
    "known only of buyers": (
        True,
        lambda _a, r, rng: [rng.choice(["card", "cash"]) if one else None for one in r],
        "it is missing in ",
    ),
    "name of the action": (
        False,
        lambda action, _r, _g: [("Basic Plan", "PLUS plan", "gold-plan")[one] for one in action],
        "it names the action: each of its values goes with another one",
    ),
    "several names of an action": (
        False,
        lambda action, _r, rng: [
            f"plan {one} v{version}" for one, version in zip(action, rng.integers(3, size=ROWS), strict=True)
        ],
        "it depends on the action",
    ),
}


@pytest.mark.parametrize(("clicks", "make", "why"), OUTCOMES.values(), ids=OUTCOMES)
def test_texts_that_are_no_context_are_left_out_as_a_whole(clicks, make, why, save_table):
    path = save_table(make_log(clicks=clicks, status=make))
    found = [cf.evaluate(path, engine=engine, **QUIET) for engine in ("memory", "local")]
    for one in found:
        assert one.contents.context == ("x",)
        assert any(one.contents.left_out["status"].startswith(reason) for reason in why.split("|"))
        assert one.contents.encoded == {}
    assert found[0].contents.left_out == found[1].contents.left_out


def test_rewards_only_of_some_values_are_no_coincidence():
    def make_status(_action, reward, rng):
        return np.where(reward > 3, "bought", rng.choice(["seen", "cart", "left"], ROWS)).tolist()

    table = make_log(status=make_status)
    spent = np.where(np.array(table["status"].to_pylist()) == "bought", np.array(table["reward"]), 0.0)
    table = table.set_column(table.column_names.index("reward"), "reward", pa.array(spent))
    reason = cf.evaluate(table, **QUIET).contents.left_out["status"]
    assert reason.startswith(("there is no reward unless it is bought", "it tells much"))


def test_a_number_that_is_missing_without_a_reward_is_left_out_as_a_whole():
    table = make_log(clicks=True, basket=lambda _a, reward, rng: [rng.random() if one else None for one in reward])
    found = cf.evaluate(table, **QUIET)
    assert found.contents.context == ("x",)
    assert found.contents.left_out["basket"].startswith("it is missing in ")


def test_a_name_of_the_action_is_no_context_of_fitted_propensities():
    table = make_log(item=lambda action, _r, _g: [("A", "B", "C")[one] for one in action]).drop_columns(["propensity"])
    found = cf.evaluate(table, propensity="fit", **QUIET)
    assert found.contents.context == ("x",)
    assert found.verdict == "caution"
    with pytest.warns(cf.SupportWarning):
        named = cf.evaluate(table, propensity="fit", context=["x", "item"], **QUIET)
    assert named.verdict == "not answerable"
    assert any(
        "column `item` may be no context: it names the action" in one.problem for one in named.diagnostics.findings
    )


def test_an_action_that_follows_from_a_text_is_not_answerable_where_propensities_are_fitted():
    def make_versions(action, _reward, rng):
        return [f"{one}.{two}" for one, two in zip(action, rng.choice(list("abc"), ROWS), strict=True)]

    table = make_log(item=make_versions).drop_columns(["propensity"])
    with pytest.warns(cf.SupportWarning):
        assert cf.evaluate(table, propensity="fit", **QUIET).verdict == "not answerable"


@pytest.mark.parametrize("values", [2, 5, 19, 200])
@pytest.mark.parametrize("clicks", [True, False])
def test_clean_texts_are_kept(values, clicks):
    makers = {
        f"t{place}": lambda _a, _r, rng: [f"v{one}" for one in rng.integers(values, size=ROWS)] for place in range(5)
    }
    log = cf.read_log(make_log(clicks=clicks, **makers), context=["x", *makers])
    assert set(balance_log(log).leave_out()) == set()


def test_texts_count_as_one_column_each():
    log = cf.read_log(make_log(city=lambda _a, _r, rng: rng.choice(list("abcdef"), ROWS).tolist()))
    assert list(balance_log(log).columns) == ["x", "city"]


def test_a_text_that_is_named_like_a_policy_is_no_probability():
    table = make_log(policy=lambda _a, _r, rng: rng.choice(["old", "new"], ROWS).tolist())
    assert cf.evaluate(table, **QUIET).contents.context == ("x", "policy")


def test_correlation_with_means_of_values_against_theory():
    rng = np.random.default_rng(0)
    code, noise = rng.integers(4, size=500), rng.normal(size=500)
    reward = code + noise
    count = np.bincount(code).astype(float)
    sums = np.stack([count, np.bincount(code, reward), np.bincount(code, reward**2), np.zeros(4)])
    means = (np.bincount(code, reward) / count)[code]
    plain = np.corrcoef(means, reward)[0, 1] ** 2
    assert correlate(sums) == pytest.approx(np.sqrt(1 - (1 - plain) * 499 / 496))


@pytest.mark.parametrize(("dead", "found"), [([900.0, 0.0], True), ([40.0, 0.0], False)])
def test_few_rows_without_a_reward_are_coincidence(dead, found):
    count, zeros = np.array([dead[0], 300.0]), np.array([dead[0], 200.0])
    assert (find_rewarded(np.stack([count, count, count, zeros])) is not None) == found
