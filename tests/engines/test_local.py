"""Logs that are never in memory as a whole: the same answers as in memory, whatever the file and its pieces."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeRegressor

import counterfold as cf
from large_logs import ROWS, answer, both, made, same
from tables import FORMATS


@pytest.mark.parametrize("rows", [ROWS, 500])
@pytest.mark.parametrize("model", ["default", "ridge-per-action", "cross-fitted:model=ridge-per-action", None])
def test_local_gives_the_answer_of_memory(rows, model, table, save_table):
    same(*both(save_table(table.slice(0, rows)), candidates="paper", reward_model=model))


@pytest.mark.pairs
@pytest.mark.parametrize("rows", [ROWS, 500])
@pytest.mark.parametrize("candidates", ["default", "plain", "paper"])
@pytest.mark.parametrize("model", ["default", "shared-ridge:alpha=10", "cross-fitted:folds=3", None])
def test_the_default_selector_gives_the_answer_of_memory(model, candidates, rows, table, save_table):
    memory, local = both(save_table(table.slice(0, rows)), "target", candidates, selector="default", reward_model=model)
    same(memory, local)
    assert isinstance(local.selector, cf.Ladder)
    if candidates == "default":
        assert local.estimate.moves.values == pytest.approx(memory.estimate.moves.values, rel=1e-9, abs=1e-12)
        assert local.estimate.bias_variance == pytest.approx(memory.estimate.bias_variance, rel=1e-9)
        assert local.stderr == pytest.approx(memory.stderr, rel=0.05)
        mine, theirs = local.estimate.in_differences, memory.estimate.in_differences
        assert mine.moves.values == pytest.approx(theirs.moves.values, rel=1e-9, abs=1e-12)
        assert mine.bias_variance == pytest.approx(theirs.bias_variance, rel=1e-9)
        assert local.uplift().value == pytest.approx(memory.uplift().value, rel=1e-9)


def test_the_ladder_of_a_sorted_log_knows_all_weights(table, save_table, monkeypatch):
    monkeypatch.setattr("counterfold.engines.passes.batches.HEAD", 500)
    probs, logged = (np.array(table.column(name).to_pylist()) for name in ("target", "propensity"))
    weights = probs[np.arange(ROWS), table.column("action").to_numpy()] / logged
    path = save_table(table.take(np.argsort(weights)))
    same(*both(path, candidates=["ips", "snips"], selector="ladder", reward_model=None))


def test_another_model_is_cross_fitted_on_the_sample(table, save_table):
    tree = DecisionTreeRegressor(max_depth=3)
    path = save_table(table)
    memory = answer("memory", path, candidates="default", reward_model=cf.CrossFitted(cf.PerAction(tree)))
    same(memory, answer("local", path, candidates="default", reward_model=tree))


def test_the_default_of_memory_is_near(table, save_table):
    memory, local = both(save_table(table), candidates=["ips", "snips", "dr"], selector="ocv")
    assert [one.value for one in local.table] == pytest.approx([one.value for one in memory.table])
    assert "refit=False" in repr(local.selector)


@pytest.mark.parametrize("name", ["kfold-cv", "slope", "opera"])
def test_other_selectors_work_on_sums(name, table, save_table):
    local = answer("local", save_table(table), candidates="default", selector=name)
    assert local.interval.low < local.value < local.interval.high


@pytest.mark.parametrize("size", [3000, 1024, 97])
def test_row_groups_do_not_matter(size, table, save_table, answers):
    _, whole = answers
    cut = answer("local", save_table(table, row_group_size=size))
    same(whole, cut)
    assert cut.stderr == pytest.approx(whole.stderr, rel=1e-9)


def test_threads_do_not_matter_at_all(table, save_table):
    path = save_table(table, row_group_size=200)
    found = [cf.evaluate(path, candidates="paper", engine="local", threads=number).to_json() for number in (1, 2, 5)]
    assert len(set(found)) == 1


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.arrow", "log.csv.gz"])
def test_any_format(name, table, tmp_path):
    import gzip

    table = table.drop_columns(["logging_probs", "target_2"])
    flat = np.array(table.column("target").to_pylist())
    table = table.drop_columns(["target"])
    for action in range(4):
        table = table.append_column(f"target.{action}", [flat[:, action]])
    content = FORMATS[name.removesuffix(".gz")](table)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    same(*both(tmp_path / name))


def test_a_folder_of_files_is_one_log(table, save_table, tmp_path, answers):
    (tmp_path / "log").mkdir()
    for number, start in enumerate([0, 1100, 1150, 2400]):
        end = [1100, 1150, 2400, 3000][number]
        save_table(table.slice(start, end - start), f"log/part-{number}.parquet")
    parts = both(tmp_path / "log")
    same(*parts)
    same(answers[1], parts[1])


@pytest.mark.parametrize("kind", [pa.large_list(pa.float64()), pa.list_(pa.float64(), 4), pa.list_(pa.float32())])
def test_any_kind_of_list(kind, table, save_table):
    for name in ("logging_probs", "target"):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).combine_chunks().cast(kind))
    same(*both(save_table(table.drop_columns(["propensity"]))))


def test_several_targets_in_one_pass_are_each_alone(table, save_table):
    path = save_table(table)
    scan = cf.LogScan(path, ignore=["target", "target_2"])
    asked = {"candidates": "paper", "reward_model": "ridge-per-action", "engine": "local", "progress": False}
    together = cf.evaluate(scan, {"a": "target", "b": "target_2"}, **asked)
    assert list(together) == ["a", "b"]
    for name, column in (("a", "target"), ("b", "target_2")):
        alone = cf.evaluate(scan, column, **asked)
        assert together[name].to_json() == alone.to_json()
    in_memory = cf.evaluate(scan, {"a": "target", "b": "target_2"}, "default", progress=False)
    assert in_memory["b"].to_json() == cf.evaluate(scan, "target_2", "default", progress=False).to_json()


def test_a_target_may_be_a_function_of_the_context(table, save_table):
    def policy(context):
        first = 1 / (1 + np.exp(-context[:, :1]))
        return np.hstack([first, np.tile((1 - first) / 3, (1, 3))])

    same(*both(save_table(table), policy))


def test_predictions_may_come_from_a_column(table, save_table):
    rng = np.random.default_rng(0)
    table = table.append_column("q", [rng.random((ROWS, 4)).tolist()])
    same(*both(save_table(table), reward_model=cf.Column("q")))


@pytest.mark.parametrize("labels", [["d", "b", "a", "c"], [40, 10, 30, 20]])
def test_actions_are_found_where_only_propensities_are_known(labels, table, save_table):
    code = table.column("action").to_numpy()
    probs = [dict(zip(map(str, labels), row, strict=True)) for row in table.column("target").to_pylist()]
    named = pa.table({"action": np.array(labels)[code], "reward": table.column("reward"), "x": table.column("x0")})
    named = named.append_column("propensity", table.column("propensity")).append_column("target", [probs])
    memory, local = both(save_table(named), candidates="paper")
    same(memory, local)
    assert "CAB" in local.left_out


def test_weights_are_enough(save_table):
    memory, local = both(save_table(made(ROWS, logged_only=True, targets=1, context=0)), candidates="default")
    same(memory, local)
    assert set(local.left_out) == {"DM", "DR", "SNDR", "TruncatedSNDR"}


def test_what_the_target_may_do_without_support(table, save_table):
    probs = np.array(table.column("logging_probs").to_pylist())
    action = table.column("action").to_numpy()
    rare = (np.arange(ROWS) % 50 == 0) & (action != 3)
    probs[rare, 3] = 0.0
    probs /= probs.sum(axis=1, keepdims=True)
    kept = table.drop_columns(["logging_probs", "propensity"]).append_column("logging_probs", [probs.tolist()])
    with pytest.warns(cf.SupportWarning, match="on actions that the log could never take"):
        same(*both(save_table(kept)))


def test_availability_and_labels_of_structs(table, save_table):
    names = ["up", "down", "left", "right"]
    structs = {
        role: [dict(zip(names, row, strict=True)) for row in table.column(role).to_pylist()]
        for role in ("logging_probs", "target")
    }
    named = table.select(["x0", "x1", "reward"]).append_column(
        "action", [np.array(names)[table.column("action").to_numpy()]]
    )
    for role, column in structs.items():
        named = named.append_column(role, [column])
    same(*both(save_table(named)))


def few(probs, names, most=2):
    """Return the largest probabilities of each row as a map, scaled to sum to 1."""
    maps = []
    for row in probs:
        best = np.argsort(-row)[:most]
        maps.append([(names[place], row[place] / row[best].sum()) for place in best])
    return pa.array(maps, pa.map_(pa.string(), pa.float64()))


@pytest.mark.parametrize("known", ["propensity", "logging_probs"])
def test_a_map_names_only_the_actions_that_a_policy_may_take(known, table, save_table):
    names = np.array(["up", "down", "left", "right"])
    code = table.column("action").to_numpy()
    probs, logging = (np.array(table.column(name).to_pylist()) for name in ("target", "logging_probs"))
    sparse = table.select(["x0", "x1", "x2", "reward"]).append_column("action", [names[code]])
    sparse = sparse.append_column("target", few(probs, names))
    whole = table.column("propensity") if known == "propensity" else few(logging, names, most=4)
    sparse = sparse.append_column(known, whole)
    memory, local = both(save_table(sparse))
    same(memory, local)
    dense = np.zeros((ROWS, 4))
    for row, best in enumerate(np.argsort(-probs, axis=1)[:, :2]):
        dense[row, best] = probs[row, best] / probs[row, best].sum()
    plain = sparse.drop_columns(["target"]).append_column("target", [dense[:, np.argsort(names)].tolist()])
    if known == "propensity":
        scan = cf.LogScan(save_table(plain), actions=sorted(names))
        assert answer("memory", scan).value == pytest.approx(memory.value)


def test_objects_need_not_name_every_action(table, tmp_path):
    import json

    names = ["up", "down", "left", "right"]
    lines = []
    for row in table.to_pylist():
        best = int(np.argmax(row["target"]))
        lines.append({"action": names[row["action"]], "reward": row["reward"], "propensity": row["propensity"]})
        lines[-1]["target"] = {names[best]: 1.0}
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    memory, local = both(tmp_path / "log.jsonl", candidates="default")
    same(memory, local)


def test_many_actions_are_worked_on_fewer_rows_at_a_time(table, save_table, answers, monkeypatch):
    monkeypatch.setattr("counterfold.base.capacity.NUMBERS", 1 << 9)
    cut = both(save_table(table, row_group_size=3000))
    same(answers[0], cut[0])
    same(answers[1], cut[1])


@pytest.mark.parametrize("model", [cf.RidgePerAction(alpha=100.0), cf.PooledRidge()], ids=str)
def test_rows_that_were_kept_teach_a_strong_penalty_the_same(model, save_table):
    """Rows of a fold count as their own effective number on either engine."""
    rng = np.random.default_rng(5)
    table = made(400)
    table = table.append_column("kept", pa.array(np.where(rng.random(400) < 0.5, 0.1, 1.0)))
    same(*both(save_table(table), candidates=["dm", "dr"], reward_model=cf.CrossFitted(model)))
