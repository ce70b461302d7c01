"""Diagnostics of weights: against naive loops, and where verdicts change."""

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
import reference
from counterfold.diagnostics.propensities import Propensities
from counterfold.engines.memory import RowEvidence
from counterfold.log.assignment import Balance, Suspicion
from counterfold.log.contents import Contents
from problems import diagnose, log_of, rows_of
from reference.diagnostics import mean_weight


def diagnose_data(data, target=None, **more):
    log = log_of(data, **more)
    return diagnose(log, data.target if target is None else target)


def test_diagnostics_against_naive_loop():
    data = reference.random_data(0, rows=300)
    found, w = diagnose_data(data), data.weights()
    assert found.effective_rows == pytest.approx(sum(w) ** 2 / sum(x * x for x in w))
    assert found.largest_weight == max(w)
    assert found.largest_share == pytest.approx(max(w) / sum(w))
    assert found.mean_weight == pytest.approx(sum(w) / 300)
    assert found.mean_weight_p == pytest.approx(mean_weight(data, None)["mean_weight_p"])
    assert (found.unsupported_rows, found.unsupported_mass) == (0, 0.0)
    assert (found.reward_low, found.reward_high) == (min(data.r), max(data.r))


def test_the_logging_policy_itself_is_good():
    data = reference.random_data(1, rows=300)
    found = diagnose_data(data, data.logging)
    assert (found.verdict, found.effective_rows, found.mean_weight_p) == ("good", pytest.approx(300), 1.0)


def test_wrong_propensities_show_in_the_mean_weight():
    data = reference.random_data(2, rows=2000)
    data.target = 0.5 * data.logging + 0.125
    assert diagnose_data(data).verdict == "good"
    wrong = reference.Data(data.x, data.a, data.r, data.logging, data.target)
    wrong.logging = np.roll(data.logging, 1, axis=1)
    found = diagnose_data(wrong)
    assert found.mean_weight_p < 1e-6
    assert found.verdict != "good"
    assert any("the mean weight is" in reason for reason in found.reasons)
    assert any("check that the propensities" in finding.remedy for finding in found.findings)


def test_few_effective_rows_are_no_answer():
    data = reference.random_data(3, rows=300)
    found = diagnose_data(data, np.where(np.arange(300)[:, None] < 5, np.eye(4)[data.a], np.eye(4)[(data.a + 1) % 4]))
    assert found.effective_rows < 10
    assert found.verdict == "not answerable"
    assert "worth only" in found.reasons[0]


def test_a_target_that_never_acts_as_logged_is_no_answer():
    data = reference.random_data(4)
    found = diagnose_data(data, np.eye(4)[(data.a + 1) % 4])
    assert (found.effective_rows, found.verdict) == (0.0, "not answerable")
    assert found.reasons == ("the target never takes a logged action",)


def test_missing_support_is_counted_and_expected_of_the_mean_weight():
    data = reference.random_data(5, rows=4000, actions=3)
    data.logging[:2000] = [0.5, 0.5, 0.0]
    data.a[:2000] = np.random.default_rng(0).integers(2, size=2000)
    data.target = np.tile([0.4, 0.4, 0.2], (4000, 1))
    found = diagnose_data(data)
    assert (found.unsupported_rows, found.unsupported_mass) == (2000, pytest.approx(0.1))
    assert found.mean_weight == pytest.approx(0.9, abs=0.05)
    assert found.mean_weight_p > 0.001
    assert found.verdict == "not answerable"


def test_support_as_far_as_propensities_tell():
    log = cf.Log(action=["a", "b", "a"], reward=[0, 1, 1], propensity=[0.5, 0.5, 0.5], actions=["a", "b", "c"])
    found = diagnose(log, np.tile([0.5, 0.25, 0.25], (3, 1)))
    assert (found.unsupported_rows, found.unsupported_mass) == (3, 0.25)


def with_effective_rows(effective, rows=1000):
    """Return diagnostics of a target that is certain of the logged action in so many rows and avoids it elsewhere."""
    data = reference.random_data(7, rows=rows, actions=2)
    data.logging[:] = 0.5
    return diagnose_data(data, np.where(np.arange(rows)[:, None] < effective, np.eye(2)[data.a], np.eye(2)[1 - data.a]))


@pytest.mark.parametrize(("effective", "verdict"), [(9, "not answerable"), (10, "caution"), (99, "caution")])
def test_effective_rows_decide_at_10_and_100(effective, verdict):
    found = with_effective_rows(effective)
    assert (found.effective_rows, found.verdict) == (pytest.approx(effective), verdict)
    assert found.reasons[0] == f"the log is worth only {effective} rows for this target"
    assert not any("worth only" in reason for reason in with_effective_rows(100).reasons)


@pytest.mark.parametrize(("share", "said"), [(0.09, False), (0.11, True), (0.6, True)])
def test_a_row_with_a_tenth_of_all_weight_is_called_out(share, said):
    rows = 20_000
    propensity = np.full(rows, 0.5)
    propensity[0] = 0.5 * (1 - share) / share / (rows - 1)
    log = cf.Log(action=np.arange(rows) % 2, reward=np.arange(rows) % 3, propensity=propensity)
    found = diagnose(log, np.full(rows, 0.5))
    assert found.largest_share == pytest.approx(share)
    assert (f"one row has {share:.0%} of all weight" in found.reasons) == said


