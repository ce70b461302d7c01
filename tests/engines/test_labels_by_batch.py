"""Batches of a log may have other actions: what is summed of actions goes by their labels, not by their numbers."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf

FIRST = 17_000
"""More rows than the engine looks at first."""


def make_table(rows=40_000, seed=0):
    """Return a log with two actions in its first rows, and ten in all, which are not in the order of their labels."""
    rng = np.random.default_rng(seed)
    number = rng.integers(10, size=rows)
    number[:FIRST] = 8 + rng.integers(2, size=FIRST)
    return pa.table(
        {
            "x": rng.standard_normal(rows),
            "session": [f"s{session}" for session in rng.integers(3000, size=rows)],
            "action": [f"a{label}" for label in number],
            "reward": rng.integers(2, size=rows).astype(float),
            "propensity": np.where(np.arange(rows) < FIRST, 0.5, 0.1),
            "target": rng.uniform(0.05, 0.15, size=rows),
        }
    )


def test_engines_agree_where_later_rows_have_other_actions(tmp_path):
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(make_table(), path, row_group_size=2000)
    asked = {"context": ["x"], "progress": False}
    memory, local = (cf.evaluate(path, "target", engine=one, **asked).diagnostics for one in ("memory", "local"))
    assert {one.name for one in memory.findings} == {one.name for one in local.findings}
    for name in ("context_p", "propensities_p"):
        assert memory.measures[name] == pytest.approx(local.measures[name], rel=1e-6)


@pytest.mark.parametrize(("rows", "actions", "columns"), [(600, 3, 2), (900, 60, 40)])
@pytest.mark.parametrize("interval", ["skewed-t", "confidence-sequence"])
def test_segments_of_a_log_with_times_are_the_same_by_every_engine(rows, actions, columns, interval, tmp_path):
    rng = np.random.default_rng(1)
    context = rng.standard_normal((rows, columns))
    action = rng.integers(actions, size=rows)
    table = {f"x{place}": column for place, column in enumerate(context.T)}
    table |= {"action": action, "reward": context[:, 0] * (action == 1) + rng.standard_normal(rows)}
    table |= {f"p_{label}": np.full(rows, 1 / actions) for label in range(actions)}
    target = rng.dirichlet(np.ones(actions))
    table |= {f"t_{label}": np.full(rows, target[label]) for label in range(actions)}
    table["time"] = np.datetime64("2024-03-01", "s") + rng.permutation(rows) * 3600
    table["part"] = np.where(np.arange(rows) % 3 == 0, "a", "b").tolist()
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(pa.table(table), path, row_group_size=170)
    names = [f"x{place}" for place in range(columns)]
    asked = {"context": names, "logging_probs": "p", "by": ["part"], "interval": interval, "progress": False}
    memory, local = (cf.evaluate(path, "t", engine=one, **asked) for one in ("memory", "local"))
    assert [line.rows for line in memory.segments] == [line.rows for line in local.segments]
    for one, other in zip(memory.segments, local.segments, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-6)
        if actions == 3:  # with more numbers per row, units of segments are larger than rows
            assert [one.low, one.high] == pytest.approx([other.low, other.high], rel=1e-6)
