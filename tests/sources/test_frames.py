"""Frames as other libraries make them: categories of polars, in memory and in files."""

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
