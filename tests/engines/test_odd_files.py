"""Large logs that are odd: labels that come late, folders of unlike files, bad ones, and what is said of them."""

import datetime as dt
from dataclasses import astuple, replace

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.base import capacity
from counterfold.base.hashing import hash_numbers
from counterfold.base.threads import Pool
from counterfold.engines import choose_engine
from counterfold.engines.local import Local
from counterfold.engines.memory import Memory
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.io.files import Files
from counterfold.models import fit_on_sample
from counterfold.models.base import Examples, TrainedModel
from large_logs import ROWS, answer, both, made, refused, same, with_column


@pytest.mark.parametrize("first", [1, 0])
def test_labels_may_come_in_order(first, table, save_table):
    order = np.argsort(-table.column("action").to_numpy(), kind="stable")
    labels = with_column(table, "action", table.column("action").to_numpy() + first)
    same(*both(save_table(labels.take(order))))
    same(*both(save_table(labels.take(order[::-1]))))


@pytest.mark.parametrize("sign", [1, -1])
def test_rewards_may_come_in_order(sign, table, save_table):
    """All rewards of the first and of the last row group are equal."""
    order = np.argsort(sign * table.column("reward").to_numpy(), kind="stable")
    same(*both(save_table(table.take(order), row_group_size=100), candidates="default"))


def test_maps_may_name_actions_that_were_never_logged(table, save_table):
    names = np.array(["up", "down", "left", "right"])
    logged = table.filter(table.column("action").to_numpy() != 3)
    maps = pa.map_(pa.string(), pa.float64())
    named = logged.select(["x0", "reward"]).append_column("action", [names[logged.column("action").to_numpy()]])
    for role in ("logging_probs", "target"):
        rows = [list(zip(names.tolist(), row, strict=True)) for row in logged.column(role).to_pylist()]
        named = named.append_column(role, pa.array(rows, maps))
    memory, local = both(save_table(named, row_group_size=100))
    same(memory, local)


def test_actions_may_be_times(table, save_table):
    days = [dt.datetime(2024, 1, 1 + code, tzinfo=dt.UTC) for code in table.column("action").to_pylist()]
    path = save_table(with_column(table, "action", pa.array(days)).drop_columns(["logging_probs"]))
    refused(path, "`target` must have one column per action, named after it or in a known order, got 4 without names")
    texts = [f"2024-01-0{day}T00:00:00.000000" for day in range(1, 5)]
    scan = cf.LogScan(path, actions=texts, ignore=["target", "target_2"])
    same(*both(scan))


# files


def test_an_index_of_pandas_is_no_context(table, save_table):
    path = save_table(table.append_column("__index_level_0__", [np.random.default_rng(0).normal(size=ROWS)]))
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
def test_files_of_a_folder_may_store_a_column_otherwise(name, kind, table, save_table, tmp_path):
    (tmp_path / "log").mkdir()
    other = table.slice(1500)
    other = with_column(other, name, other.column(name).combine_chunks().cast(kind))
    save_table(table.slice(0, 1500), "log/part-0.parquet")
    save_table(other.select(other.column_names[::-1]), "log/part-1.parquet")
    same(*both(tmp_path / "log"))


def test_a_column_that_a_file_of_a_folder_lacks_is_no_context(table, save_table, tmp_path):
    (tmp_path / "log").mkdir()
    save_table(table.slice(0, 1500), "log/part-0.parquet")
    save_table(table.slice(1500).drop_columns(["x1"]), "log/part-1.parquet")
    for found in both(tmp_path / "log"):
        assert found.contents.left_out["x1"] == "it is missing in 1 of 2 files"


def test_a_file_of_a_folder_that_holds_something_else_gives_one_sentence(table, save_table, tmp_path):
    (tmp_path / "log").mkdir()
    save_table(table.slice(0, 1500), "log/part-0.parquet")
    save_table(with_column(table.slice(1500), "reward", ["much"] * 1500), "log/part-1.parquet")
    refused(tmp_path / "log", "column `reward` must be numbers, got 'much' in .* first at row 1500")


def test_a_log_may_take_an_eighth_of_memory(table, save_table, monkeypatch):
    path = save_table(table)
    need = capacity.estimate_need(ROWS, Files.of(path).size)
    for spare, engine in ((0, Memory), (-8, Local)):
        monkeypatch.setattr(capacity, "find_memory", lambda spare=spare: 8 * need + spare)
        assert isinstance(choose_engine(cf.LogScan(path), "auto", Pool()), engine)


