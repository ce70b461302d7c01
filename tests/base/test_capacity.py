"""What takes too much memory is refused by a sentence, and what is large is worked on a few rows at a time."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import counterfold as cf
from counterfold.base import capacity
from counterfold.base.dictionaries import share_labels
from counterfold.base.validation import WHOLE
from counterfold.log.labels import find_distinct
from counterfold.models import shared_ridge
from counterfold.models.base import Examples
from large_logs import both, refused, same

BOMB = """
import resource
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import counterfold as cf
try:
    print(cf.evaluate({path!r}, "target", engine={engine!r}, progress=False).value)
except cf.CounterfoldError as error:
    print("refused:", error)
lines = open("/proc/self/status").read().splitlines()  # getrusage would count what the parent had, too
print(next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:")))
"""


def explode(path, engine, limit=4 << 30):
    """Return what a process of its own, with so much memory, prints of an evaluation, and its peak in bytes."""
    code = BOMB.format(path=str(path), engine=engine, limit=limit)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    said, peak = done.stdout.strip().rsplit("\n", 1)
    return said, int(peak)


def write_weights(path, rows, **columns):
    rng = np.random.default_rng(0)
    plain = {"reward": rng.integers(0, 2, rows) * 1.0, "propensity": np.full(rows, 0.5), "target": np.full(rows, 0.5)}
    pq.write_table(pa.table(plain | columns), path)
    return path


def write_maps(path, rows, actions, *, named=8, as_text=False):
    """Write a log whose policies name few of many actions in each row."""
    rng = np.random.default_rng(0)
    places = (rng.integers(0, actions, rows)[:, None] + np.arange(named) * (actions // named)) % actions
    maps = [[(f"a{place}", 1 / named) for place in line] for line in places.tolist()]
    cells = [json.dumps(dict(one)) for one in maps] if as_text else pa.array(maps, pa.map_(pa.string(), pa.float64()))
    action = [one[0] for one in (line[pick] for line, pick in zip(maps, rng.integers(0, named, rows), strict=True))]
    reward = rng.integers(0, 2, rows) * 1.0
    pq.write_table(pa.table({"action": action, "reward": reward, "logging_probs": cells, "target": cells}), path)
    return path


# labels


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_long_labels_take_room_but_once(tmp_path, engine):
    labels = pa.array(["a" * 500_000, "b" * 500_000])
    codes = pa.array(np.arange(100_000, dtype=np.int32) % 2)
    coded = pa.DictionaryArray.from_arrays(codes, labels)
    said, peak = explode(write_weights(tmp_path / "log.parquet", 100_000, action=coded), engine)
    assert float(said) == pytest.approx(0.5, abs=0.02)
    assert peak < 1 << 30


def test_equal_labels_are_one_object():
    column = pa.chunked_array([["red", "blue"], ["red", None]])
    shared = share_labels(column)
    assert shared.tolist() == ["red", "blue", "red", None]
    assert shared[0] is shared[2]
    assert share_labels(column.dictionary_encode()).tolist() == shared.tolist()


def test_distinct_objects_are_those_of_numpy():
    labels = np.array(["b", "a", "c", "a"], dtype=object)
    found, codes = find_distinct("action", labels, WHOLE)
    expected = np.unique(labels, return_inverse=True)
    assert found.tolist() == expected[0].tolist()
    np.testing.assert_array_equal(codes, expected[1])


# maps


@pytest.mark.parametrize("as_text", [False, True])
def test_maps_are_read_a_few_rows_at_a_time(tmp_path, monkeypatch, as_text):
    path = write_maps(tmp_path / "log.parquet", 1500, 40, as_text=as_text)
    whole = both(path)
    same(*whole)
    monkeypatch.setattr(capacity, "NUMBERS", 40 * 100)
    same(whole[1], both(path)[1])


def test_maps_of_very_many_actions_are_refused_in_memory(tmp_path, monkeypatch):
    path = write_maps(tmp_path / "log.parquet", 1500, 40)
    monkeypatch.setattr(capacity, "LARGE", 1 << 20)
    monkeypatch.setattr(capacity, "NUMBERS", 40 * 100)
    with pytest.raises(cf.DataError, match="must take at most 1 MiB of memory, but column `logging_probs` with 40 act"):
        cf.evaluate(path, "target", engine="memory")
    assert cf.evaluate(path, "target", engine="local", progress=False).verdict
    with pytest.raises(cf.DataError, match="--engine local"):
        cf.read_log(path)


def test_maps_that_name_an_action_twice_are_refused(tmp_path):
    maps = pa.array([[("a", 0.5), ("b", 0.5)], [("a", 0.5), ("a", 0.5)]] * 10, pa.map_(pa.string(), pa.float64()))
    columns = {"action": ["a", "b"] * 10, "reward": [0.0, 1.0] * 10, "logging_probs": maps, "target": maps}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    refused(
        tmp_path / "log.parquet", "`logging_probs` must be maps that name each action once, got .* 2 times in 10 of "
    )


@pytest.mark.slow
@pytest.mark.parametrize("as_text", [False, True])
def test_twenty_thousand_actions_fit_into_local(tmp_path, as_text):
    said, peak = explode(write_maps(tmp_path / "log.parquet", 5000, 20_000, as_text=as_text), "local")
    assert float(said) == pytest.approx(0.5, abs=0.1)
    assert peak < 2 << 30


# limits


def test_the_limit_of_the_process_counts():
    code = "import resource as r; r.setrlimit(r.RLIMIT_AS, (3 << 30, 3 << 30)); from counterfold.base import capacity"
    code += "; print(capacity.find_memory())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 3 << 30


@pytest.mark.parametrize(("text", "expected"), [("4096\n", 4096), ("max\n", None)])
def test_the_limit_of_a_container_counts(tmp_path, monkeypatch, text, expected):
    alone = capacity.find_memory()
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(capacity, "CGROUPS", tmp_path)
    assert capacity.find_memory() == (expected or alone)


def test_rows_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    path = write_weights(tmp_path / "log.parquet", 1000, action=np.arange(1000) % 2)
    monkeypatch.setattr(capacity, "find_memory", lambda: 1 << 16)
    with pytest.raises(cf.DataError, match="must take at most 0 MiB of memory, but 1000 rows would take about 0 MiB"):
        cf.evaluate(path, "target", engine="memory")


def test_a_policy_of_all_actions_must_fit(tmp_path, monkeypatch):
    labels = np.arange(1000)
    path = write_weights(tmp_path / "log.parquet", 1000, action=labels, best=labels.astype(str))
    monkeypatch.setattr(capacity, "find_memory", lambda: 1 << 20)
    monkeypatch.setattr(capacity, "NUMBERS", 1)
    with pytest.raises(cf.DataError, match="a policy with 1000 actions in 1000 rows would take about 31 MiB"):
        cf.evaluate(path, cf.Actions("best"), engine="memory")


def test_local_refuses_more_actions_than_a_sample_can_hold(tmp_path, monkeypatch):
    path = write_maps(tmp_path / "log.parquet", 1500, 40)
    monkeypatch.setattr(capacity, "ACTIONS", 39)
    with pytest.raises(cf.DataError, match=r"must have at most 39 actions where .* got 40\. Put rare actions together"):
        cf.evaluate(path, "target", engine="local")


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_sums_of_a_reward_model_that_do_not_fit_are_refused(tmp_path, monkeypatch, engine):
    path = write_weights(tmp_path / "log.parquet", 1000, action=np.arange(1000) % 2, x=np.sin(np.arange(1000)))
    monkeypatch.setattr(capacity, "SUMS", 100)
    monkeypatch.setattr(capacity, "find_memory", lambda: 500_000)
    monkeypatch.setattr(capacity, "FITS", 10_000)
    with pytest.raises(cf.DataError, match=r"2 actions and 1 columns of context.* fewer columns in `context`"):
        cf.evaluate(path, "1", engine=engine, reward_model="ridge-per-action", candidates=["dr"], selector="ocv")


def test_a_shortage_of_memory_is_one_sentence(tmp_path, monkeypatch):
    def take_all(*_args, **_settings):
        raise MemoryError

    monkeypatch.setattr("counterfold.engines.memory.choose_context", take_all)
    path = write_weights(tmp_path / "log.parquet", 100, action=np.arange(100) % 2)
    with pytest.raises(cf.DataError, match="the evaluation took more memory than there was"):
        cf.evaluate(path, "target", engine="memory")


# wide contexts


def test_wide_equations_are_solved_as_narrow_ones_are(monkeypatch):
    rng = np.random.default_rng(0)
    rows, width = 600, 70
    ids, context = np.arange(rows), rng.normal(size=(rows, width))
    rewards = context[:, 0] + rng.normal(size=rows)
    nothing = np.empty((rows, 0))
    examples = Examples(ids, ids, context, ids % 3, rewards, nothing, np.ones(rows), nothing, nothing, 3)
    wide = cf.SharedRidge().predictions(examples)
    monkeypatch.setattr(shared_ridge, "MIN_COLUMNS_TO_SOLVE_SINGLY", 1000)
    np.testing.assert_allclose(wide, cf.SharedRidge().predictions(examples), rtol=1e-9, atol=1e-12)
