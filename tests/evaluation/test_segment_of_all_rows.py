"""A segment of all rows has the very answer of the log: value, error, interval and difference, on every engine."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

ROWS = 2600
ACTIONS = 4

SETTINGS = {
    "default": {},
    "groups": {"group": "user"},
    "kept": {"kept": "kept"},
    "several loggers, kept": {
        "logger": "logger",
        "logger_probs": "policies",
        "propensity": None,
        "logging_probs": None,
        "kept": "kept",
    },
    "no reward model": {"reward_model": None},
    "one candidate": {"candidates": ["snips"], "reward_model": None},
    "sums choose": {"candidates": ["snips", "ips"], "selector": "slope", "reward_model": None},
    "another interval": {"interval": "empirical-likelihood"},
    "known range": {"reward_range": (-30.0, 30.0)},
}


def draw_policies(rng, context, boldness):
    scores = boldness * context @ rng.normal(size=(context.shape[1], ACTIONS))
    likely = np.exp(scores - scores.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    context = rng.normal(size=(ROWS, 3))
    logging, target = draw_policies(rng, context, 0.5), draw_policies(rng, context, 1.5)
    older = draw_policies(rng, context, 0.3)
    is_older = rng.random(ROWS) < 0.4
    followed = np.where(is_older[:, None], older, logging)
    action = (followed.cumsum(axis=1) > rng.random((ROWS, 1))).argmax(axis=1)
    table = {
        "x": context[:, 0],
        "y": context[:, 1],
        "z": context[:, 2],
        "action": action,
        "reward": context[:, 0] * (action - 1) + rng.normal(size=ROWS),
        "propensity": followed[np.arange(ROWS), action],
        "followed": followed.tolist(),
        "policies.old": logging.tolist(),
        "policies.older": older.tolist(),
        "target": target.tolist(),
        "user": rng.integers(ROWS // 3, size=ROWS),
        "kept": rng.choice([0.2, 0.5, 1.0], ROWS),
        "logger": np.where(is_older, "older", "old"),
        "everywhere": ["all"] * ROWS,
        "side": np.where(context[:, 1] > 0.5, "left", "right"),
    }
    where = tmp_path_factory.mktemp("whole") / "log.parquet"
    pa.parquet.write_table(pa.table(table), where, row_group_size=1000)
    return where


def evaluate(path, **settings):
    """Return the evaluation of the file with the columns that the settings name, and without all others."""
    if "logger" not in settings:
        settings = {"logging_probs": "followed"} | settings
    context = ["x", "y", "z"]
    known = {"context": context, "reward": "reward", "group": None, "logger": None, "kept": None, "progress": False}
    return cf.evaluate(path, "target", **known | settings)


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("by", [["everywhere"], ["side", "everywhere"]], ids=["one column", "two columns"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_it_has_the_answer_of_the_log(path, engine, by, settings):
    result = evaluate(path, by=by, engine=engine, **settings)
    line = result.segments[-1]
    gap = result.uplift()
    assert (line.segment, line.rows) == ("all", ROWS)
    assert len(result.segments) == (3 if "side" in by else 1)
    found = [line.value, line.stderr, line.low, line.high, line.logged]
    found += [line.difference, line.difference_stderr, line.difference_low, line.difference_high]
    expected = [result.value, result.stderr, *result.estimate.interval(), result.logged.value]
    expected += [gap.value, gap.stderr, *gap.interval()]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    # with one segment, nothing tells how segments differ, and the pooled difference is that of the log
    assert line.pooled == pytest.approx(gap.value, rel=1e-9)


def test_it_has_the_answer_of_the_log_where_all_rows_choose(path):
    result = evaluate(path, by=["everywhere"], selector="ocv", candidates=["snips", "dr"], engine="memory")
    (line,) = result.segments
    gap = result.uplift()
    found = [
        line.value,
        line.stderr,
        line.difference,
        line.difference_stderr,
        line.difference_low,
        line.difference_high,
    ]
    expected = [result.value, result.stderr, gap.value, gap.stderr, *gap.interval()]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
