"""A synthetic log, and the answers on it by the two engines that read files."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold_lab.synthetic.generator import Synthetic

ROWS = 3000
REFIT = "ocv:refit=False"
FEW = ["ips", "snips", "dm", "dr", "group-ips"]
"""Estimators with and without a reward model, of which one is tuned; `paper` has 191 and takes four times as long."""


def made(rows, seed=0, **settings):
    """Return a synthetic log as a table."""
    problem = Synthetic(**{"actions": 4, "context": 3, "targets": 2, "seed": seed} | settings)
    columns = problem.block(0, rows).columns
    return pa.table({name: column.tolist() if column.ndim > 1 else column for name, column in columns.items()})


def answer(engine, path, target="target", candidates=FEW, **settings):
    """Return the answer by one engine."""
    scan = path if isinstance(path, cf.LogScan) else cf.LogScan(path, ignore=["target", "target_2"])
    settings = {"selector": REFIT, "progress": False} | settings
    return cf.evaluate(scan, target, candidates, engine=engine, **settings)


def both(path, *asked, **settings):
    """Return the answers by the two engines, from the same splits."""
    return [answer(engine, path, *asked, **settings) for engine in ("memory", "local")]


def same(memory, local, exact=1e-9):
    """Require the same values, scores and choice; errors come from buckets, so they are near."""
    assert [one.name for one in local.table] == [one.name for one in memory.table]
    for part in ("value", "score", "share"):
        left, right = ([getattr(one, part) for one in result.table] for result in (local, memory))
        np.testing.assert_allclose(left, right, rtol=exact, atol=1e-12)
    assert (local.selected, local.left_out) == (memory.selected, memory.left_out)
    assert local.value == pytest.approx(memory.value, rel=exact)
    errors = [[one.stderr for one in result.table] for result in (local, memory)]
    np.testing.assert_allclose(*errors, rtol=0.15)
    assert 0.4 < local.stderr / memory.stderr < 2.5  # the noise of a fitted model is itself known roughly
    alike = local.diagnostics.to_dict(), memory.diagnostics.to_dict()
    for name in ("rows", "effective_rows", "largest_weight", "largest_share", "mean_weight"):
        assert alike[0][name] == pytest.approx(alike[1][name], rel=exact)
    for name in ("unsupported_rows", "reward_low", "reward_high", "verdict"):
        assert alike[0][name] == alike[1][name]
    mass = [one["unsupported_mass"] or 0.0 for one in alike]
    assert mass[0] == pytest.approx(mass[1], rel=exact)


def with_column(table, name, values):
    """Return the table with another column in the place of one."""
    values = values if isinstance(values, pa.Array | pa.ChunkedArray) else [values]
    return table.set_column(table.column_names.index(name), name, values)


def refused(path, message, target="target", **settings):
    """Require one sentence, and the same kind of error as in memory."""
    for engine in ("memory", "local"):
        with pytest.raises(cf.CounterfoldError, match=message):
            cf.evaluate(cf.LogScan(path, ignore=["target", "target_2"]), target, engine=engine, **settings)
