"""Synthetic logs: true to what they state, and the same whatever the threads."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import counterfold as cf
from counterfold_lab.synthetic.file import read_truth
from counterfold_lab.synthetic.generator import EXPLORATION, Synthetic, user_effects
from synthetic_logs import written

VARIANTS = {
    "default": Synthetic(),
    "few actions": Synthetic(actions=2, context=1, seed=1),
    "many actions": Synthetic(actions=60, context=4),
    "three targets": Synthetic(targets=3, seed=2),
    "continuous": Synthetic(reward="continuous"),
    "users": Synthetic(groups=300, seed=3),
    "logged only": Synthetic(logged_only=True, targets=2),
    "no context": Synthetic(context=0, logged_only=True),
    "no context, all actions": Synthetic(context=0, seed=2**40),
}


@pytest.fixture(params=VARIANTS)
def problem(request):
    return VARIANTS[request.param]


def drawn(problem, rows, blocks=1):
    """Return the columns of a few blocks, and the true value of each target on them."""
    found = [problem.block(number, rows) for number in range(blocks)]
    columns = {name: np.concatenate([one.columns[name] for one in found]) for name in found[0].columns}
    return columns, sum(one.sums for one in found) / (rows * blocks)


# what is in a log


@pytest.mark.usefixtures("small_blocks")
def test_the_columns_and_the_row_groups(problem, tmp_path):
    written(problem, 1100, tmp_path / "log.parquet")
    file = pq.ParquetFile(tmp_path / "log.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(3)] == [512, 512, 76]
    types = {field.name: str(field.type) for field in file.schema_arrow}
    whole = "double" if problem.logged_only else "list<element: double>"
    expected = {f"x{place}": "double" for place in range(problem.context)}
    expected |= {"action": "int64", "reward": "double", "propensity": "double"}
    expected |= {} if problem.logged_only else {"logging_probs": whole}
    expected |= dict.fromkeys(["target", "target_2", "target_3"][: problem.targets], whole)
    assert types == expected | ({"group": "int64"} if problem.groups else {})


def test_probabilities_are_probabilities_and_agree(problem):
    columns, truth = drawn(problem, 2000)
    assert set(np.unique(columns["action"])) <= set(range(problem.actions))
    assert columns["propensity"].min() >= EXPLORATION / problem.actions
    assert np.all((truth > 0) & (truth < 1))
    if problem.logged_only:
        assert all(((columns[name] >= 0) & (columns[name] <= 1)).all() for name in problem.target_names)
        return
    for name in ("logging_probs", *problem.target_names):
        assert columns[name].sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert columns[name].min() >= 0
    assert np.array_equal(columns["logging_probs"][np.arange(2000), columns["action"]], columns["propensity"])


def test_logged_only_leaves_out_and_changes_nothing_else():
    full, truth = drawn(Synthetic(targets=2), 500)
    less, same = drawn(Synthetic(targets=2, logged_only=True), 500)
    assert np.array_equal(truth, same)
    assert set(full) - set(less) == {"logging_probs"}
    for name, column in less.items():
        expected = full[name] if full[name].ndim == 1 else full[name][np.arange(500), full["action"]]
        assert np.array_equal(column, expected)


def test_context_is_plain_heavy_tailed_and_binary_and_correlated():
    columns, _ = drawn(Synthetic(context=6), 50_000)
    kurtosis = [stats.kurtosis(columns[f"x{place}"]) for place in (0, 3, 1, 4)]
    assert max(np.abs(kurtosis[:2])) < 0.2
    assert min(kurtosis[2:]) > 20
    assert all(set(np.unique(columns[name])) == {0.0, 1.0} for name in ("x2", "x5"))
    assert np.corrcoef(columns["x0"], columns["x3"])[0, 1] == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_large_but_not_hopeless(seed):
    columns, truth = drawn(Synthetic(seed=seed), 2**17)
    weights = columns["target"][np.arange(2**17), columns["action"]] / columns["propensity"]
    assert 10 < weights.max() <= 50
    assert 0.1 < weights.sum() ** 2 / (weights**2).sum() / 2**17 < 0.6
    assert truth[0] > columns["reward"].mean() + 0.03


@pytest.mark.statistical
def test_actions_are_drawn_as_stated():
    """Fails by chance once in a thousand seeds."""
    columns, _ = drawn(Synthetic(actions=5), 50_000)
    probs = columns["logging_probs"]
    excess = np.eye(5)[columns["action"]] - probs
    scores = excess.sum(axis=0) / np.sqrt((probs * (1 - probs)).sum(axis=0))
    assert np.abs(scores).max() < stats.norm.isf(0.001 / 10)


@pytest.mark.statistical
def test_the_stated_truth_is_what_weighted_rewards_say(problem, tmp_path):
    """Each of a dozen comparisons fails by chance once in ten thousand seeds; a naive loop, no package code."""
    path = tmp_path / "log.parquet"
    truth = written(problem, 20_000, path).truth
    rows = pq.read_table(path).to_pylist()
    for name in problem.target_names:
        parts = []
        for row in rows:
            probability = row[name] if problem.logged_only else row[name][row["action"]]
            parts.append(row["reward"] * probability / row["propensity"])
        stderr = np.std(parts, ddof=1) / np.sqrt(len(parts))
        assert abs(np.mean(parts) - truth[name]) < stats.norm.isf(0.5e-4) * stderr
        assert stderr < 0.03


@pytest.mark.statistical
def test_rewards_of_a_user_go_together():
    """Fails by chance once in a thousand seeds."""
    columns, _ = drawn(Synthetic(groups=50, reward="continuous"), 50_000)
    users, codes, counts = np.unique(columns["group"], return_inverse=True, return_counts=True)
    means = np.bincount(codes, columns["reward"]) / counts
    assert counts.max() > 3 * counts.min()
    assert stats.pearsonr(means, user_effects(users, 0)).pvalue < 0.001
    everybody = user_effects(np.arange(100_000), 0)
    assert everybody.mean() == pytest.approx(0, abs=0.5 * stats.norm.isf(0.0005) / np.sqrt(100_000))
    assert everybody.std() == pytest.approx(0.5, abs=0.01)


@pytest.mark.statistical
def test_evaluate_covers_the_truth(problem, tmp_path):
    """Asks for intervals of level 0.999."""
    path = tmp_path / "log.parquet"
    truth = written(problem, 8000, path).truth
    log = cf.read_log(path, ignore=problem.target_names)
    assert (len(log), len(log.context_names)) == (8000, problem.context)
    for name in problem.target_names:
        result = cf.evaluate(log, cf.read_target(path, name), level=0.999)
        assert result.interval.low < truth[name] < result.interval.high
        assert result.diagnostics.verdict != "not answerable"


# the same log again


@pytest.mark.usefixtures("small_blocks")
def test_threads_never_change_a_byte_and_seeds_do(tmp_path):
    problem = Synthetic(groups=50, targets=2)
    truths = [written(problem, 5000, tmp_path / f"{n}.parquet", threads=n).truth for n in (1, 2, 5)]
    assert truths[0] == truths[1] == truths[2]
    contents = {(tmp_path / f"{n}.parquet").read_bytes() for n in (1, 2, 5)}
    assert len(contents) == 1
    other = written(Synthetic(groups=50, targets=2, seed=1), 5000, tmp_path / "other.parquet")
    assert set(other.truth.values()).isdisjoint(truths[0].values())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_in_order_and_only_a_little_ahead(threads):
    started = []

    def halved(item):
        started.append(item)
        return item / 2

    assert list(cf.Pool(threads).stream(halved, range(10))) == [item / 2 for item in range(10)]
    assert list(cf.Pool(threads).stream(halved, [])) == []
    started.clear()
    stream = cf.Pool(threads).stream(halved, iter(range(10**9)))
    assert [next(stream), next(stream)] == [0, 0.5]
    stream.close()
    assert set(started) <= set(range(threads + 2))


def test_blocks_differ():
    problem = Synthetic()
    first, second = (problem.block(number, 100).columns["x0"] for number in (0, 1))
    assert not np.array_equal(first, second)


def test_logs_of_many_actions_have_shorter_blocks():
    sizes = [Synthetic(actions=actions).block_rows for actions in (10, 100, 1000, 10**7)]
    assert sizes == [2**17, 2**14, 2**11, 1]


@pytest.mark.usefixtures("small_blocks")
def test_a_folder_holds_what_it_states(tmp_path):
    found = written(Synthetic(targets=2), 3001, tmp_path / "log", files=3)
    files = sorted((tmp_path / "log").iterdir())
    assert [file.name for file in files] == [f"part-0000{number}.parquet" for number in range(3)]
    assert [pq.read_metadata(file).num_rows for file in files] == [1001, 1000, 1000]
    assert (found.rows, found.files, found.bytes) == (3001, 3, sum(file.stat().st_size for file in files))
    assert read_truth(tmp_path / "log") == pytest.approx(found.truth, rel=1e-12)
    assert read_truth(files[0]) != read_truth(files[1])
    assert len(cf.read_log(tmp_path / "log", ignore=["target", "target_2"])) == 3001


def test_metadata_state_the_truth_and_the_settings(tmp_path):
    path = tmp_path / "log.parquet"
    found = written(Synthetic(actions=3, seed=4), 1000, path)
    stated = json.loads(pq.read_metadata(path).metadata[b"counterfold"])
    assert (stated["rows"], stated["actions"], stated["seed"], stated["truth"]) == (1000, 3, 4, found.truth)
    assert read_truth(path) == found.truth
    pq.write_table(pq.read_table(path).replace_schema_metadata(), path)
    with pytest.raises(cf.DataError, match="must be a log that `counterfold synth` made"):
        read_truth(path)
