"""One named estimator is the answer: nothing is chosen, fitted or read for estimators that nobody named."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.engines.passes.first_pass import FirstPass
from counterfold.evaluation.question import Question
from counterfold.models.cross_fitted import CrossFitted


@pytest.fixture
def table():
    rng = np.random.default_rng(4)
    x = rng.standard_normal(3000)
    action = rng.integers(3, size=3000)
    return pa.table(
        {
            "x": x,
            "action": action,
            "reward": x * (action == 1) + rng.standard_normal(3000),
            "logging_probs": np.full((3000, 3), 1 / 3).tolist(),
            "target": np.tile([0.2, 0.5, 0.3], (3000, 1)).tolist(),
        }
    )


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_named_snips_fits_no_model_and_equals_snips_among_others(table, engine, tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(table, path)
    among = cf.evaluate(path, candidates=["snips", "ips"], selector=cf.OCV(cf.IPS()), engine=engine)
    snips = next(line for line in among.table if line.name == "SNIPS")

    def refuse(*_):
        raise AssertionError("nothing may be fitted")

    monkeypatch.setattr(CrossFitted, "settle", refuse)
    monkeypatch.setattr(FirstPass, "__call__", refuse)
    found = cf.evaluate(path, candidates="snips", engine=engine, context="x")
    assert found.value == pytest.approx(snips.value, rel=1e-12)
    assert found.stderr == pytest.approx(snips.stderr, rel=1e-12)
    assert [line.name for line in found.table] == ["SNIPS"]
    assert found.table[0].share == 1
    assert found.diagnostics.disagreement == 0


@pytest.mark.parametrize(
    ("asked", "needs_model"),
    [
        ({"candidates": "snips"}, False),
        ({"candidates": cf.TruncatedSNIPS(5.0)}, False),
        ({"candidates": "dr"}, True),
        ({"candidates": "snips", "reward_model": "ridge-per-action"}, True),
        ({"candidates": "snips", "selector": "ocv"}, True),
        ({"candidates": ["snips", "ips"]}, True),
        ({"candidates": "truncated-snips"}, True),
        ({}, True),
    ],
)
def test_a_model_is_needed_where_it_was_named_or_is_used(asked, needs_model):
    assert (Question.of(**asked).needed_reward_model is not None) == needs_model


def test_targets_of_one_log_share_what_is_observed_of_the_log(table, tmp_path):
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(table, path)
    targets = {"a": "target", "b": "uniform"}
    for engine in ("memory", "local"):
        both = cf.evaluate(path, targets, engine=engine)
        for name, target in targets.items():
            alone = cf.evaluate(path, target, engine=engine)
            shared = both[name].diagnostics.measures
            own = alone.diagnostics.measures
            assert {key for key, value in shared.items() if value is None} == {
                key for key, value in own.items() if value is None
            }
            for key, value in own.items():
                assert value is None or shared[key] == pytest.approx(value, rel=1e-9), key
