"""Columns by name for every source in evaluate, check and compare, as on the command line; and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.evaluation import Settings
from counterfold.io.schema.column_roles import ARGUMENTS

ROWS = 600
NAMED = {"action": "item_id", "reward": "click", "propensity": "pscore", "context": ["age"]}


@pytest.fixture(scope="module")
def table():
    """Return a log whose columns are called as in other projects."""
    rng = np.random.default_rng(0)
    age, item = rng.integers(18, 80, ROWS), rng.integers(3, size=ROWS)
    click = rng.random(ROWS) < 0.2 + 0.1 * item
    new = np.where(item == 2, 0.8, 0.1)
    columns = {"age": age, "item_id": np.array(["hat", "shoe", "coat"])[item], "click": click.astype(int)}
    return pa.table(columns | {"pscore": np.full(ROWS, 1 / 3), "new": new, "old": np.full(ROWS, 1 / 3)})


@pytest.fixture(scope="module")
def expected(table):
    renamed = table.rename_columns(["age", "action", "reward", "propensity", "target", "other"])
    return cf.evaluate(renamed.drop_columns(["other"]), progress=False)


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_file(table, expected, engine, tmp_path):
    pa.parquet.write_table(table, tmp_path / "log.parquet")
    found = cf.evaluate(tmp_path / "log.parquet", "new", **NAMED, engine=engine, progress=False)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert cf.check(tmp_path / "log.parquet", "new", **NAMED, engine=engine).verdict == expected.verdict


FRAMES = {"pyarrow": lambda one: one, "pandas": pa.Table.to_pandas, "polars": pl.from_arrow, "dict": pa.Table.to_pydict}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame(table, expected, make):
    assert cf.evaluate(make(table), "new", **NAMED).value == expected.value
    assert cf.read_log(make(table), **NAMED).context_names == ("age",)


def test_a_comparison(table):
    found = cf.compare(table, ["new", "old"], baseline="old", **NAMED)
    apart = cf.evaluate(table, {"new": "new", "old": "old"}, **NAMED)
    [line] = found.table
    assert (line.target, line.verdict) == ("new", apart["new"].verdict)
    assert line.value == apart["new"].uplift(apart["old"]).value
    assert line.low < line.value < line.high
    assert [*found] == ["new", "old"]
    assert len(found) == 2
    assert found["new"].value == apart["new"].value
    assert repr(found).startswith(f"Comparison(with old: new {line.value:+.4g}, from ")
    assert found.to_dict()["differences"][0]["value"] == line.value
    assert '"baseline":' in found.to_json()
    assert pd.DataFrame(found.table).shape == (1, 7)


def test_what_the_log_cannot_answer_is_not_shown(table):
    never = pa.table({"item_id": ["hat"] * 600, "other": ["coat"] * 600})
    given = table.drop_columns(["item_id"]).append_column("item_id", never["item_id"])
    given = given.set_column(given.column_names.index("pscore"), "pscore", [[1.0] * ROWS])
    with pytest.warns(cf.SupportWarning):
        found = cf.compare(given, {"coat": "coat", "hat": "hat"}, actions=["hat", "coat"], baseline="coat", **NAMED)
    assert [line.verdict for line in found.table] == ["not answerable"]
    assert repr(found) == "Comparison(with coat: hat not answerable)"


def test_one_target_and_what_is_none(table):
    assert [*cf.compare(table, "new", **NAMED)] == ["new"]
    assert cf.compare(table, ["new", "old"], baseline="log", **NAMED).baseline is None
    for mistake in ({"hat": 0.5, "coat": 0.5}, cf.Uniform(), ["new", "new"], [["hat"] * ROWS]):
        with pytest.raises(cf.ParameterError, match="`targets` must be a mapping of names to targets, or different"):
            cf.compare(table, mistake, **NAMED)
    with pytest.raises(cf.ParameterError, match=r"`targets` must have other names than `log`, .*, got `log`. Give"):
        cf.compare(table, {"log": "hat", "new": "new"}, **NAMED)


def test_several_targets_are_checked_at_once(table):
    found = cf.check(table, {"a": "new", "b": "hat"}, **NAMED)
    assert set(found) == {"a", "b"}
    assert isinstance(found["a"], cf.Diagnostics)


def test_mistakes_in_names(table):
    with pytest.raises(cf.ParameterError, match=r"^`evaluate` has no argument `rewrd`. Did you mean `reward`\?$"):
        cf.evaluate(table, "new", rewrd="click")
    with pytest.raises(cf.ParameterError, match=r"has no argument `reward_modl`. Did you mean `reward_model`\?"):
        cf.evaluate(table, "new", reward_modl="dm")
    with pytest.raises(cf.ParameterError, match=r"`check` has no argument `engin`. Did you mean `engine`\?"):
        cf.check(table, "new", engin="local")
    with pytest.raises(cf.ParameterError, match=r"`read_log` has no argument `acton`. Did you mean `action`\?"):
        cf.read_log(table, acton="item_id")
    log = cf.read_log(table, **NAMED)
    with pytest.raises(cf.ParameterError, match="columns must be named for a file or a data frame, got `reward` besid"):
        cf.evaluate(log, "hat", reward="click")
    with pytest.raises(cf.DataError, match=r"Did you mean `item_id`\? Then name it: `action='item_id'`"):
        cf.evaluate(table, "new")
    with pytest.raises(cf.DataError, match="column `older` must be there, or be an action that the target always"):
        cf.compare(table, ["new", "old"], baseline="older", **NAMED)
    with pytest.raises(cf.ParameterError, match="`baseline` must be one of the targets, a, b, got older"):
        cf.compare(table, {"a": "new", "b": "old"}, baseline="older", **NAMED)
    added = cf.compare(table, ["new"], baseline="old", **NAMED).to_dict()
    assert added == cf.compare(table, ["new", "old"], baseline="old", **NAMED).to_dict()
    with pytest.raises(cf.ParameterError, match=r"`baseline` must be one of the targets, new, old, got \['old'\]"):
        cf.compare(table, ["new", "old"], baseline=["old"], **NAMED)


def test_the_arguments_are_those_of_a_scan_and_of_an_evaluation():
    roles = set(ARGUMENTS)
    own = set(cf.evaluate.__kwdefaults__) | {"candidates", "selector", "reward_model"}
    assert set(Settings.__annotations__) == own | roles
