"""Text, dates and missing numbers of the context: which columns are taken, what is said, the same from every source."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from text_logs import ACTIONS, make_log

ENCODED = ("city=Rome", "city=Oslo", "city=Bern", "city is missing", "age", "age is missing", "new", "new is missing")
QUIET = {"progress": False}


@pytest.fixture(scope="module")
def table():
    return make_log()


@pytest.fixture(scope="module")
def expected(table):
    return cf.evaluate(table, **QUIET)


def test_what_is_taken_by_itself(table):
    log = cf.read_log(table)
    assert log.context_names == ENCODED
    assert log.context_sources == ("city",) * 4 + ("age",) * 2 + ("new",) * 2
    assert log.left_out == {
        "customer": "it is called like a user or session; name it as `group` if rows of the same one belong together, "
        "or in `context` to have it taken",
        "since": "it is a date; name it as `time` if it is when decisions were made, or in `context` to have it taken "
        "as numbers",
    }
    place = ENCODED.index("age")
    gaps = np.array([one is None for one in table["age"].to_pylist()])
    assert (log.context[:, place + 1] == gaps).all()
    known = log.context[~gaps, place]
    np.testing.assert_allclose(log.context[gaps, place], known.mean())


def test_every_source_gives_the_same_answer(table, source, expected):
    found = cf.evaluate(source(table), **QUIET)
    assert found.contents.columns == expected.contents.columns
    assert found.contents.left_out == expected.contents.left_out
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert tuple(found.interval) == pytest.approx(tuple(expected.interval), rel=1e-12)


def test_a_query_gives_the_same_answer(table, expected):
    pytest.importorskip("duckdb")
    found = cf.evaluate(cf.sql("select * from log", log=table), **QUIET)
    assert found.value == pytest.approx(expected.value, rel=1e-12)


def test_named_columns_are_the_same_from_every_source(table, source):
    named = ["city", "since", "age"]
    found, wanted = (cf.evaluate(one, context=named, **QUIET) for one in (source(table), table))
    assert found.contents.context == ("city", "since", "age")
    assert found.contents.columns == wanted.contents.columns
    assert found.value == pytest.approx(wanted.value, rel=1e-12)


def test_frames_as_context_are_encoded_by_the_same_code(table):
    log = cf.read_log(table, context=["city", "age", "new", "since"])
    columns = {name: table[name].to_pylist() for name in ("action", "reward", "propensity")}
    some = table.select(["city", "age", "new", "since"])
    for frame in (some, some.to_pandas(), pl.from_arrow(some)):
        own = cf.Log(context=frame, **columns)
        assert own.context_names == log.context_names
        np.testing.assert_allclose(own.context, log.context, rtol=1e-12)
    pandas = some.to_pandas().assign(city=lambda frame: frame["city"].astype("category"))
    for frame in (pandas, pl.from_arrow(some).with_columns(pl.col("city").cast(pl.Categorical))):
        assert cf.Log(context=frame, **columns).context_names == log.context_names
        whole = table.drop_columns(["city"]).append_column("city", pa.table(frame)["city"])
        assert set(cf.read_log(whole).context_names) == set(ENCODED)


def test_an_index_of_pandas_is_no_context():
    frame = pd.DataFrame({"city": ["a", "b"] * 10, 7: range(20)}, index=pd.Index(range(100, 120), name="key"))
    asked = {"action": [0, 1] * 10, "reward": range(20), "propensity": np.full(20, 0.5)}
    assert cf.Log(context=frame, **asked).context_names == ("city=b", "7")


def test_missing_numbers_of_an_array_are_filled_in():
    context = np.column_stack([np.arange(20.0), np.where(np.arange(20) < 3, np.nan, 4.0)])
    log = cf.Log(context=context, action=[0, 1] * 10, reward=range(20), propensity=np.full(20, 0.5))
    assert log.context_names == ("0", "1", "1 is missing")
    assert (log.context[:, 1] == 4.0).all()


@pytest.mark.parametrize("context", [[["a"], ["b"]] * 10, pd.DataFrame({"x": [1, "a"] * 10})], ids=["list", "mixed"])
def test_what_has_no_type_is_refused(context):
    with pytest.raises(cf.DataError, match="`context` must be numbers, got 'a' in"):
        cf.Log(context=context, action=[0, 1] * 10, reward=range(20), propensity=np.full(20, 0.5))


def test_what_was_done_is_said_and_is_no_doubt(expected):
    assert expected.verdict == "good"
    [note] = [one for one in expected.diagnostics.findings if one.name == "as-read"]
    assert note.severity == "note"
    assert note.problem.startswith("columns of the context were made numbers: `city` by 4 values, missing in ")
    said = expected.to_dict()["context"]
    assert said["taken"] == ["city", "age", "new"]
    assert said["encoded"]["city"]["levels"] == ["Paris", "Rome", "Oslo", "Bern"]
    assert said["encoded"]["age"]["kind"] == "numbers"


def test_nothing_is_said_of_plain_numbers():
    found = cf.evaluate(make_log(city=None, age=None, new=None, x=np.arange(1500.0) % 7), **QUIET)
    assert [one.name for one in found.diagnostics.findings] == []
    assert found.contents.encoded == {}


REFUSED = {
    "nested": ({"bad": [{"a": 1}] * 1500}, "column `bad` must be numbers, text or dates, got struct"),
    "lists with gaps": ({"bad": [[1.0], None] * 750}, "`bad` must be lists in every row, got None"),
    "missing text": ({"bad": pa.nulls(1500, pa.string())}, "`context` column `bad` must hold values, got none in all"),
    "null": ({"bad": pa.nulls(1500)}, "`context` column `bad` must hold numbers, got none in all"),
    "infinite": ({"bad": [np.inf] + [1.0] * 1499}, "`context` column `bad` must be finite, got inf in 1 of"),
    "infinite and missing": ({"bad": [None, np.inf] + [1.0] * 1498}, "column `bad` must be finite, got inf in .*row 1"),
    "spoilt numbers": ({"bad": ["1", "2", "n/a"] * 500}, "column `bad` must be numbers, got 'n/a' in"),
}


@pytest.mark.parametrize(("more", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_encoded_is_refused_by_name(more, message, save_table):
    path = save_table(make_log(**more))
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(path, context=["city", "bad"], engine=engine, **QUIET)


def test_texts_that_nobody_named_and_that_are_no_levels_are_left_out(save_table):
    more = {
        "zip": ["75001", "75002", "n/a"] * 500,
        "story": [f"once upon a time {row} " * 9 for row in range(1500)],
        "empty": pa.nulls(1500, pa.string()),
        "nothing": pa.array([None] * 1500, pa.float64()),
        "scores": ["[0.2, 0.8]", "[0.5, 0.5]"] * 750,
        "always": ["yes"] * 1500,
    }
    path = save_table(make_log(**more))
    answers = [cf.evaluate(path, engine=engine, **QUIET).contents for engine in ("memory", "local")]
    for one in answers:
        assert one.context == ("city", "age", "new")
        assert {"zip", "story", "empty", "nothing", "always"} <= set(one.left_out)
    assert answers[0].left_out == answers[1].left_out


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("asked", [{}, {"propensity": "fit"}, {"context": ["city", "since", "age"]}], ids=str)
def test_engines_agree(full, asked, save_table):
    path = save_table(make_log(full=full))
    memory, local = (cf.evaluate(path, engine=engine, **asked, **QUIET) for engine in ("memory", "local"))
    assert memory.contents.columns == local.contents.columns
    assert memory.contents.encoded.keys() == local.contents.encoded.keys()
    assert memory.contents.left_out == local.contents.left_out
    assert local.value == pytest.approx(memory.value, rel=1e-9)
    assert local.verdict == memory.verdict


def test_what_comes_late_in_a_long_log(save_table):
    """Levels, gaps of numbers and text that only the last rows have, beyond those that tell what columns hold."""
    rows = 18_000
    late = np.arange(rows) >= rows - 60
    rng = np.random.default_rng(1)
    more = {
        "tier": np.where(late, "gold", rng.choice(["basic", "plus"], rows)).tolist(),
        "height": [None if one else number for one, number in zip(late, rng.normal(size=rows).tolist(), strict=True)],
        "words": pa.array([("a" if row % 2 else "b") if one else None for row, one in enumerate(late)], pa.string()),
    }
    table = make_log(rows, customer=None, since=None, **more)
    plain = table.drop_columns(["city", "age", "new", "tier", "words"])
    for one in (table, plain):
        path = save_table(one, row_group_size=3000)
        memory, local = (cf.evaluate(path, engine=engine, **QUIET) for engine in ("memory", "local"))
        assert memory.contents.columns == local.contents.columns
        assert ("height is missing", "height") in local.contents.columns
        assert local.value == pytest.approx(memory.value, rel=1e-9)


def test_a_column_without_a_value_in_the_first_lines_of_json(tmp_path):
    rows = make_log(600, since=None).to_pylist()
    for place, row in enumerate(rows):
        row["tier"] = None if place < 300 else ("gold", "basic")[place % 2]
    text = "\n".join(pd.Series(row, dtype=object).to_json() for row in rows)
    (tmp_path / "log.jsonl").write_text(text)
    for engine in ("memory", "local"):
        found = cf.evaluate(tmp_path / "log.jsonl", engine=engine, **QUIET)
        assert {"tier=gold", "tier is missing"} <= {name for name, _ in found.contents.columns}


def test_a_function_sees_the_numbers_as_they_were(table, save_table):
    seen = []

    def policy(context):
        seen.append(context.copy())
        return pd.DataFrame(np.tile([0.2, 0.3, 0.5], (len(context), 1)), columns=list(ACTIONS))

    path = save_table(table)
    for engine in ("memory", "local"):
        seen.clear()
        found = cf.evaluate(path, policy, ignore=["target"], engine=engine, **QUIET)
        assert found.contents.context == ("city", "age", "new")
        assert {one.shape[1] for one in seen} == {2}
        assert any(np.isnan(one[:, 0]).any() for one in seen)
    with pytest.raises(
        cf.DataError, match="`target` looks at the whole context, which must be numbers, got column `cit"
    ):
        cf.evaluate(path, policy, ignore=["target"], context=["city", "age"], **QUIET)


def test_text_that_is_an_outcome_is_left_out_though_a_function_looks_at_the_context(table, save_table):
    status = np.where(np.array(table["reward"]) > 0.5, "bought", "left")
    reward = (np.array(table["reward"]) > 0.5).astype(float)
    path = save_table(make_log(status=status.tolist(), reward=reward.tolist()))

    def policy(context):
        return pd.DataFrame(np.tile([0.2, 0.3, 0.5], (len(context), 1)), columns=list(ACTIONS))

    for asked in ({}, {"propensity": "fit"}):
        found = [
            cf.evaluate(path, policy, ignore=["target"], engine=one, **asked, **QUIET) for one in ("memory", "local")
        ]
        assert found[0].contents.left_out == found[1].contents.left_out
        assert found[0].contents.left_out["status"].startswith("it is a copy of the reward")
        assert found[1].value == pytest.approx(found[0].value, rel=1e-9)


def test_a_pipeline_sees_text_as_it_is_and_its_gaps(table, save_table):
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = table.select(["city", "age"]).to_pandas()
    encode = make_column_transformer((OneHotEncoder(), ["city"]), (SimpleImputer(), ["age"]))
    model = make_pipeline(encode, LogisticRegression()).fit(frame, table["action"].to_pylist())
    path = save_table(table)
    given = pa.table(dict(zip(model.classes_, model.predict_proba(frame).T, strict=True)))
    for engine in ("memory", "local"):
        found = cf.evaluate(path, model, ignore=["target"], engine=engine, **QUIET)
        plain = cf.evaluate(cf.read_log(table), given, **QUIET)
        assert found.value == pytest.approx(plain.value, rel=1e-9)


def test_more_than_fits_is_refused_before_it_is_made(table, monkeypatch):
    monkeypatch.setattr("counterfold.base.capacity.find_memory", lambda: table.nbytes * 5)
    with pytest.raises(cf.DataError, match=r"an evaluation must take at most .* 1500 rows would take"):
        cf.read_log(table)


def test_files_of_text_on_the_command_line(run, table):
    pq.write_table(table, "log.parquet")
    code, shown, _ = run("evaluate", "log.parquet", "--target", "target", "--context", "city,age")
    assert code == 0
    assert "columns of the context were made numbers: `city` by 4 values" in shown


def test_a_name_of_the_action_is_found_though_some_are_missing():
    rng = np.random.default_rng(1)
    rows = 3000
    x = rng.normal(size=rows)
    action = (rng.random(rows) < 1 / (1 + np.exp(-x))).astype(int)
    names = [None if row % 50 == 0 else ["lamp", "chair"][one] for row, one in enumerate(action)]
    log = {"x": x, "item_name": names, "action": action, "reward": rng.normal(size=rows) + action}
    found = cf.evaluate(log, "always:1", propensity="fit")
    assert "it names the action" in found.contents.left_out["item_name"]
    assert found.verdict == "caution"
