"""Frames as other libraries make them: categories of polars, odd and sparse columns of pandas, lists of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import counterfold as cf

ROWS = 600
ENGINES = ["memory", "local"]


@pytest.fixture(scope="module")
def frame():
    """Return a log whose actions, target and context are text."""
    rng = np.random.default_rng(0)
    columns = {"device": rng.choice(["phone", "desk"], ROWS), "action": rng.choice(["news", "sport", "video"], ROWS)}
    columns |= {"reward": rng.integers(2, size=ROWS), "propensity": np.full(ROWS, 1 / 3)}
    return pd.DataFrame(columns | {"new": rng.choice(["sport", "video"], ROWS)})


def ask(source, engine, target="new", **named):
    return cf.evaluate(source, target, engine=engine, progress=False, **named)


def categorise(frame, *names):
    return pl.from_pandas(frame).with_columns(pl.col(name).cast(pl.Categorical) for name in names)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("names", [["action"], ["action", "new", "device"]], ids=len)
@pytest.mark.parametrize("kind", ["frame", "lazy", "arrow", "parquet"])
def test_categories_of_polars_are_texts(kind, names, engine, frame, tmp_path):
    source = categorise(frame, *names)
    if kind == "lazy":
        source = source.lazy()
    elif kind != "frame":
        path = tmp_path / f"log.{kind}"
        {"arrow": source.write_ipc, "parquet": source.write_parquet}[kind](path)
        source = path
    assert ask(source, engine).value == pytest.approx(ask(frame, engine).value, rel=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_and_categories_of_polars_are_one_column_in_a_folder(engine, frame, tmp_path):
    categorise(frame[:300], "action", "device").write_ipc(tmp_path / "a.arrow")
    pl.from_pandas(frame[300:]).write_ipc(tmp_path / "b.arrow")
    assert ask(tmp_path, engine).value == pytest.approx(ask(frame, engine).value, rel=1e-12)


def test_categories_of_polars_as_columns_of_a_log(frame):
    coded = categorise(frame, "action", "new", "device")
    log = cf.Log(
        context=coded.select("device"), action=coded["action"], reward=frame.reward, propensity=frame.propensity
    )
    assert log.context_names == ("device=phone",)
    assert cf.evaluate(log, coded["new"]).value == pytest.approx(ask(frame, "memory").value, rel=1e-12)


# columns that Arrow has no type for

ODD = {
    "it holds several kinds of values, int and str": [1, "n/a"] * (ROWS // 2),
    "it holds whole numbers of more than 64 bits": [10**30] * ROWS,
    "it holds values of the kind complex": [1j, 2j] * (ROWS // 2),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", [pd.DataFrame, dict], ids=["pandas", "mapping"])
@pytest.mark.parametrize("why", ODD)
def test_columns_without_a_role_may_hold_anything(why, make, engine, frame):
    log = make({**frame.to_dict("list"), "comment": ODD[why]})
    found, expected = ask(log, engine), ask(frame, engine)
    assert found.value == expected.value
    assert found.contents.left_out["comment"] == why
    assert ask(log, engine, ignore=["comment"]).contents.left_out == expected.contents.left_out
    assert ask(log, engine, context=["device"]).value == ask(frame, engine, context=["device"]).value


NEEDED = {
    "reward": {"reward": "comment"},
    "missing": {"reward": "comment", "missing_reward": "drop"},
    "expression": {"reward": "comment + reward"},
    "several": {"reward": ["reward", "comment"]},
    "propensity": {"propensity": "comment / 2"},
    "group": {"group": "comment"},
    "context": {"context": ["comment"]},
    "target": {"target": "comment"},
    "score": {"target": "greedy:comment"},
    "function": {"target": cf.Function(len, columns=["comment"])},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("role", NEEDED)
def test_columns_with_a_role_must_be_of_one_kind(role, engine, frame):
    log = frame.assign(comment=ODD["it holds several kinds of values, int and str"])
    with pytest.raises(
        cf.DataError, match=r"^column `comment` must hold one kind of values, got int and str; make it one"
    ):
        ask(log, engine, **NEEDED[role])


def test_a_query_takes_no_odd_columns(frame):
    pytest.importorskip("duckdb")
    with pytest.raises(cf.DataError, match="column `comment` must hold whole numbers of 64 bits at most, got larger"):
        cf.sql("select * from f", f=frame.assign(comment=10**30))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_index_of_an_odd_frame_stays_a_column(engine, frame):
    log = frame.assign(comment=[1, "n/a"] * (ROWS // 2)).set_index("device")
    assert ask(log, engine).contents.context == ("device",)


@pytest.mark.parametrize("engine", ENGINES)
def test_sparse_columns_are_written_out(engine, frame):
    sparse = frame.assign(
        reward=pd.arrays.SparseArray(frame.reward), x=pd.arrays.SparseArray(np.arange(ROWS) % 3 * 1.0)
    )
    dense = frame.assign(x=np.arange(ROWS) % 3 * 1.0)
    assert ask(sparse, engine).value == ask(dense, engine).value


def test_rewards_beyond_64_bits_say_what_to_do(frame):
    with pytest.raises(
        cf.DataError, match=r"column `reward` must hold whole numbers of 64 bits .* `\.astype\(float\)`"
    ):
        ask(frame.assign(reward=[10**30 * one for one in frame.reward.tolist()]), "memory")


# rows that are dictionaries


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_need_not_name_every_column(engine, frame):
    rows = frame.to_dict("records")
    assert ask(rows, engine).value == ask(frame, engine).value
    late = [
        {name: value for name, value in row.items() if name != "device" or place > 5} for place, row in enumerate(rows)
    ]
    gaps = frame.assign(device=frame.device.where(frame.index > 5))
    assert ask(late, engine).value == ask(gaps, engine).value


def test_a_dictionary_of_dictionaries_is_refused(frame):
    with pytest.raises(cf.DataError, match=r"got a dictionary of dictionaries\. Give the data frame itself, or what"):
        ask(frame.to_dict(), "memory")
