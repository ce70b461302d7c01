"""Answers by fitted propensities against those by the true ones, over many logs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import counterfold as cf
from counterfold.engines.memory import RowEvidence
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.evaluation.assembly import include_propensities
from counterfold.log.contents import Contents
from counterfold.policies.given import as_target
from fitted_logs import ROWS, draw, make_log


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.statistical
@pytest.mark.slow
def test_coverage_and_error_against_true_propensities():
    """Intervals hold the truth in 95 % of logs, and errors are at most 1.3 times those with true propensities."""
    held, ratio = [], []
    many, *_, policy = draw(10_000, rows=400_000)
    value = float((policy[:, 1] * many[:, 0] + 0.5 * policy[:, 2]).mean())
    for seed in range(40):
        x, action, logging, reward, target = draw(seed, rows=1000)
        given = {"context": x, "action": action, "reward": reward}
        fitted = cf.evaluate(cf.Log(**given, propensity="fit"), target)
        known = cf.evaluate(cf.Log(**given, logging_probs=logging), target)
        held.append(fitted.interval.low <= value <= fitted.interval.high)
        ratio.append([(fitted.value - value) ** 2, (known.value - value) ** 2])
    assert binomtest(sum(held), 40, 0.95, alternative="less").pvalue > 0.001
    mine, true = np.mean(ratio, axis=0)
    assert mine < 1.3 * true


@pytest.mark.statistical
@pytest.mark.slow
def test_right_fits_are_hardly_ever_called_wrong():
    alarms = 0
    for seed in range(30):
        x, action, _, reward, _ = draw(seed, rows=800)
        alarms += cf.Log(context=x, action=action, reward=reward, propensity="fit").fitted.quality.rival_p < 0.01
    assert binomtest(int(alarms), 30, 0.01, alternative="greater").pvalue > 0.001


def test_fits_on_a_sample_add_their_noise():
    """Where few of many rows were fitted on, errors are larger than those that take the fit as given."""
    log, target = make_log()
    few = replace(log.fitted, rows=100)
    rows = cf.Rows.of(log, as_target(target, log), None)
    contents = replace(Contents.of(log), fitted=few)
    evidence = RowEvidence.of(rows, contents)
    values = [cf.IPS().value(rows.with_policies(probs)) for probs in few.predict_each(log.context, None)]
    expected = (1 - 200 / ROWS) * sum((value - np.mean(values)) ** 2 for value in values) * 4 / 5
    assert evidence.find_propensity_variance(cf.IPS()) == pytest.approx(expected)
    assert RowEvidence.of(rows, Contents.of(log)).find_propensity_variance(cf.IPS()) == 0
    plain = Estimate("x", np.arange(10.0))
    assert include_propensities(plain, 4.0).stderr == pytest.approx(np.sqrt(plain.stderr**2 + 4.0))
    assert include_propensities(plain, 0.0).stderr == plain.stderr
    still = replace(plain, moves=Moves("units", np.array([plain.stderr / 10])))  # contributions show more
    assert include_propensities(still, 4.0).stderr == pytest.approx(np.sqrt(plain.stderr**2 + 4.0))
