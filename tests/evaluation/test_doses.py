"""What evaluate makes of logs of doses."""

import numpy as np
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
from problems import dose_log, dose_rows, log_of


@pytest.mark.parametrize("name", sorted(set(registry.names("estimators")) - {"dm", *reference.OF_DOSES}))
def test_estimators_of_labels_say_that_they_do_not_apply(name):
    data = reference.random_doses(10)
    with pytest.raises(cf.ParameterError, match=r"is for actions that are labels, but those of this log are doses."):
        cf.estimate(dose_log(data), data.target, registry.find("estimators", name)())


@pytest.mark.parametrize("name", reference.OF_DOSES)
def test_estimators_of_doses_say_that_they_do_not_apply(name):
    data = reference.random_data(10)
    with pytest.raises(cf.ParameterError, match=r"is for doses, but the actions of this log are labels."):
        cf.estimate(log_of(data), data.target, name)


def test_selectors_for_labels_say_that_they_do_not_apply():
    data = reference.random_doses(10)
    for selector in ("pasif", "pseudo-target"):
        with pytest.raises(
            cf.ParameterError, match=r"is for actions that are labels, but those of this log are doses.$"
        ):
            cf.evaluate(dose_log(data), data.target, selector=selector)


def test_the_second_opinion_has_the_rule_of_thumb_s_bandwidth():
    data = reference.random_doses(10, rows=200)
    rows = dose_rows(data)
    thumb = 2.34 * data.d.std() * 200**-0.2
    answer = cf.KernelIPS(3 * thumb)
    result = cf.evaluate(dose_log(data), data.target, answer)
    gap = answer.contributions(rows) - cf.KernelDR(thumb).contributions(rows)
    assert result.diagnostics.disagreement == pytest.approx(gap.mean() / (gap.std(ddof=1) / np.sqrt(200)))
    assert result.diagnostics.bandwidth == pytest.approx(thumb)


def test_targets_absurdly_far_away_are_refused_and_others_are_not():
    data = reference.random_doses(10)
    log, reach = dose_log(data), np.ptp(data.d)
    assert cf.estimate(log, np.full(60, data.d.mean() + 9.9 * reach), cf.KernelIPS()).value == 0.0
    with pytest.raises(cf.DataError, match=r"`target` must be within 10 times the range of the logged doses, got "):
        cf.estimate(log, np.full(60, data.d.mean() - 10.1 * reach), cf.KernelIPS())


def test_the_default_evaluation_of_doses():
    data = reference.random_doses(11, rows=300)
    result = cf.evaluate(dose_log(data), data.target)
    kinds = {line.name.partition("(")[0] for line in result.table}
    assert kinds == {"DM", "KernelIPS", "KernelDR"}
    assert not result.left_out
    assert result.selector.validator == cf.KernelDR(result.diagnostics.bandwidth / 2)
    assert result.diagnostics.unsupported_mass == 0.0
    assert abs(result.diagnostics.disagreement) < 3
    assert 0.8 < result.diagnostics.mean_weight < 1.2


def test_without_a_model_weights_remain():
    data = reference.random_doses(12, rows=200)
    result = cf.evaluate(dose_log(data), data.target, reward_model=None)
    assert result.selected.startswith("KernelIPS")
    assert isinstance(result.selector.validator, cf.KernelIPS)
    assert set(result.left_out) == {"DM", "KernelDR"}


@pytest.mark.parametrize("selector", ["ocv", "kfold-cv", "slope", "opera"])
def test_selectors_take_doses_and_groups(selector):
    data = reference.random_doses(13, rows=120)
    log = dose_log(data, group=np.arange(120) // 3)
    assert np.isfinite(cf.evaluate(log, data.target, selector=selector).value)


@pytest.mark.statistical
def test_the_best_price_is_found():
    """Demand falls with the price, so revenue is highest at 1.25: the default answer must rank three prices right."""
    rng = np.random.default_rng(0)
    taste, price = rng.normal(size=2000), rng.uniform(0.2, 2.4, size=2000)
    revenue = price * (rng.random(2000) < np.clip(1 - price / 2.5 + 0.05 * taste, 0, 1))
    log = cf.Log(context=taste[:, None], dose=price, reward=revenue, propensity=np.full(2000, 1 / 2.2))
    found = [cf.evaluate(log, np.full(2000, wanted)) for wanted in (0.5, 1.25, 2.0)]
    truth = [wanted * (1 - wanted / 2.5) for wanted in (0.5, 1.25, 2.0)]
    assert np.argmax([one.value for one in found]) == 1
    for one, value in zip(found, truth, strict=True):
        assert abs(one.value - value) < 4 * one.stderr
