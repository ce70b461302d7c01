"""What policies are given where they decide: only the columns that they look at, of the kinds that they know."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import counterfold as cf
from shop_logs import ROLES, draw_shop, learn_shop

VISITORS = pd.DataFrame({"age": [30, 70], "visitor": ["new", "known"]})
DAY = dt.date(2024, 2, 1)


@pytest.fixture(scope="module")
def policy():
    return learn_shop()


@pytest.fixture(scope="module")
def dated():
    return learn_shop(context=["age", "joined"])


@pytest.mark.parametrize(
    "unused",
    [
        VISITORS.assign(user_id=[17, "x9"]),
        VISITORS.assign(tags=[["a"], 3]),
        pd.concat([VISITORS.assign(z=1), pd.DataFrame({"z": [1, 2]})], axis=1),
        {**VISITORS.to_dict("list"), "user": [object(), 1]},
        pa.table([[30, 70], ["new", "known"], [1, 1], [2, 2]], ["age", "visitor", "z", "z"]),
    ],
    ids=["mixed", "lists", "names", "objects", "arrow"],
)
def test_columns_that_a_policy_does_not_look_at_may_hold_anything(policy, unused):
    np.testing.assert_array_equal(policy.predict_proba(unused), policy.predict_proba(VISITORS))


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"age": 30, "visitor": "new"}, r"column `age` must be a list of values, also for one row, got 30\."),
        ({"age": [30], "visitor": "new"}, r"column `visitor` must be a list of values, also for one row, got 'new'\."),
        ({"age": [30, 70], "visitor": ["new", 7]}, r"column `visitor` must be values of one kind, got \['new', 7\]\."),
        ({"age": [30, 70], "visitor": ["new"]}, r"columns of one length, got 2 in `age`, 1 in `visitor`\."),
        (pd.concat([VISITORS, VISITORS[["age"]]], axis=1), r"must have column `age` once, got it 2 times\."),
        (VISITORS.assign(age="x"), r"column `age` must be numbers, got 'x' in 2 of 2 rows"),
        (VISITORS.assign(age=pd.Timestamp(0)), r"column `age` must be numbers, got timestamp"),
    ],
)
def test_a_bad_column_is_named(policy, context, sentence):
    with pytest.raises(cf.DataError, match=sentence):
        policy.predict(context)


@pytest.mark.parametrize("day", [pd.Timestamp(DAY), "2024-02-01", "2024-02-01T00:00:00Z", pd.Timestamp(DAY, tz="UTC")])
def test_dates_may_be_written_in_any_way(dated, day):
    context = VISITORS.assign(joined=[DAY, dt.date(2024, 3, 1)])
    other = VISITORS.assign(joined=[day, type(day)(str(day).replace("-02-", "-03-"))])
    np.testing.assert_array_equal(dated.features.encode(other), dated.features.encode(context))


@pytest.mark.parametrize(
    ("day", "got"),
    [
        ("soon", "as those that the policy was learnt from, got soon in 2 of 2 rows, first at row 0"),
        ("20240201", "as those that the policy was learnt from, got 20240201 in 2 of 2 rows"),
        (1706745600, "got int64"),
        (1706745600.0, "got double"),
        (True, "got bool"),
        (None, "got none"),
        (dt.time(3, 4), "got time64"),
        (pd.Timedelta(days=3), "got duration"),
    ],
)
def test_what_is_no_date_is_refused(dated, day, got):
    with pytest.raises(cf.DataError, match=rf"column `joined` must be dates,? {got}"):
        dated.predict(VISITORS.assign(joined=[day, day]))


def test_dates_may_be_missing_in_all_rows_if_some_were_before():
    frame = draw_shop()
    frame.loc[::9, "joined"] = None
    policy = learn_shop(frame, context=["joined"])
    assert policy.features.encode({"joined": [None, None]})[:, -1].tolist() == [1, 1]


def test_a_policy_that_was_learnt_from_a_csv_file_takes_it_as_pandas_reads_it(tmp_path):
    draw_shop().to_csv(tmp_path / "log.csv", index=False)
    policy = learn_shop(tmp_path / "log.csv", context=["age", "joined"])
    policy.save(tmp_path / "policy.skops")
    assert len(policy.predict(pd.read_csv(tmp_path / "log.csv"))) == 600
    draw_shop(seed=1).to_csv(tmp_path / "next.csv", index=False)
    frame = pd.read_csv(tmp_path / "next.csv")
    found = [cf.evaluate(one, f"skops:{tmp_path / 'policy.skops'}", **ROLES) for one in (tmp_path / "next.csv", frame)]
    assert found[0].value == found[1].value


def test_whole_numbers_are_the_same_category_where_a_gap_made_floats_of_them():
    stores = np.random.default_rng(0).integers(1, 4, 600)
    policy = learn_shop(draw_shop().assign(store=pd.Categorical(stores)), context=["store"])
    wanted = policy.features.encode({"store": [1, 2, 3]})
    assert len(np.unique(wanted, axis=0)) == 3
    for values in ([1.0, 2.0, 3.0], ["1", "2", "3"], pd.Categorical([1.0, 2.0, 3.0]), pa.array([1, 2, 3], pa.int8())):
        np.testing.assert_array_equal(policy.features.encode({"store": values}), wanted)
    for gap in (np.nan, None):
        np.testing.assert_array_equal(policy.features.encode(pd.DataFrame({"store": [1, 2, gap]}))[:2], wanted[:2])
    learnt = learn_shop(draw_shop().assign(store=pd.Categorical(stores.astype(float))), context=["store"])
    np.testing.assert_array_equal(learnt.features.encode({"store": [1, 2, 3]}), wanted)


def test_a_policy_without_context_decides_in_every_row(tmp_path):
    policy = learn_shop(draw_shop()[["offer", "bought", "p"]])
    for context in (pd.DataFrame(index=range(2)), VISITORS, VISITORS.to_dict("list"), np.zeros((2, 0))):
        assert policy.predict_proba(context).shape == (2, 3)
    with pytest.raises(cf.DataError, match=r"`context` must have rows, which are counted, got \{\}\."):
        policy.predict({})
    policy.save(tmp_path / "policy.skops")
    draw_shop(seed=1).to_parquet(tmp_path / "next.parquet")
    for engine in ("memory", "local"):
        found = cf.evaluate(tmp_path / "next.parquet", f"skops:{tmp_path / 'policy.skops'}", engine=engine, **ROLES)
        assert found.verdict != "not answerable"


@pytest.mark.parametrize(
    "visitors",
    [["NEW", "KNOWN"], ["NEW"], [1, 0], [True, False], [1.0, 0.0], ["returning"] * 20],
)
def test_a_text_without_any_known_value_is_refused(policy, visitors):
    sentence = (
        r"column `visitor` must hold values that the policy was learnt with \((known|new), (known|new)\), got none"
    )
    with pytest.raises(cf.DataError, match=sentence):
        policy.predict({"age": [30] * len(visitors), "visitor": visitors})
    with pytest.raises(cf.DataError, match=r"column `visitor` must be text, got list"):
        policy.predict({"age": [30], "visitor": [["new"]]})


def test_a_text_with_some_known_values_or_none_at_all_is_fine(policy):
    for visitors in (["returning", "new"], [None, "returning", "known"], [None, None], [" known "]):
        assert len(policy.predict({"age": [30] * len(visitors), "visitor": visitors})) == len(visitors)


def test_a_new_value_in_few_rows_is_taken_for_the_most_frequent_one(policy):
    for rows in (1, 2, 19):  # of one visitor, as they are asked for where a policy decides
        np.testing.assert_array_equal(
            policy.features.encode({"age": [30] * rows, "visitor": ["returning"] * rows}),
            policy.features.encode(
                {"age": [30] * rows, "visitor": [policy.features.encodings["visitor"].levels[0]] * rows}
            ),
        )


def test_values_may_be_rare_where_some_were_and_not_in_all_of_many_rows():
    cities = np.where(np.arange(600) % 5 == 0, [f"town {row}" for row in range(600)], "Rome")
    policy = learn_shop(draw_shop().assign(city=cities), context=["city"])
    for rare in (["Bonn"], ["Bonn", "Oslo"], ["town 5"]):
        assert policy.features.encode({"city": rare}).tolist() == [[1]] * len(rare)
    for strange in (["ROME"], [7], [f"City {row}" for row in range(20)]):
        with pytest.raises(
            cf.DataError, match=r"column `city` must hold values that .* \(Rome\), got none of these, but"
        ):
            policy.predict({"city": strange})


def test_categories_that_are_numbers_may_be_rare_ones():
    stores = np.where(np.arange(600) % 5 == 0, np.arange(600), 7)
    policy = learn_shop(draw_shop().assign(store=pd.Categorical(stores)), context=["store"])
    assert policy.features.encode({"store": [1000]}).tolist() == [[1]]


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(
    "visitors", [{"new": "NEW", "known": "KNOWN"}, {"new": 1, "known": 0}], ids=["case", "numbers"]
)
def test_a_log_without_any_known_value_is_refused(policy, engine, visitors, tmp_path):
    policy.save(tmp_path / "policy.skops")
    draw_shop(seed=1).replace({"visitor": visitors}).infer_objects().to_parquet(tmp_path / "next.parquet")
    for target in (f"skops:{tmp_path / 'policy.skops'}", 0.1 * cf.Uniform() + 0.9 * cf.Classifier(policy)):
        with pytest.raises(
            cf.DataError, match=r"column `visitor` must hold values .*, got none of these, but (NEW|KNOWN|0|1)"
        ):
            cf.evaluate(tmp_path / "next.parquet", target, engine=engine, **ROLES)


def test_parts_of_a_long_log_may_have_other_values(policy, tmp_path):
    log = draw_shop(seed=1, rows=40_000)
    log.loc[20_000:, "visitor"] = "returning"
    log.to_parquet(tmp_path / "next.parquet")
    found = [
        cf.evaluate(tmp_path / "next.parquet", policy, ["ips"], engine=one, **ROLES) for one in ("memory", "local")
    ]
    assert found[0].value == pytest.approx(found[1].value)
