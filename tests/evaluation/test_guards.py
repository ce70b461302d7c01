"""Guards on other rewards: how they are written, which policies keep to all at once, and what follows from it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import norm, t

import counterfold as cf
from counterfold.evaluation.guard import Guard
from counterfold.evaluation.joint import COMMON_ERROR_FREEDOM
from json_schema import validate
from reference import decision as naive

ROWS = 4000
ASKED = {"reward": "revenue", "progress": False}


@pytest.fixture(scope="module")
def log():
    """Return a log of coin flips: c earns most but is slow, d earns nearly as much, and b less than d."""
    rng = np.random.default_rng(0)
    item = rng.integers(4, size=ROWS)
    return {
        "action": np.array(list("abcd"))[item],
        "revenue": np.array([1.0, 1.2, 1.5, 1.48])[item] + rng.normal(size=ROWS),
        "latency": np.array([100.0, 101.0, 110.0, 101.0])[item] + 10 * rng.normal(size=ROWS),
        "propensity": np.full(ROWS, 0.25),
    }


TEXTS = {
    "latency <= +2%": ("latency", True, "share", 0.02),
    "refund >= -0.01": ("refund", False, "difference", -0.01),
    "latency<=200": ("latency", True, "level", 200.0),
    "score - 0.2 * cost >= +1e-3": ("score - 0.2 * cost", False, "difference", 0.001),
    " share of `a` >= - .5 % ": ("share of `a`", False, "share", -0.005),
    "case when cost > 1 then 1 else 0 end <= 0.1": ("case when cost > 1 then 1 else 0 end", True, "level", 0.1),
    "margin >= (-120)": ("margin", False, "level", -120.0),
    "margin <= ( +1.5 )": ("margin", True, "level", 1.5),
    "2 * abs((cost > 1)::int) <= 0.1": ("2 * abs((cost > 1)::int)", True, "level", 0.1),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_a_signed_number_is_a_change_and_others_are_levels(text, expected):
    found = Guard.of(text)
    assert (found.reward, found.is_most, found.kind, found.amount) == expected


BAD = {
    "no relation": ("latency", r"texts such as `latency <= \+2%`.*, got 'latency'\."),
    "strict": ("latency < 3", "got 'latency < 3'"),
    "no reward": ("<= 3", "got '<= 3'"),
    "no number": ("latency <= much", "got 'latency <= much'"),
    "a range": ("1 <= latency <= 3", "must have one relation each, got '1 <= latency <= 3'. Give each limit"),
    "two limits": ("latency >= 1 and latency <= 3", "one relation each"),
    "unsigned percent": ("latency <= 2%", "`\\+2%` or `-2%` for a change, or `0.02` for a level, got 'latency <= 2%'"),
    "not a text": ([5], "got 5"),
    "not a list": (5, "a list of texts"),
    "propensity": ("propensity <= 0.5", "must be on rewards, got 'propensity <= 0.5' on a column that is the propens"),
    "unknown": ("nothing <= 3", "column `nothing` must be there"),
}


@pytest.mark.parametrize(("guards", "message"), BAD.values(), ids=BAD)
def test_bad_guards_are_refused_with_a_sentence(log, guards, message):
    with pytest.raises(cf.CounterfoldError, match=message):
        cf.compare(log, ["b", "c"], guards=guards, **ASKED)


def test_guards_need_a_table_and_one_reward_to_decide_by(log):
    with pytest.raises(cf.ParameterError, match="with one `reward` to decide by, got 2 rewards"):
        cf.compare(log, ["b"], reward=["revenue", "latency"], guards="latency <= +2%")
    with pytest.raises(cf.ParameterError, match="must be on rewards, got 'latency <= 3' on a column that is the group"):
        cf.compare(cf.LogScan(log, reward="revenue", group="latency"), ["b"], guards="latency <= 3")
    own = cf.read_log(log, reward="revenue", ignore=["latency"])
    with pytest.raises(cf.ParameterError, match="got a `Log`, which has one reward"):
        cf.compare(own, {"b": "b"}, guards="latency <= +2%")


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_only_policies_that_keep_to_all_guards_are_chosen(log, engine, tmp_path):
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    found = cf.compare(tmp_path / "log.parquet", list("bcd"), guards=["latency <= +2%"], engine=engine, **ASKED)
    passed = {one.target: one.passes for one in found.guarded}
    assert passed == {"b": True, "c": False, "d": True}
    assert found.decision.choice == "d"
    assert found.advise("c").action == "do not ship"
    assert "`latency <= +2%`" in found.advise("c").sentence
    assert found.advise("d").action == "ship"
    validate(json.loads(found.to_json()), "comparison")
    scan = cf.LogScan(tmp_path / "log.parquet", reward="revenue")
    again = cf.compare(scan, list("bcd"), guards="latency <= +2%", engine=engine, progress=False)
    assert again.guarded == found.guarded


def test_a_guard_is_judged_by_the_baseline(log):
    found = cf.compare(log, list("acd"), baseline="c", guards=["latency <= -5%", "latency >= -20"], **ASKED)
    lines = {one.target: one for one in found.guarded}
    assert list(lines) == ["a", "d"]
    first, second = lines["d"].guards
    by_latency = cf.evaluate(log, {"c": "c", "d": "d"}, reward="latency", ignore=["revenue"], progress=False)
    assert first.limit == pytest.approx(0.95 * by_latency["c"].value, rel=1e-6)
    assert second.limit == pytest.approx(by_latency["c"].value - 20, rel=1e-6)
    assert first.value == pytest.approx(by_latency["d"].value, rel=1e-6)
    assert first.value < first.end < first.limit
    assert second.limit < second.end < second.value
    assert lines["d"].passes


def test_a_guard_that_no_policy_can_break_is_noted(log):
    visits = {**log, "visit": np.arange(ROWS) % 2}

    def list_notes(guard):
        found = cf.compare(visits, {"b": "b", "c": "c"}, guards=guard, **ASKED)
        notes = [one for name in found for one in found[name].diagnostics.findings if "can break" in one.problem]
        assert found["b"].verdict == cf.compare(visits, {"b": "b", "c": "c"}, **ASKED)["b"].verdict
        return [(one.name, one.severity, one.problem) for one in notes]

    idle = "no policy can break the guard `{}` by the rewards in the log: all of them are from 0 to 1"
    for guard in ("visit >= 0", "visit <= 1", "visit >= -1", "visit <= +1"):
        assert list_notes(guard) == [("as-read", "note", idle.format(guard))] * 2
    for guard in ("visit >= 0.1", "visit <= 0.9", "visit >= -0.5", "visit >= +0", "visit >= -2%"):
        assert list_notes(guard) == []


def test_the_probability_of_a_guard_is_that_of_its_difference(log):
    """The joint draws agree with the interval of the difference, whose confidence is found in another way."""
    found = cf.compare(log, ["b"], guards=["latency <= -2"], **ASKED)
    [line] = found.guarded[0].guards
    one = cf.evaluate(log, "b", reward="latency", ignore=["revenue"], progress=False)
    assert line.probability == pytest.approx(1 - one.uplift().find_confidence(-2.0), abs=0.03)
    assert 0.6 < line.probability < 0.99


def test_rewards_that_move_together_hold_or_break_together(log):
    """Two guards on the same noise hold together as often as one; on opposite noise they exclude each other."""
    value = cf.evaluate(log, "b", reward="latency", ignore=["revenue"], progress=False).planned_value
    same = [f"latency <= {value}", f"twin <= {2 * value}"]
    opposite = [f"latency <= {value}", f"twin >= {2 * value}"]
    for rules, together in ((same, 0.5), (opposite, 0.0)):
        [one] = cf.compare(log | {"twin": 2 * log["latency"]}, ["b"], guards=rules, **ASKED).guarded
        assert [line.probability for line in one.guards] == pytest.approx([0.5, 0.5], abs=0.05)
        assert one.probability == pytest.approx(together, abs=0.05)


def test_rows_without_a_reward_leave_nothing_in_common(log):
    holes = np.where(np.arange(ROWS) % 3 == 0, np.nan, log["latency"])
    found = cf.compare(log | {"latency": holes}, list("bd"), guards=["latency <= +2%"], missing_reward="drop", **ASKED)
    assert [one.passes for one in found.guarded] == [True, True]


def test_a_target_that_a_reward_cannot_answer_for_passes_no_guard(log):
    never = {name: column for name, column in log.items() if name != "propensity"}
    never["logging_probs"] = [[0.25, 0.25, 0.25, 0.25, 0.0]] * ROWS
    with pytest.warns(cf.SupportWarning):
        found = cf.compare(never, {"e": "e", "d": "d"}, actions=list("abcde"), guards=["latency <= +2%"], **ASKED)
    line = found.guarded[0]
    assert (line.passes, line.probability, line.guards[0].value) == (False, None, None)
    assert found.decision.choice == "d"
    validate(json.loads(found.to_json()), "comparison")


def test_what_was_seen_too_rarely_passes_no_guard():
    """Two rewards in 300 rows: draws may be above a small limit, but the interval reaches down to 0."""
    rng = np.random.default_rng(0)
    action, reward = rng.choice(["a", "b"], size=300), np.zeros(300)
    reward[np.flatnonzero(action == "a")[:2]] = 1.0
    log = {"action": action, "reward": reward, "revenue": rng.normal(size=300), "propensity": np.full(300, 0.5)}
    [one] = cf.compare(log, ["a"], guards=["reward >= 0.0005"], **ASKED).guarded
    [line] = one.guards
    assert line.value > line.limit > line.end
    assert not one.passes


def test_shares_of_a_negative_mean_go_by_its_size(log):
    """Costs that are written as negative rewards: 5 % more is nearer to 0."""
    costs = {name: column for name, column in log.items() if name != "latency"} | {"saved": -log["latency"]}
    found = cf.compare(costs, ["d"], guards=["saved >= -5%"], **ASKED)
    [line] = found.guarded[0].guards
    assert line.limit == pytest.approx(1.05 * np.mean(costs["saved"]), rel=1e-6)
    assert line.probability > 0.99


FIXED = {"candidates": ["ips"], "selector": "slope", "reward_model": None}


def test_ends_of_several_policies_hold_at_once_against_a_naive_bootstrap(log):
    """A guard on each side of a difference is a two-sided interval, so the naive one tells how much wider ends are."""
    some = {name: column[:300] for name, column in log.items()}
    rules = ["latency <= +2", "latency >= -2"]
    found = cf.compare(some, list("bcd"), guards=rules, **ASKED, **FIXED)
    own = found.guards.evaluations["latency"]
    gaps = [own[name].estimate.contributions.tolist() for name in "bcd"]
    reach = naive.find_reach(gaps, own["b"].logged.contributions.tolist(), (0.95, COMMON_ERROR_FREEDOM), 4000, 1)
    wider = norm.ppf((1 + found.guards.each_level) / 2) / norm.ppf(0.95)
    assert wider == pytest.approx(reach / t.ppf(0.95, COMMON_ERROR_FREEDOM), rel=0.05)
    for one in found.guarded:
        low, high = own[one.target].uplift().interval(found.guards.each_level)
        most, least = one.guards
        assert (most.end - most.value, least.end - least.value) == pytest.approx(
            (high - own[one.target].uplift().value, low - own[one.target].uplift().value)
        )


def test_one_policy_and_equal_policies_cost_nothing(log):
    twins = {"d": "d", "e": cf.Probabilities((log["action"] == "d").astype(float))}
    alone, both = (
        cf.compare(log, several, guards=["latency <= +2%"], **ASKED, **FIXED).guards.each_level
        for several in ({"d": "d"}, twins)
    )
    assert alone == pytest.approx(0.9)
    assert both == pytest.approx(0.9, abs=0.005)


def test_a_probability_that_is_too_little_among_many_is_explained(log):
    """A limit that one policy keeps to by itself is one that it may break among others."""
    alone = cf.compare(log, ["d"], guards=["latency <= 1000"], **ASKED, **FIXED).guarded[0].guards[0]
    limit = alone.end + 0.02 * (alone.end - alone.value)
    rule = f"latency <= {limit}"
    [one] = cf.compare(log, ["d"], guards=[rule], **ASKED, **FIXED).guarded
    found = cf.compare(log, list("bcd"), guards=[rule], **ASKED, **FIXED)
    among = found.guarded[-1]
    assert (one.passes, among.passes) == (True, False)
    assert among.probability == one.probability > 0.95
    step = found.advise("d")
    assert step.action == "A/B test"
    assert "but the end of an interval is beyond its limit" in step.sentence


@pytest.mark.slow
@pytest.mark.statistical
def test_policies_that_pass_keep_to_all_guards_together():
    """Ten policies are at their limit: any passes in at most 9 % of 150 logs, or more with a chance of 2 % at 5 %."""
    passed, alone = [], []
    for seed in range(150):
        rng = np.random.default_rng([18, seed])
        action = rng.integers(10, size=2000)
        log = {"action": action, "revenue": rng.normal(size=2000), "cost": 1 + rng.normal(size=2000)}
        targets = {str(one): cf.Probabilities((action == one).astype(float)) for one in range(10)}
        given = {**log, "propensity": np.full(2000, 0.1)}
        found = cf.compare(given, targets, guards=["cost <= 1"], **ASKED, candidates=["snips"], reward_model=None)
        passed.append(any(one.passes for one in found.guarded))
        alone.append(any(one.probability >= 0.95 for one in found.guarded))
    assert np.mean(passed) <= 0.09
    assert np.mean(alone) > 0.25
