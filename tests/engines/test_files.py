"""Large logs in unusual files: one huge row group, several loggers, samples smaller than the log, own models."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
import reference
from counterfold.models.base import RewardModel
from large_logs import ROWS, answer, both, made, same
from problems import several_loggers
from tables import FORMATS


@pytest.fixture
def path(tmp_path):
    pa.parquet.write_table(made(ROWS), tmp_path / "log.parquet", row_group_size=ROWS)
    return tmp_path / "log.parquet"


def test_a_huge_row_group_is_read_in_pieces(path, answers, monkeypatch):
    monkeypatch.setattr("counterfold.io.formats.parquet.ROWS", 250)
    moved = []
    cut = answer("local", path, progress=lambda *where: moved.append(where))
    same(answers[1], cut)
    assert moved == [(ROWS, ROWS)] * 2


def test_rows_of_any_size_are_read_one_at_a_time_if_they_must(save_table, monkeypatch):
    path = save_table(made(300))
    whole = answer("local", path)
    monkeypatch.setattr("counterfold.io.formats.parquet.BYTES", 1)
    same(whole, answer("local", path))


@pytest.mark.parametrize("name", ["log.parquet", "log.arrow"])  # which tells the number of its rows, and which does not
def test_a_small_sample_of_many_pieces(name, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(FORMATS[name](made(ROWS)))
    monkeypatch.setattr("counterfold.engines.passes.plan.count_sample", lambda *_: 50)
    model = cf.CrossFitted(cf.SharedRidge())  # other models learn from the sample, or from so many rows
    found = both(tmp_path / name, candidates=["dr", "switch-dr"], reward_model=model)
    values = [[one.value for one in result.table[:1]] for result in found]
    assert values[0] == pytest.approx(values[1])
    assert found[1].diagnostics.model_shift is None or np.isfinite(found[1].diagnostics.model_shift)


@pytest.mark.parametrize("actions", [None, [0, 1, 2, 3]])
def test_several_loggers(actions, tmp_path):
    data = reference.random_data(3, rows=800)
    found = several_loggers(data)
    columns = {"x": data.x[:, 0], "action": data.a, "reward": data.r, "logger": found["logger"]}
    columns["target"] = data.target.tolist()
    columns |= {f"logger_probs.{label}": probs.tolist() for label, probs in found["logger_probs"].items()}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet", row_group_size=150)
    scan = cf.LogScan(tmp_path / "log.parquet", actions=actions)
    memory, local = (
        cf.evaluate(scan, candidates="paper", selector="ocv:refit=False", engine=engine, progress=False)
        for engine in ("memory", "local")
    )
    same(memory, local)


class Own(RewardModel):  # predicts only the rows it is given
    def predictions(self, examples):
        return np.zeros((len(examples), examples.n_actions))


def test_a_model_that_cannot_predict_other_rows_is_refused(path):
    with pytest.raises(
        cf.ParameterError, match="`reward_model` must be one that can be fitted on some rows and used on"
    ):
        cf.evaluate(path, reward_model=Own(), engine="local", progress=False)
    assert cf.evaluate(path, reward_model=Own(), progress=False).value > 0


def test_frames_lack_columns_of_actions_that_are_never_taken():
    log = cf.Log(
        action=["a", "b", "c", "a"], reward=[1.0, 0.0, 1.0, 0.5], propensity=[0.5] * 4, actions=["a", "b", "c"]
    )
    some = cf.evaluate(log, pa.table({"a": [1.0, 0.5, 1.0, 0.0], "c": [0.0, 0.5, 0.0, 1.0]}), ["ips"], "slope")
    every = cf.evaluate(log, [[1.0, 0.0, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], ["ips"], "slope")
    assert some.value == every.value
    with pytest.raises(cf.DataError, match="`target` must be rows of probabilities that sum to 1"):
        cf.evaluate(log, pa.table({"a": [1.0, 0.5, 1.0, 0.0], "c": [0.0, 0.4, 0.0, 1.0]}))
