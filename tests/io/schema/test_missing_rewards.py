"""Rewards that are not there: refused, left out or counted as 0, the same by every engine, and what is said of it."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import chi2_contingency, fisher_exact

import counterfold as cf
from counterfold.log.log_checks import NOT_IN
from counterfold.log.missing_rewards import MissingRewards

ROWS = 1500
ENGINES = ("memory", "local")
ASKED = {"candidates": ["ips", "dr"], "selector": "slope", "reward_model": "shared-ridge", "progress": False}


def made(**changes):
    """Return the columns of a log, every tenth reward of which is missing."""
    rng = np.random.default_rng(0)
    action, x = rng.integers(2, size=ROWS), rng.normal(size=ROWS)
    reward = action * x + rng.normal(size=ROWS)
    columns = {
        "x": x,
        "action": np.array(["a", "b"])[action],
        "reward": pa.array(reward, mask=rng.random(ROWS) < 0.1),
        "propensity": np.full(ROWS, 0.5),
        "target": ["b"] * ROWS,
    }
    return pa.table(columns | changes)


@pytest.fixture
def save(tmp_path):
    def write(table):
        pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=170)
        return tmp_path / "log.parquet"

    return write


def tell(found):
    return [(one.name, one.severity, one.problem) for one in found.diagnostics.findings]


def test_the_error_names_both_ways_out(save):
    with pytest.raises(cf.DataError) as raised:
        cf.evaluate(save(made()), **ASKED)
    assert str(raised.value).endswith(NOT_IN)
    for way in ('`missing_reward="drop"` (--missing-reward drop)', '`missing_reward="zero"` (--missing-reward zero)'):
        assert way in NOT_IN


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_without_a_reward_are_left_out(save, engine):
    table = made()
    kept = table.filter(table.column("reward").is_valid())
    found = cf.evaluate(save(table), engine=engine, missing_reward="drop", **ASKED)
    ips, _ = found.table
    expected = np.mean(np.where(np.array(kept["action"]) == "b", 2.0, 0.0) * kept["reward"].to_numpy())
    assert ips.value == pytest.approx(expected)
    assert found.diagnostics.rows == kept.num_rows
    missing = ROWS - kept.num_rows
    said = f"{missing:,} of 1,500 rows have no reward and were left out"
    assert tell(found) == [("as-read", "note", said)]
    assert found.diagnostics.missing_rewards == missing


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_without_a_reward_count_as_0(save, engine, missing):
    table = made()
    rewards = [missing if one is None else one for one in table["reward"].to_pylist()]
    found = cf.evaluate(save(made(reward=rewards)), engine=engine, missing_reward="zero", **ASKED)
    filled = made(reward=table["reward"].fill_null(0.0))
    expected = cf.evaluate(save(filled), engine=engine, **ASKED)
    assert found.table == expected.table
    assert [one.problem.endswith("have no reward and count as 0") for one in found.diagnostics.findings] == [True]


@pytest.mark.parametrize("way", ["drop", "zero"])
def test_engines_agree_to_the_last_digit_of_what_they_share(save, way):
    path = save(made())
    memory, local = (cf.evaluate(path, engine=one, missing_reward=way, **ASKED) for one in ENGINES)
    assert [one.value for one in memory.table] == pytest.approx([one.value for one in local.table], rel=1e-12)
    assert tell(memory) == tell(local)


def test_where_nothing_is_missing_nothing_is_said_or_changed(save):
    path = save(made(reward=np.arange(ROWS) % 7.0))
    plain, asked = (cf.evaluate(path, missing_reward=way, **ASKED) for way in ("error", "drop"))
    assert plain.table == asked.table
    assert tell(asked) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_name_the_row_of_the_file_behind_rows_that_are_left_out(save, engine):
    propensity = np.full(ROWS, 0.5)
    propensity[1234] = 2.0
    rewards = made()["reward"].to_pylist()
    rewards[1234] = 1.0
    with pytest.raises(cf.DataError, match="first at row 1234"):
        cf.evaluate(save(made(propensity=propensity, reward=rewards)), engine=engine, missing_reward="drop", **ASKED)


@pytest.mark.parametrize("engine", ENGINES)
def test_being_missing_may_depend_on_the_action(save, engine):
    table = made()
    late = (np.array(table["action"]) == "b") & (np.arange(ROWS) % 3 == 0)
    path = save(made(reward=pa.array(np.where(late, np.nan, np.arange(ROWS) % 7.0), from_pandas=True)))
    found = cf.evaluate(path, engine=engine, missing_reward="drop", **ASKED)
    assert found.verdict == "caution"
    [finding] = [one for one in found.diagnostics.findings if one.name == "missing-rewards"]
    share = late.sum() / (np.array(table["action"]) == "b").sum()
    assert f"in {share:.2%} of the rows of b, and in 0.00% of those of a" in finding.problem
    counts = [[late.sum(), (np.array(table["action"]) == "b").sum() - late.sum()]]
    counts.append([0, (np.array(table["action"]) == "a").sum()])
    expected = chi2_contingency(counts, correction=False).pvalue
    assert found.diagnostics.missing_rewards_p == pytest.approx(expected)
    as_zero = cf.evaluate(path, engine=engine, missing_reward="zero", **ASKED)
    [finding] = [one for one in as_zero.diagnostics.findings if one.name == "missing-rewards"]
    assert finding.severity == "note"


def test_it_seldom_speaks_where_rewards_are_missing_by_chance():
    rng = np.random.default_rng(0)
    tested = []
    for _ in range(300):
        rows = rng.integers(1, 400, size=12)
        missing = rng.binomial(rows, 0.05)
        counts = {str(one): pair for one, pair in enumerate(zip(missing.tolist(), rows.tolist(), strict=True))}
        tested.append(MissingRewards.of("drop", int(missing.sum()), int(rows.sum()), counts).p)
    assert np.mean(np.array(tested) < 0.05) < 0.09
    assert sum(one < 0.001 for one in tested) <= 2


def test_rare_actions_are_tested_together():
    counts = {str(one): (1, 1) for one in range(30)} | {"a": (70, 1000)}
    found = MissingRewards.of("drop", 100, 1030, counts)
    assert found.p == pytest.approx(fisher_exact([[70, 930], [30, 0]]).pvalue)
    assert found.highest[0] == found.lowest[0] == "a"
    counts = {str(one): (1, 4) for one in range(30)} | {"a": (70, 1000)}
    found = MissingRewards.of("drop", 100, 1120, counts)
    assert found.p == pytest.approx(chi2_contingency([[70, 930], [30, 90]], correction=False).pvalue)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_rewards_of_an_action_missing(save, engine):
    rewards = np.where(np.array(made()["action"]) == "b", np.nan, np.arange(ROWS) % 7.0)
    path = save(made(reward=rewards, target=np.full(ROWS, 0.5)))
    found = cf.evaluate(path, engine=engine, missing_reward="drop", actions=["a", "b"], **ASKED)
    assert found.verdict != "good"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("reward", "way", "sentence"),
    [
        ([None] * ROWS, "drop", "`reward` must be there in at least 2 rows, got 0 of 1500."),
        ([1.0] + [None] * (ROWS - 1), "drop", "`reward` must be there in at least 2 rows, got 1 of 1500."),
        ([None] * ROWS, "zero", "`reward` must vary, got 0.0 in all 1500 rows: there is nothing to compare."),
        (["1", "NA", None] * 500, "drop", "column `reward` must be numbers, got 'NA' in 500 of"),
        ([1.0, np.inf, None] * 500, "drop", "`reward` must be finite, got inf in 500 of"),
    ],
)
def test_what_no_way_helps_against(save, engine, reward, way, sentence):
    with pytest.raises(cf.DataError) as raised:
        cf.evaluate(save(made(reward=reward)), engine=engine, missing_reward=way, **ASKED)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("way", ["drop", "zero"])
@pytest.mark.parametrize(
    "reward",
    [
        pa.array([True, False, None] * 500),
        pa.array(["1", "0.0", None] * 500),
        pa.array(["1", "0", None] * 500).dictionary_encode(),
        pa.array([1, 0, None] * 500, pa.decimal128(10, 2)),
        pa.array([1, 0, None] * 500, pa.int8()),
        pa.array([1.0, 0.0, float("nan")] * 500, pa.float32()),
    ],
    ids=lambda reward: str(reward.type),
)
def test_rewards_of_any_type(save, way, reward):
    path = save(made(reward=reward))
    memory, local = (cf.evaluate(path, engine=one, missing_reward=way, **ASKED) for one in ENGINES)
    assert memory.value == pytest.approx(local.value)
    assert memory.contents.rewards.mean == pytest.approx(1 / 2 if way == "drop" else 1 / 3)


def test_na_in_a_csv_is_missing(tmp_path):
    lines = [f"{'ab'[row % 2]},{['1', '0', 'NA', ''][row // 2 % 4]},0.5,0.5" for row in range(800)]
    (tmp_path / "log.csv").write_text("\n".join(["action,reward,propensity,target", *lines]))
    for engine in ENGINES:
        found = cf.evaluate(tmp_path / "log.csv", engine=engine, missing_reward="drop", **ASKED)
        assert (found.diagnostics.rows, found.diagnostics.missing_rewards) == (400, 400)


def test_rows_of_pandas_keep_their_index():
    frame = made().to_pandas()
    frame.index = [f"row {number}" for number in range(ROWS)]
    kept = frame[frame["reward"].notna()]
    target = pd.Series(np.where(kept["action"] == "b", 1.0, 0.0), index=kept.index)[::-1]
    found = cf.evaluate(cf.read_log(frame, missing_reward="drop"), target, **ASKED)
    assert found.table[0].value == pytest.approx(np.mean(target[::-1] * 2 * kept["reward"]))
    assert found.diagnostics.missing_rewards == ROWS - len(kept)


def test_doses_are_not_tested():
    rng = np.random.default_rng(0)
    dose = rng.uniform(1, 2, size=400)
    log = {"dose": dose, "reward": [None, *dose[1:]], "propensity": np.ones(400), "target": dose}
    found = cf.evaluate(log, missing_reward="drop", progress=False)
    assert (found.diagnostics.missing_rewards, found.diagnostics.missing_rewards_p) == (1, None)


@pytest.mark.parametrize("way", ["dorp", None, 3, ["drop"]])
def test_no_such_way(way):
    with pytest.raises(cf.ParameterError, match="`missing_reward` must be `error`, `drop` or `zero`, got"):
        cf.evaluate(made(), missing_reward=way, **ASKED)


def test_groups_stay_together(save):
    path = save(made(group=[f"user {row % 77}" for row in range(ROWS)]))
    asked = ASKED | {"candidates": ["ips"]}
    memory, local = (cf.evaluate(path, engine=one, missing_reward="drop", **asked) for one in ENGINES)
    assert memory.value == pytest.approx(local.value)
    assert memory.contents.groups == local.contents.groups == 77


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars", "arrow"])
def test_targets_of_all_rows_go_with_those_that_are_left(kind):
    rng = np.random.default_rng(8)
    action, reward = rng.integers(2, size=500), rng.normal(size=500)
    reward[::5] = np.nan
    probs = rng.dirichlet([1.0, 1.0], size=500)
    frame = pd.DataFrame({"action": action, "reward": reward, "propensity": 0.5}, index=np.arange(500) * 7 + 3)
    polars = pytest.importorskip("polars")
    makers = {
        "array": np.asarray,
        "list": np.ndarray.tolist,
        "pandas": lambda one: pd.DataFrame(one, index=frame.index),
        "polars": lambda one: polars.DataFrame({"0": one[:, 0], "1": one[:, 1]}),
        "arrow": lambda one: pa.table({"0": one[:, 0], "1": one[:, 1]}),
    }
    source = frame if kind == "pandas" else frame.reset_index(drop=True)
    there = ~np.isnan(reward)
    expected = cf.evaluate(
        {name: frame[name].to_numpy()[there] for name in frame}, probs[there], ["ips"], reward_model=None
    )
    asked = {"candidates": ["ips"], "missing_reward": "drop", "progress": False}
    assert cf.evaluate(source, makers[kind](probs), reward_model=None, **asked).value == expected.value
    assert cf.evaluate(source, makers["array"](probs[there]), reward_model=None, **asked).value == expected.value
    found = cf.evaluate(source, makers[kind](probs), reward_model=np.zeros((500, 2)), **asked)
    assert found.value == expected.value


def test_rare_actions_do_not_raise_false_alarms():
    """Of 1,500 logs with an action of five rows; an error rate of 0.1 % would fail with a chance of 0.1 %."""
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(1500):
        missing = {label: int(rng.binomial(rows, 0.1)) for label, rows in {"a": 2000, "b": 2000, "c": 5}.items()}
        counts = {label: (missing[label], {"a": 2000, "b": 2000, "c": 5}[label]) for label in missing}
        alarms += MissingRewards.of("drop", sum(missing.values()), 4005, counts).p < 0.001
    assert alarms <= 6
