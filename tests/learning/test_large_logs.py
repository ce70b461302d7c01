"""Policies of large logs: learnt from some units, valued by all other rows, however the rows are cut."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.io.schema.drawn import draw_row_keys
from reference.models import fold_of

FAST = {"learners": "softmax-learner", "shares": 1, "progress": False}
CHANCES = {"u": 0.5, "v": 0.3, "w": 0.2}
ROWS = 2000


def draw_frame(rows=ROWS, seed=0, effect=1.0):
    """Return a log in which action v earns `effect` times the first column, and others earn nothing."""
    rng = np.random.default_rng(seed)
    action = rng.choice(list(CHANCES), rows, p=list(CHANCES.values()))
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows), "action": action})
    noise = 0.5 * rng.normal(size=rows)
    return frame.assign(reward=np.where(action == "v", effect * frame["a"], 0) + noise).assign(
        propensity=[CHANCES[one] for one in action]
    )


def list_drawn(units, size):
    """Return which rows are learnt from, one after the other: those of half of the units, but of few enough."""
    keys = [fold_of(unit + 2**42, 2**63) for unit in units]
    drawn = [key for key in sorted(keys) if key < 2**62]
    limit = drawn[size] if len(drawn) > size else 2**62
    return np.array([key < limit for key in keys])


@pytest.fixture
def save(tmp_path):
    """Write a frame as Parquet, in several row groups."""

    def write(frame, size=300):
        frame.to_parquet(tmp_path / "log.parquet", row_group_size=size)
        return tmp_path / "log.parquet"

    return write


def test_the_saved_policy_is_valued_by_the_rows_that_it_was_not_learnt_from(save, monkeypatch):
    frame = draw_frame()
    for size in (1 << 16, 600):
        monkeypatch.setattr("counterfold.learning.large_logs.MAX_SAMPLE", size)
        monkeypatch.setattr("counterfold.learning.large_logs.MIN_SAMPLE", 1)
        learned = cf.learn(save(frame), **FAST, engine="local")
        drawn = list_drawn(range(ROWS), size)
        assert learned.sample == drawn.sum()
        rest = frame[~drawn]
        assert learned.beats_log
        assert learned.evaluation is learned.attempt
        assert learned.evaluation.contents.rewards.count == len(rest)
        assert learned.evaluation.logged.value == pytest.approx(rest["reward"].mean())
        memory = cf.evaluate(rest, learned.policy, progress=False)  # whose folds are others
        assert learned.evaluation.value == pytest.approx(memory.value, abs=0.1 * memory.stderr)
        assert learned.evaluation.stderr == pytest.approx(memory.stderr, rel=0.1)
        notes = [one.problem for one in learned.evaluation.diagnostics.findings if one.name == "as-read"]
        assert notes == [f"{drawn.sum():,} of 2,000 rows were left out, because the policy was learnt from them"]


def test_it_learns_what_memory_learns_from_the_same_rows(save):
    frame = draw_frame()
    asked = FAST | {"shares": [1, 0.5]}
    large = cf.learn(save(frame), **asked, engine="local")
    small = cf.learn(frame[list_drawn(range(ROWS), ROWS)], **asked)  # whose folds are others
    fresh = draw_frame(500, seed=1)
    near = np.abs(large.policy.predict_proba(fresh) - small.policy.predict_proba(fresh)).max(axis=1) < 0.1
    assert near.mean() > 0.97
    for one, other in zip(large.table, small.table, strict=True):
        assert one.gain == pytest.approx(other.gain, abs=(other.high - other.low) / 8)
    assert [line.chosen for line in large.table].count(True) == 1


def test_neither_threads_nor_row_groups_matter(save):
    settings = (ROWS, 1), (97, 1), (97, 3)
    whole, one, several = (
        cf.learn(save(draw_frame(), size), **FAST, engine="local", threads=threads) for size, threads in settings
    )
    assert one.to_json() == several.to_json()
    assert one.policy.describe() == whole.policy.describe()
    assert one.evaluation.value == pytest.approx(whole.evaluation.value, rel=1e-9)


def test_groups_are_learnt_from_as_a_whole_or_not_at_all(save):
    frame = draw_frame().assign(user=np.random.default_rng(1).integers(150, size=ROWS))
    learned = cf.learn(save(frame), **FAST, group="user", engine="local")
    drawn = list_drawn(frame["user"].tolist(), ROWS)
    assert learned.sample == drawn.sum()
    assert learned.evaluation.diagnostics.groups == frame["user"][~drawn].nunique()


def test_the_log_is_kept_where_nothing_beats_it(save):
    learned = cf.learn(save(draw_frame(effect=0.0)), **FAST, engine="local")
    assert not learned.beats_log
    assert learned.evaluation is not learned.attempt
    np.testing.assert_allclose(
        learned.policy.predict_proba(draw_frame(1)), [[CHANCES[one] for one in learned.policy.labels]], atol=0.1
    )
    assert learned.evaluation.contents.rewards.count == ROWS - learned.sample


@pytest.mark.parametrize("is_drawn", [True, False])
def test_what_one_row_alone_has_is_known_wherever_it_is(is_drawn, save):
    frame, row = draw_frame().assign(city=np.tile(["Rome", "Oslo"], ROWS // 2)), 0
    while list_drawn([row], 1)[0] != is_drawn:
        row += 1
    frame.loc[row, ["city", "a", "action"]] = "Bonn", np.nan, "x"
    learned = cf.learn(save(frame), **FAST, context=["a", "city"], engine="local")
    assert learned.policy.labels == ["u", "v", "w", "x"]
    assert "a is missing" in learned.policy.features.columns
    assert learned.attempt.contents.rewards.count == ROWS - learned.sample


def test_no_action_is_taken_where_the_log_could_not(save):
    rng = np.random.default_rng(0)
    frame = draw_frame()
    possible = (rng.random(ROWS) < 0.5) | (frame["action"] == "v")
    frame["available"] = [{"u": True, "v": bool(one), "w": True} for one in possible]
    learned = cf.learn(save(frame), **FAST, engine="local")
    assert learned.attempt.diagnostics.unsupported_mass == 0


def test_lists_are_context(save):
    frame = draw_frame()
    frame["both"] = frame[["a", "b"]].to_numpy().tolist()
    learned = cf.learn(save(frame), **FAST, context=["both"], engine="local")
    assert learned.policy.features.names == ["both.0", "both.1"]
    assert learned.beats_log


def test_rewards_are_prepared_before_rows_are_drawn(save):
    frame = draw_frame().assign(time=pd.date_range("2026-01-01", periods=ROWS, freq="h"))
    frame.loc[::5, "reward"] = np.nan
    settings = {"missing_reward": "drop", "horizon": "100 hours", "reward": "2 * reward"}
    learned = cf.learn(save(frame), **FAST, **settings, engine="local")
    whole = cf.evaluate(frame, "v", **settings, progress=False).contents.rewards.count
    assert learned.sample + learned.evaluation.contents.rewards.count == whole
    assert learned.beats_log


@pytest.mark.parametrize(
    ("change", "settings", "sentence"),
    [
        ({"user": "one"}, {"group": "user"}, "must have groups of at most 1000 rows to learn from and others"),
        ({"reward": [1.0] + [0.0] * 1999}, {}, r"in the .*rows.*, `reward` must vary, got 0\.0 in all"),
        ({"action": 1.5, "dose": np.arange(ROWS) * 1.0}, {"dose": "dose"}, "got doses"),
        ({}, {"reward": ["reward", "a"]}, "must have one reward to learn from, got 2"),
        ({}, {"forbidden": "z"}, "`forbidden` must be actions of the log, u, v, w, got `z`"),
    ],
)
def test_bad_logs_are_one_sentence(change, settings, sentence, save):
    with pytest.raises(cf.CounterfoldError, match=sentence) as error:
        cf.learn(save(draw_frame().assign(**change)), **FAST, **settings, engine="local")
    assert "\n" not in str(error.value)


def leave_out_others(units, batch):
    """Return as many rows as were not drawn, but others."""
    kept = np.random.default_rng(0).permutation(draw_row_keys(batch, units.group) >= units.limit)
    return batch.filter(kept)


@pytest.mark.parametrize("leave_out", [lambda _, batch: batch, leave_out_others])
@pytest.mark.parametrize("binary", [False, True])
def test_rows_that_come_in_another_order_are_refused(leave_out, binary, monkeypatch):
    frame = draw_frame(200)
    frame = frame.assign(reward=(frame["reward"] > 0).astype(float)) if binary else frame
    monkeypatch.setattr("counterfold.io.schema.drawn.DrawnUnits.leave_out", leave_out)
    with pytest.raises(cf.DataError, match=r"must be those that nothing was learnt from, .*\. Rows came in another"):
        cf.learn(frame, **FAST, engine="local")


@pytest.mark.parametrize("kept", [False, True])
def test_rows_that_come_as_before_are_taken(kept):
    rng = np.random.default_rng(0)
    frame = draw_frame(400).assign(kept=rng.choice([0.1, 1.0], 400) if kept else 1.0)
    frame = frame.assign(reward=frame["reward"] * 1e6 + 1e9)
    learned = cf.learn(frame, **FAST, engine="local", kept="kept")
    assert learned.evaluation.contents.rewards.count == 400 - learned.sample


def test_few_rows_are_answered_or_refused():
    with pytest.raises(cf.DataError, match="must have rows to learn from and others to value the policy"):
        cf.learn(draw_frame(3), **FAST, engine="local")
    with pytest.raises(cf.ParameterError, match="`engine` must be 'memory' for a log in memory, got 'local'"):
        cf.learn(cf.read_log(draw_frame(50)), **FAST, engine="local")
    assert not cf.learn(draw_frame(30), **FAST, engine="local").beats_log


@pytest.mark.slow
@pytest.mark.statistical
def test_stated_intervals_hold_what_the_saved_policy_earns():
    contexts, held, beaten = draw_frame(20_000, seed=999), 0, 0
    asked = {"learners": ["greedy-learner", "softmax-learner"], "progress": False, "engine": "local"}
    for seed in range(100):
        learned = cf.learn(draw_frame(600, seed, effect=0.3), **asked)
        place = learned.policy.labels.index("v")
        truth = 0.3 * (learned.policy.predict_proba(contexts)[:, place] * contexts["a"]).mean()
        held += learned.evaluation.interval.low <= truth <= learned.evaluation.interval.high
        beaten += cf.learn(draw_frame(600, seed, effect=0.0), **asked).beats_log
    assert binomtest(held, 100, 0.95, alternative="less").pvalue > 0.001  # one in a thousand fails by chance
    assert binomtest(beaten, 100, 0.025, alternative="greater").pvalue > 0.001
