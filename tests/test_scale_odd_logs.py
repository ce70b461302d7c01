"""Large logs that are odd: few rows or groups, labels that come late, folders of unlike files, and bad ones."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.models._streamed import RidgeStream
from counterfold.models.ridge_per_action import RidgePerAction, Scaling
from counterfold.sums import BUCKETS
from counterfold.survey import hashed
from test_scale import ROWS, both, made, same


@pytest.fixture(scope="module")
def table():
    return made(ROWS)


@pytest.fixture
def save(tmp_path):
    def write_table(table, name="log.parquet", **settings):
        pa.parquet.write_table(table, tmp_path / name, **{"row_group_size": 700} | settings)
        return tmp_path / name

    return write_table


def with_column(table, name, values):
    """Return the table with another column in the place of one."""
    values = values if isinstance(values, pa.Array | pa.ChunkedArray) else [values]
    return table.set_column(table.column_names.index(name), name, values)


def refused(path, message, target="target", **settings):
    """Require one sentence, and the same kind of error as in memory."""
    for engine in ("memory", "local"):
        with pytest.raises(cf.CounterfoldError, match=message):
            cf.evaluate(cf.LogScan(path, ignore=["target", "target_2"]), target, engine=engine, **settings)


# few rows, few groups


@pytest.mark.parametrize("rows", [4, 30, 400, BUCKETS, BUCKETS + 1])
def test_small_logs_of_weights_alone_have_a_unit_per_row(rows, save):
    lone = made(rows, logged_only=True, targets=1, context=0)
    memory, local = both(save(lone), candidates="default")
    same(memory, local)
    if rows <= BUCKETS:
        assert [one.stderr for one in local.table] == pytest.approx([one.stderr for one in memory.table])


@pytest.mark.parametrize("candidates", ["default", "paper"])
@pytest.mark.parametrize("groups", [2, 7, 500])
def test_few_groups_have_a_unit_each(groups, candidates, save):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    labels = pa.array([f"user {number % groups}" for number in range(ROWS)])
    memory, local = both(save(lone.append_column("group", labels)), candidates=candidates)
    for part in ("value", "stderr"):
        left, right = ([getattr(one, part) for one in result.table] for result in (memory, local))
        assert right == pytest.approx(left, rel=1e-9)
    assert local.diagnostics.groups == memory.diagnostics.groups == groups


def test_two_groups_with_one_hash_in_buckets_are_two(save):
    number = next(one for one in range(1, 10**6) if _bucket(one) == _bucket(0))
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    groups = lone.append_column("group", [np.where(np.arange(ROWS) % 2 == 0, 0, number)])
    memory, local = both(save(groups), candidates=["ips", "snips"])
    assert [one.stderr for one in local.table] == pytest.approx([one.stderr for one in memory.table])


def _bucket(label):
    from counterfold.models.cross_fitted import scattered

    return int(scattered(hashed(np.array([label])))[0]) % BUCKETS


def test_one_group_is_refused_by_check_and_evaluate(save, run):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    path = save(lone.append_column("group", [np.zeros(ROWS, dtype=int)]))
    refused(path, "`group` must have at least 2 different groups, got 1")
    for command in ("evaluate", "check"):
        code, _, err = run(command, path, "--engine", "local")
        assert (code, err) == (2, "Error: `group` must have at least 2 different groups, got 1.\n")


def test_check_refuses_rewards_that_do_not_vary(table, save, run):
    path = save(with_column(table, "reward", np.ones(ROWS)))
    for engine in ("memory", "local"):
        code, _, err = run("check", path, "--engine", engine)
        assert (code, err) == (2, "Error: `reward` must vary, got 1.0 in all 3000 rows: there is nothing to compare.\n")


@pytest.mark.parametrize(("groups", "near"), [(4, 0.1), (12, 0.02)])
def test_the_noise_of_fitting_comes_from_cells_that_hold_rows(groups, near, table, save):
    grouped = table.append_column("group", [np.arange(ROWS) % groups])
    memory, local = both(save(grouped), candidates=["dm"], selector="slope")
    assert local.stderr > 2 * local.table[0].stderr
    assert local.stderr == pytest.approx(memory.stderr, rel=near)


def test_the_noise_of_fitting_is_that_of_the_whole_log_though_it_is_sorted(table, save, monkeypatch):
    path = save(table.take(np.argsort(table.column("x0").to_numpy())))
    noise = []
    for enough in (ROWS, 500):
        monkeypatch.setattr("counterfold.judging.ENOUGH", enough)
        local = both(path, candidates=["dm"], selector="slope")[1]
        noise.append(np.sqrt(local.stderr**2 - local.table[0].stderr ** 2))
    assert noise[1] == pytest.approx(noise[0], rel=0.1)


def test_long_lists_of_context_make_a_smaller_sample(table, save, monkeypatch):
    monkeypatch.setattr("counterfold.survey.NUMBERS", 1 << 17)
    rng = np.random.default_rng(0)
    path = save(table.append_column("v", [rng.normal(size=(ROWS, 50)).tolist()]))
    scans = [cf.LogScan(path, context=[name]) for name in ("x0", "v")]
    results = [cf.evaluate(scan, candidates=["truncated-ips"], engine="local", reward_model=None) for scan in scans]
    names = [[one.name for one in result.table] for result in results]
    assert names[0] != names[1]


@pytest.mark.parametrize(("width", "actions"), [(3, 4), (300, 10), (100, 1000), (3, 10_000)])
def test_the_sums_of_the_model_stay_small(width, actions):
    stream = RidgeStream(RidgePerAction(), 1, Scaling(np.zeros(width), np.ones(width)), actions)
    assert stream.cells % 5 == 0
    assert stream.cells == 5 or stream.cells * actions * (width + 2) ** 2 <= 1.2 * 2**23
    assert (stream.cells == 100) == (width == 3 and actions == 4)


# what comes late


@pytest.mark.parametrize("first", [1, 0])
def test_labels_may_come_in_order(first, table, save):
    order = np.argsort(-table.column("action").to_numpy(), kind="stable")
    labels = with_column(table, "action", table.column("action").to_numpy() + first)
    same(*both(save(labels.take(order))))
    same(*both(save(labels.take(order[::-1]))))


@pytest.mark.parametrize("sign", [1, -1])
def test_rewards_may_come_in_order(sign, table, save):
    """All rewards of the first and of the last row group are equal."""
    order = np.argsort(sign * table.column("reward").to_numpy(), kind="stable")
    same(*both(save(table.take(order), row_group_size=100), candidates="default"))


def test_maps_may_name_actions_that_were_never_logged(table, save):
    names = np.array(["up", "down", "left", "right"])
    logged = table.filter(table.column("action").to_numpy() != 3)
    maps = pa.map_(pa.string(), pa.float64())
    named = logged.select(["x0", "reward"]).append_column("action", [names[logged.column("action").to_numpy()]])
    for role in ("logging_probs", "target"):
        rows = [list(zip(names.tolist(), row, strict=True)) for row in logged.column(role).to_pylist()]
        named = named.append_column(role, pa.array(rows, maps))
    memory, local = both(save(named, row_group_size=100))
    same(memory, local)


def test_actions_may_be_times(table, save):
    days = [dt.datetime(2024, 1, 1 + code, tzinfo=dt.UTC) for code in table.column("action").to_pylist()]
    same(*both(save(with_column(table, "action", pa.array(days)).drop_columns(["logging_probs"]))))


# files


def test_an_index_of_pandas_is_no_context(table, save):
    path = save(table.append_column("__index_level_0__", [np.random.default_rng(0).normal(size=ROWS)]))
    same(*both(path))


def test_names_of_columns_are_different(tmp_path):
    (tmp_path / "log.csv").write_text("action,reward,reward,propensity,target\n1,2,2,.5,.5\n0,1,1,.5,.5\n")
    refused(tmp_path / "log.csv", "columns must have different names, got `reward` more than once")


OTHERWISE = {
    "numbers": ("x0", pa.float32()),
    "whole numbers": ("action", pa.int8()),
    "texts": ("action", pa.string()),
    "lists": ("target", pa.large_list(pa.float32())),
}


@pytest.mark.parametrize(("name", "kind"), OTHERWISE.values(), ids=OTHERWISE)
def test_files_of_a_folder_may_store_a_column_otherwise(name, kind, table, save, tmp_path):
    (tmp_path / "log").mkdir()
    other = table.slice(1500)
    other = with_column(other, name, other.column(name).combine_chunks().cast(kind))
    save(table.slice(0, 1500), "log/part-0.parquet")
    save(other.select(other.column_names[::-1]), "log/part-1.parquet")
    same(*both(tmp_path / "log"))


def test_a_file_of_a_folder_that_lacks_a_column_is_named_by_its_rows(table, save, tmp_path):
    (tmp_path / "log").mkdir()
    save(table.slice(0, 1500), "log/part-0.parquet")
    save(table.slice(1500).drop_columns(["x1"]), "log/part-1.parquet")
    refused(tmp_path / "log", "`context` column `x1` must be finite, got nan .* first at row 1500")


def test_a_file_of_a_folder_that_holds_something_else_gives_one_sentence(table, save, tmp_path):
    (tmp_path / "log").mkdir()
    save(table.slice(0, 1500), "log/part-0.parquet")
    save(with_column(table.slice(1500), "reward", ["much"] * 1500), "log/part-1.parquet")
    refused(tmp_path / "log", "could not be read as Parquet: Failed to parse string: 'much'")


# what must not be


@pytest.mark.parametrize("model", ["default", None])
@pytest.mark.parametrize(
    ("longer", "message"),
    [(1400, "`context` must be 3 numbers in every row, got 4 at row 1400"), (1500, "2 as in row 1400, got 3 .*1500")],
)
def test_lists_of_context_have_one_length_everywhere(longer, message, model, table, save):
    lists = [[1.0, 2.0] if row < longer else [1.0, 2.0, 3.0] for row in range(ROWS)]
    scan = cf.LogScan(save(table.append_column("v", [lists])), context=["x0", "v"])
    with pytest.raises(cf.DataError, match=message):
        cf.evaluate(scan, engine="local", reward_model=model)


def test_bad_text_is_named_by_its_place_in_the_file(table, save):
    texts = ["[0.25, 0.25, 0.25, 0.25]"] * ROWS
    texts[2222] = "[0.25, oops"
    refused(save(with_column(table, "target", texts)), r"got '\[0.25, oops', first at row 2222")


def test_maps_hold_numbers(table, save):
    maps = pa.array([[("0", "much")]] * ROWS, pa.map_(pa.string(), pa.string()))
    refused(save(with_column(table, "target", maps)), "column `target` must be maps to numbers, got map<string, string")


def test_targets_of_a_file_are_columns_or_functions(table, save):
    path = save(table)
    with pytest.raises(cf.ParameterError, match=r"`target` must be the name of a column, or a function .* got ndarray"):
        cf.evaluate(path, np.full((ROWS, 4), 0.25), engine="local")
    refused(path, "`target` must hold at least one target, got none", target={})


def test_a_model_is_known_though_nobody_needs_it(save):
    path = save(made(ROWS, logged_only=True, targets=1, context=0))
    refused(path, "unknown model `rigde-per-action`", reward_model="rigde-per-action")