def test_a_large_row_group_is_read_a_few_rows_at_a_time(table, save_table, answers, monkeypatch):
    path = save_table(table, row_group_size=ROWS)
    monkeypatch.setattr("counterfold.io.formats.parquet.BYTES", Files.of(path).size // 10)
    (piece,) = Files.of(path).pieces(None)
    sizes = [len(some) for some in piece.tables()]
    assert (max(sizes) <= ROWS // 10, sum(sizes)) == (True, ROWS)
    same(answers[1], answer("local", path))


# what must not be


@pytest.mark.parametrize("model", ["default", None])
@pytest.mark.parametrize(
    ("longer", "message"),
    [(1400, "`context` must be 3 numbers in every row, got 4 at row 1400"), (1500, "2 as in row 1400, got 3 .*1500")],
)
def test_lists_of_context_have_one_length_everywhere(longer, message, model, table, save_table, monkeypatch):
    monkeypatch.setattr("counterfold.engines.local.HEAD", 500)
    lists = [[1.0, 2.0] if row < longer else [1.0, 2.0, 3.0] for row in range(ROWS)]
    scan = cf.LogScan(save_table(table.append_column("v", [lists])), context=["x0", "v"])
    with pytest.raises(cf.DataError, match=message):
        cf.evaluate(scan, "target", "plain", "ocv", engine="local", reward_model=model)


def test_bad_text_is_named_by_its_place_in_the_file(table, save_table):
    texts = ["[0.25, 0.25, 0.25, 0.25]"] * ROWS
    texts[2222] = "[0.25, oops"
    refused(save_table(with_column(table, "target", texts)), r"got '\[0.25, oops', first at row 2222")


def test_maps_hold_numbers(table, save_table):
    maps = pa.array([[("0", "much")]] * ROWS, pa.map_(pa.string(), pa.string()))
    refused(
        save_table(with_column(table, "target", maps)),
        "column `target` must be maps to numbers, got map<string, string",
    )


def test_targets_of_a_file_are_columns_or_functions(table, save_table):
    path = save_table(table)
    with pytest.raises(
        cf.ParameterError, match=r"`target` must be the name of a column, a label, or a function .* got ndarray"
    ):
        cf.evaluate(path, np.full((ROWS, 4), 0.25), engine="local")
    refused(path, "`target` must hold at least one target, got none", target={})


def test_a_model_is_known_though_nobody_needs_it(save_table):
    path = save_table(made(ROWS, logged_only=True, targets=1, context=0))
    refused(path, "unknown model `rigde-per-action`", reward_model="rigde-per-action")


# what is said of the log and of the weights


@pytest.mark.parametrize("logged_only", [True, False])
def test_what_a_log_holds_is_the_same(logged_only, save_table):
    path = save_table(made(ROWS, reward="continuous", logged_only=logged_only, groups=900, targets=1))
    asked = cf.LogScan(path), {"target": "target"}, Question.of(["ips"], "slope", None)
    found = [evaluate_targets(*asked, progress=False, engine=name) for name in ("memory", "local")]
    memory, local = (one["reward"].contents for one in found)
    for part in ("rewards", "propensities"):
        assert astuple(getattr(local, part)) == pytest.approx(astuple(getattr(memory, part)))
        assert getattr(local, part).mean == pytest.approx(getattr(memory, part).mean)
    alike = [replace(one, rewards=None, propensities=None, actions=()) for one in (memory, local)]
    assert alike[0] == alike[1]
    assert local.actions == (() if logged_only else memory.actions)


def doubts(path, **settings):
    """Return what both engines say about trust."""
    return [result.diagnostics for result in both(path, candidates=["ips", "snips"], **settings)]


def test_actions_that_were_never_logged_lack_support(table, save_table):
    probs = np.array(table.column("target").to_pylist())
    wide = np.hstack([0.95 * probs, np.full((ROWS, 1), 0.05)])
    path = save_table(with_column(table, "target", wide.tolist()).drop_columns(["logging_probs"]))
    for engine in ("memory", "local"):
        scan = cf.LogScan(path, actions=range(5), ignore=["target", "target_2"])
        with pytest.warns(cf.SupportWarning, match=r"5\.00% of its probability, in 3000 of 3000 rows"):
            found = cf.evaluate(scan, candidates=["ips"], engine=engine, progress=False).diagnostics
        assert (found.unsupported_rows, found.disagreement) == (ROWS, None)
        assert found.unsupported_mass == pytest.approx(0.05)
        assert found.mean_weight_p > 0.01


def test_an_action_has_support_in_all_rows_if_it_was_logged_in_any(table, save_table):
    order = np.argsort(table.column("action").to_numpy(), kind="stable")
    memory, local = doubts(save_table(table.take(order).drop_columns(["logging_probs"])))
    assert memory.unsupported_rows == local.unsupported_rows == 0


def test_a_target_that_never_takes_a_logged_action(save_table):
    lone = made(ROWS, logged_only=True, targets=1, context=0)
    path = save_table(with_column(lone, "target", np.zeros(ROWS)))
    refused(path, "`target` must be numbers that can only be probabilities, got 0 alone, which are labels of actions")
    memory, local = doubts(path, target=cf.Probabilities("target"))
    assert memory.findings == local.findings
    known = {name: value for name, value in local.measures.items() if value is not None}
    assert {name: value for name, value in memory.measures.items() if value is not None} == pytest.approx(
        known, rel=1e-2
    )
    assert (local.largest_share, local.disagreement) == (1.0, None)


def test_the_noise_of_fitting_adds_to_the_error(table, save_table):
    local = answer("local", save_table(table), candidates=["dm"], selector="slope")
    assert 1.1 * local.table[0].stderr < local.stderr < 10 * local.table[0].stderr


def test_a_model_on_the_sample_never_sees_the_groups_it_predicts():
    ids = np.arange(200)
    groups = ids // 10
    nothing = np.empty((200, 0))
    rows = Examples(ids, groups, nothing, ids % 2, groups.astype(float), nothing, np.ones(200), nothing, nothing, 2)
    model = fit_on_sample(Means(), {"target": rows}, 200)["target"]
    seen = model.predictions(rows)[:, 0]
    fold = hash_numbers(groups) % 5
    assert seen == pytest.approx([groups[fold != mine].mean() for mine in fold])


class Means(TrainedModel):
    """Predicts the mean reward."""

    def fit(self, examples):
        mean = examples.rewards.mean()
        return lambda some: np.full((len(some), 2), mean)