@pytest.mark.parametrize(
    ("mass", "verdict"), [(0.0009, "good"), (0.0011, "caution"), (0.09, "caution"), (0.11, "not answerable")]
)
def test_missing_support_decides_at_a_thousandth_and_a_tenth(mass, verdict):
    data = reference.random_data(8, rows=1000, actions=3)
    data.logging[:] = [0.5, 0.5, 0.0]
    data.a = np.arange(1000) % 2
    assert diagnose_data(data, np.tile([0.5 - mass / 2, 0.5 - mass / 2, mass], (1000, 1))).verdict == verdict


@pytest.mark.statistical
@pytest.mark.parametrize("groups", [2, 3, 8])
def test_few_groups_do_not_seem_to_know_the_mean_weight_exactly(groups):
    """The p-value of right weights is uniform, however few groups there are."""
    rng, found = np.random.default_rng(groups), []
    for _ in range(400):
        action = rng.integers(2, size=300)
        given = {"reward": rng.random(300), "propensity": np.full(300, 0.5), "group": rng.integers(groups, size=300)}
        log = cf.Log(action=action, **given)
        found.append(diagnose(log, np.where(action == 1, 0.8, 0.2)).mean_weight_p)
    assert sum(p < 0.001 for p in found) <= 2
    assert binomtest(sum(p < 0.1 for p in found), 400, 0.1).pvalue > 0.001


def test_the_mean_weight_is_tested_on_both_sides_and_by_groups():
    data = reference.random_data(9, rows=2000, actions=2)
    data.logging[:] = 0.5
    for often in (0, 1):
        data.a = np.where(np.arange(2000) % 5 < 3, often, 1 - often)
        found = diagnose_data(data, np.tile([0.8, 0.2], (2000, 1)))
        assert found.mean_weight_p < 0.001
        assert {finding.name for finding in found.findings} == {"mean-weight", "propensities"}
    grouped = diagnose_data(data, np.tile([0.8, 0.2], (2000, 1)), group=data.a * 15 + np.arange(2000) % 15)
    assert grouped.mean_weight_p > found.mean_weight_p


def test_few_groups_are_called_out():
    data = reference.random_data(6, rows=400)
    verdicts = [diagnose_data(data, data.logging, group=np.arange(400) % groups) for groups in (20, 19)]
    assert [(found.verdict, found.groups) for found in verdicts] == [("good", 20), ("caution", 19)]
    assert verdicts[1].reasons == ("there are only 19 groups",)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_nothing_else_was_ever_tried(full, whole):
    probs = np.eye(2)[np.arange(200) % 2]
    known = {"logging_probs": probs} if full else {"propensity": np.ones(200)}
    log = cf.Log(action=np.arange(200) % 2, reward=np.arange(200) % 3, **known)
    found = diagnose(log, np.full((200, 2), 0.5) if whole else np.full(200, 0.5))
    assert (found.unexplored_rows, found.unsupported_rows, found.unsupported_mass) == (200, 200, 0.5)
    assert found.verdict == "not answerable"
    assert "in every row the logged action had probability 1, so nothing else was ever tried" in found.reasons[0]
    assert "log the probabilities with which they were" in found.findings[0].remedy
    same = diagnose(log, probs if whole else cf.Probabilities(np.ones(200)))
    assert (same.verdict, same.unexplored_rows) == ("good", 200)
    assert same.unsupported_mass == (0.0 if whole else None)


def test_rows_without_exploration_lack_support_and_others_do_not():
    certain = np.arange(400) % 4 == 0
    propensity = np.where(certain, 1.0, 0.5)
    log = cf.Log(action=np.arange(400) % 2, reward=np.arange(400) % 3, propensity=propensity)
    for target in (np.full(400, 0.6), np.tile([0.6, 0.4], (400, 1))):
        found = diagnose(log, target)
        assert (found.unexplored_rows, found.unsupported_rows) == (100, 100)
        assert found.unsupported_mass == pytest.approx(0.1)
        assert "in 100 of 400 rows the logged action had probability 1" in found.reasons[0]


def test_nearly_as_many_groups_as_rows_is_a_note():
    data = reference.random_data(6, rows=400)
    found = diagnose_data(data, data.logging, group=np.arange(400))
    [note] = found.findings
    assert (note.name, note.severity, found.verdict) == ("few-groups", "note", "good")
    assert "nearly every row is a group of its own" in note.problem
    assert diagnose_data(data, data.logging, group=np.arange(400) // 2).findings == ()


def test_dependence_beyond_all_chance_is_named_with_its_p_value():
    """A p-value of 0 is one, too, and not a missing one."""
    data = reference.random_data(0, rows=300)
    balance = Balance({}, Suspicion(1.0, "nothing"), {"age": 0.0})
    evidence = RowEvidence.of(rows_of(data), Contents.of(log_of(data)), balance=balance)
    [finding] = Propensities().measure(evidence, None).findings
    assert "(p = 0): they depend on column `age` in a way" in finding.problem
