"""Several rewards at once, and rewards that are computed: the answers of one after the other, by every engine."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf

pytest.importorskip("duckdb")
ROWS = 900
ENGINES = ("memory", "local")
ASKED = {"candidates": ["ips", "dr"], "selector": "slope", "reward_model": "shared-ridge", "progress": False}
rng = np.random.default_rng(0)
ACTION, X, COST = rng.integers(2, size=ROWS), rng.normal(size=ROWS), rng.random(ROWS)
PLAIN = {
    "x": X,
    "action": np.array(["a", "b"])[ACTION],
    "score": ACTION + X + rng.normal(size=ROWS),
    "click": rng.random(ROWS) < 0.4,
    "Cost Of": COST,
    "cost": COST,
    "name": ["tom"] * ROWS,
    "propensity": np.full(ROWS, 0.5),
    "target": ["b"] * ROWS,
}
NET = "score - 0.2 * cost"


@pytest.fixture
def path(tmp_path):
    pa.parquet.write_table(pa.table(PLAIN), tmp_path / "log.parquet", row_group_size=170)
    return tmp_path / "log.parquet"


@pytest.mark.parametrize("engine", ENGINES)
def test_an_expression_is_a_column(path, engine):
    found = cf.evaluate(path, reward=NET, engine=engine, ignore=["Cost Of", "click"], **ASKED)
    table = pa.table(PLAIN).append_column("net", pa.array(PLAIN["score"] - 0.2 * COST))
    pa.parquet.write_table(table, path, row_group_size=170)
    named = {"reward": "net", "ignore": ["Cost Of", "score", "cost", "click"]}
    expected = cf.evaluate(path, engine=engine, **named, **ASKED)
    values = [[line.value for line in one.table] for one in (found, expected)]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert found.contents.context == ("x",)
    assert found.contents.left_out["cost"] == "it is known only with the reward"


@pytest.mark.parametrize("engine", ENGINES)
def test_several_rewards_are_those_of_one_after_the_other(path, engine):
    rewards = ["click", NET, "cost"]
    asked = {"engine": engine, "context": ["x"], **ASKED}
    found = cf.evaluate(path, reward=rewards, **asked)
    assert list(found) == rewards
    assert isinstance(found, cf.RewardEvaluations)
    for reward in rewards:
        assert found[reward].to_dict() == cf.evaluate(path, reward=reward, **asked).to_dict()
    assert [line.verdict for line in found.table] == ["good"] * 3
    assert [one["reward"] for one in json.loads(found.to_json())["rewards"]] == rewards
    assert repr(found).startswith("RewardEvaluations(click 0.")


def test_one_reward_in_a_list_is_a_mapping_of_one(path):
    assert list(cf.evaluate(path, reward=["score"], **ASKED)) == ["score"]


def test_other_rewards_are_no_context(path):
    found = cf.evaluate(path, reward=["score", "cost + 0"], **ASKED)
    assert [set(one.contents.context) for one in found.values()] == [{"x", "click", "Cost Of"}, {"x", "click"}]
    with pytest.raises(cf.DataError, match="`context` must not hold column `cost`, which is known only with the"):
        cf.evaluate(path, reward=["score", "cost"], context=["x", "cost"], **ASKED)
    with pytest.raises(cf.DataError, match="`target` must not look at column `cost`, which is known only with"):
        cf.evaluate(path, cf.Function(lambda frame: frame["cost"], columns=["cost"]), reward=[NET], **ASKED)


def test_several_targets_and_rewards(path):
    found = cf.evaluate(path, {"old": "a", "new": "b"}, reward=["score", "cost"], **ASKED)
    assert [list(found), *map(list, found.values())] == [["old", "new"], ["score", "cost"], ["score", "cost"]]
    compared = cf.compare(path, {"old": "a", "new": "b"}, reward=["score", "cost"], **ASKED)
    assert compared["cost"]["new"].value == found["new"]["cost"].value
    checked = cf.check(path, reward=["score", "cost"])
    assert {name: one.verdict for name, one in checked.items()} == {"score": "good", "cost": "good"}


def test_rows_are_left_out_for_each_reward_alone():
    scores = pa.array(PLAIN["score"], mask=COST < 0.1)
    found = cf.evaluate(PLAIN | {"score": scores}, reward=["score", "click"], missing_reward="drop", **ASKED)
    assert [one.diagnostics.rows for one in found.values()] == [ROWS - (COST < 0.1).sum(), ROWS]


def test_a_stream_is_asked_once():
    asked = []

    def open_reader():
        asked.append(1)
        return pa.table(PLAIN).to_reader(100)

    cf.evaluate(open_reader, reward=["score", NET, "click"], **ASKED)
    assert len(asked) == 1


def test_a_column_of_that_very_name_wins():
    found = cf.evaluate(PLAIN | {NET: X, "score": COST}, reward=NET, **ASKED)
    assert found.contents.rewards.mean == pytest.approx(X.mean())


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("case when click then 1 else 0 end", PLAIN["click"]),
        ("click and x > 0", PLAIN["click"] & (X > 0)),
        ('"Cost Of" * 2', 2 * COST),
        ("SCORE + greatest(cost, 0.5)", PLAIN["score"] + np.maximum(COST, 0.5)),
        ("log.cost + 1", COST + 1),
        ("length(name) + cost", COST + 3),
        ("sqrt(cost)", np.sqrt(COST)),
    ],
)
def test_what_an_expression_may_be(text, values):
    found = cf.read_log(PLAIN, reward=text)
    assert found.reward == pytest.approx(values.astype(float))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "score - 0.2 * cots",
            "column `cots` must be there, for the reward `score - 0.2 \\* cots`. Did you mean `cost`",
        ),
        ("Cost Off", "must be a column, or an expression in SQL of columns: syntax error.*Did you mean `Cost Of`"),
        ("scoer", "column `scoer` must be there. Did you mean `score`"),
        ("score; drop table log", "the reward `score; drop table log` must be a column, or an expression in SQL"),
        ("score) from log where (1", "must be a column, or an expression in SQL of columns: syntax error"),
        ("score, cost", "must be a column, or an expression"),
        ("sum(score)", "must be computed from each row alone, .* got the function `sum`"),
        ("score - avg(score) over ()", "must be computed from each row alone, .* got a window of `avg`"),
        ("(select max(score) from log)", "must be computed from each row alone, .* got a subquery"),
        ("score + random()", "must be computed from each row alone, .* got the function `random`"),
        ("score + epoch(now())", "got the function `now`"),
        ("*", "got a star"),
        ("$1 + cost", "got a parameter"),
        ("unnest([cost, 1])", "got the function `unnest`"),
        ("score + length(repeat('x', 2000000000))", "texts or lists of any length, got the function `repeat`"),
        ("score + length(printf('%200000000d', 1))", "texts or lists of any length, got the function `printf`"),
        ("score + len(range(100000000))", "texts or lists of any length, got the function `range`"),
        ("read_text('secrets') || name", "got the function `read_text`"),
        ("1 + 1", "must be computed from columns, got none"),
        ("name || 'x'", "the reward `name \\|\\| 'x'` must be numbers, got string"),
        ("cast(name as int)", "could not be computed: Could not convert string 'tom'"),
        ("nosuch(cost)", "Scalar Function with name nosuch does not exist"),
        ("cost / 0", "must be finite, got inf in 900 of 900 rows, first at row 0"),
        ("ln(cost - 2)", "must be"),
        ("nullif(cost, cost)", "must be finite, got nan in 900 of 900 rows, first at row 0. In files and frames"),
        ("  ", "must be a column, or an expression"),
        ("(" * 2000 + "cost" + ")" * 2000, "must have fewer operations within each other"),
    ],
)
def test_what_an_expression_may_not_be(text, sentence):
    with pytest.raises(cf.CounterfoldError, match=sentence) as raised:
        cf.read_log(PLAIN, reward=text)
    assert "\n" not in str(raised.value)


def test_infinite_and_missing_numbers_of_an_expression_may_be_left_out():
    found = cf.read_log(PLAIN, reward="case when cost > 0.5 then score end", missing_reward="drop")
    assert len(found) == (COST > 0.5).sum()


@pytest.mark.parametrize(
    ("reward", "sentence"),
    [
        (["click", "click"], "`reward` must be given once each, got `click` more than once"),
        ([], "`reward` must be the name of a column, as text, got \\[\\]. Several rewards are a list"),
        (["click", 3], "`reward` must be the name of a column, as text"),
    ],
)
def test_no_such_rewards(reward, sentence):
    with pytest.raises(cf.ParameterError, match=sentence):
        cf.evaluate(PLAIN, reward=reward)


def test_a_log_has_one_reward():
    with pytest.raises(cf.ParameterError, match="`reward` must be one column or expression for a `Log`, got 2"):
        cf.read_log(PLAIN, reward=["click", "score"])


def test_predictions_are_of_one_reward():
    with pytest.raises(cf.ParameterError, match="`reward_model` must be a model where there are several rewards"):
        cf.evaluate(PLAIN, reward=["click", "score"], reward_model=np.zeros((ROWS, 2)))
