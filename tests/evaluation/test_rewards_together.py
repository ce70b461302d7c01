"""Several rewards are evaluated in one pass over the rows: as many reads as for one reward, and the same answers."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from counterfold.base.errors import MissingNumbersError
from counterfold.engines.passes import batch_engine
from counterfold.io.files import Files
from counterfold.io.schema.batches import Pass, run_together

pytest.importorskip("duckdb")
ROWS = 1300
REWARDS = ["click", "score - 0.2 * cost", "cost"]
ASKED = {"candidates": ["ips", "dr"], "selector": "slope", "reward_model": "shared-ridge", "progress": False}
rng = np.random.default_rng(0)
ACTION, X, IS_LATE = rng.integers(2, size=ROWS), rng.normal(size=ROWS), rng.random(ROWS) < 0.2
TIME = np.datetime64("2024-01-01", "s") + np.arange(ROWS) * np.timedelta64(1, "h")
PLAIN = {
    "x": X,
    "action": np.array(["a", "b"])[ACTION],
    "click": (rng.random(ROWS) < 0.3 + 0.2 * ACTION).astype(float),
    "score": ACTION + X + rng.normal(size=ROWS),
    "cost": rng.exponential(size=ROWS),
    "propensity": np.full(ROWS, 0.5),
    "target": ["b"] * ROWS,
}
TEXT = np.array(["u", "v", "w"])[rng.integers(3, size=ROWS)]
SCORES = pa.array(PLAIN["score"], mask=IS_LATE)
IS_GAP = np.arange(ROWS) == 1200
GAPS = {"x": pa.array(X, mask=IS_GAP)}
GROUPS, RATES = {"user": rng.integers(1100, size=ROWS)}, {"rate": rng.choice([0.2, 1.0], size=ROWS)}
DROP = {"missing_reward": "drop"}
FAST = {
    "much": ({"score": SCORES, "x": TEXT, **GROUPS, **RATES}, {"group": "user", "kept": "rate", **DROP}),
    "a late gap that one reward has not": (GAPS | {"click": pa.array(PLAIN["click"], mask=IS_GAP)}, DROP),
}
SLOW = {
    "plain": ({}, {}),
    "zero": ({"score": SCORES}, {"missing_reward": "zero"}),
    "horizon": ({"when": TIME, "came": TIME + np.timedelta64(3, "h")}, {"time": "when", "horizon": "4d"}),
    "a late gap": (GAPS, {}),
    "all probabilities": (
        {"action": ACTION, "logging_probs": [[0.5, 0.5]] * ROWS, "target": [[0.4, 0.6]] * ROWS},
        {"propensity_precision": "3 digits"},
    ),
    "fitted": ({}, {"propensity": "fit"}),
}
KINDS = [*FAST, *(pytest.param(one, marks=pytest.mark.slow) for one in SLOW)]


@pytest.fixture(params=KINDS)
def log(request, tmp_path, monkeypatch):
    """Return a file of many pieces, few rows of which are the first, and what is asked of it besides its rewards."""
    for module in ("local", "passes.batches"):
        monkeypatch.setattr(f"counterfold.engines.{module}.HEAD", 300)
    columns, settings = (FAST | SLOW)[request.param]
    pa.parquet.write_table(pa.table(PLAIN | columns), tmp_path / "log.parquet", row_group_size=250)
    return tmp_path / "log.parquet", {"context": ["x"], **settings, **ASKED}


@pytest.fixture
def reads(monkeypatch):
    """Return a list that grows whenever files are read."""
    found, read, read_all = [], Files.pieces, Files.table
    monkeypatch.setattr(Files, "pieces", lambda self, columns: found.append(columns) or read(self, columns))
    monkeypatch.setattr(Files, "table", lambda self: found.append("all") or read_all(self))
    return found


@pytest.mark.parametrize("engine", ["local", pytest.param("memory", marks=pytest.mark.slow)])
def test_rows_are_read_as_often_as_for_one_reward_which_has_the_same_answer(log, reads, engine):
    path, asked = log
    together, counts = cf.evaluate(path, reward=REWARDS, engine=engine, threads=3, **asked), [len(reads)]
    for reward in REWARDS[:2]:
        reads.clear()
        alone, found = cf.evaluate(path, reward=[reward], engine=engine, threads=1, **asked)[reward], together[reward]
        assert found.to_dict() == alone.to_dict()
        assert found.diagnostics.findings == alone.diagnostics.findings
        counts.append(len(reads))
    assert counts[0] == max(counts[1:])  # one reward may need a pass more than another


def test_a_stream_is_asked_once_for_each_pass(monkeypatch):
    monkeypatch.setattr("counterfold.base.capacity.LARGE", 1000)
    asked = []

    def open_reader():
        asked.append(1)
        return pa.table(PLAIN).to_reader(500)

    counts = []
    for rewards in (REWARDS, ["cost"]):
        asked.clear()
        cf.evaluate(open_reader, reward=rewards, context=["x"], **ASKED)
        counts.append(len(asked))
    assert counts[0] == counts[1] > 2


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (pa.array(PLAIN["score"], mask=IS_GAP), "must be finite, got nan in 1 of .* row 1200"),
        (np.full(ROWS, 2.0), "must vary, got 2.0 in all"),
    ],
)
def test_an_error_names_the_column_of_its_reward(tmp_path, column, sentence, engine):
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(pa.table(PLAIN | {"spend": column}), path, row_group_size=170)
    said = []
    for rewards in (["click", "spend", "cost"], ["spend"]):
        with pytest.raises(cf.DataError, match=f"`reward` \\(column `spend`\\) {sentence}") as raised:
            cf.evaluate(path, reward=rewards, engine=engine, context=["x"], **ASKED)
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_bars_say_what_is_done_for_how_many_rewards(tmp_path, monkeypatch):
    pa.parquet.write_table(pa.table(PLAIN), tmp_path / "log.parquet")
    plain = ["Reading rewards", "Listing actions", "Pass 1 of 2: checking", "Pass 2 of 2: estimating"]
    labels, show = [], batch_engine.show_progress
    monkeypatch.setattr(
        batch_engine, "show_progress", lambda label, **more: labels.append(label) or show(label, **more)
    )
    for rewards in (["click"], ["click", "cost"]):
        cf.evaluate(tmp_path / "log.parquet", reward=rewards, engine="local", missing_reward="drop", **ASKED)
    several = [f"{label} for 2 rewards" for label in plain]
    assert labels == [*plain, *several]


def test_tasks_that_need_fewer_passes_end_earlier():
    def sum_numbers(times):
        found = 0
        for _ in range(times):
            found += yield Pass("numbers", lambda batch: batch, [])
        return found

    def stumble():
        try:
            yield Pass("numbers", lambda batch: batch, [])
        except MissingNumbersError:
            return (yield Pass("again", lambda batch: batch, []))

    together = []

    def total(passes):
        together.append([one.label for one in passes])
        return [MissingNumbersError("gap") if number == 3 else 10 for number, _ in enumerate(passes)]

    tasks = [sum_numbers(2), sum_numbers(0), sum_numbers(1), sum_numbers(3), stumble()]
    assert run_together(tasks, total) == [20, 0, 10, 30, 10]
    assert together == [["numbers"] * 4, ["numbers", "numbers", "again"], ["numbers"]]
