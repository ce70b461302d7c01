"""What evaluate() says against its own answer: overfitted models, bias, missing support."""

import numpy as np
import pytest

import counterfold as cf
import reference
from problems import evaluate_as_paper, log_of


def test_the_paper_s_log_is_good_and_its_model_is_checked(data):
    result = evaluate_as_paper(log_of(data), data.target, [cf.DR()])
    across = cf.estimate(log_of(data), data.target, cf.DR(), reward_model=cf.CrossFitted(cf.RidgePerAction()))
    assert result.diagnostics.model_shift == pytest.approx((across.value - result.value) / result.table[0].stderr)
    assert cf.evaluate(log_of(data), data.target, [cf.IPS()]).diagnostics.model_shift is None
    assert cf.evaluate(log_of(data), data.target, [cf.DR()]).diagnostics.model_shift is None


@pytest.mark.parametrize(("rows", "columns"), [(400, 90), (300, 400)], ids=["moves the answer", "hides its error"])
def test_an_overfitted_model_is_called_out(rows, columns):
    data = reference.random_data(1, rows=rows, columns=columns, binary=True)
    result = evaluate_as_paper(log_of(data), data.target, [cf.DR()])
    across = cf.estimate(log_of(data), data.target, cf.DR(), reward_model=cf.CrossFitted(cf.RidgePerAction()))
    inside = result.table[0].stderr
    assert result.diagnostics.model_shift == pytest.approx((across.value - result.value) / inside)
    if columns == 90:
        assert abs(result.diagnostics.model_shift) > 0.5
    assert across.stderr > 1.5 * inside
    assert result.diagnostics.verdict == "caution"
    finding = next(one for one in result.diagnostics.findings if one.name == "model-shift")
    assert "use a cross-fitted reward model" in finding.remedy


def test_a_biased_answer_is_called_out():
    data = reference.random_data(2, rows=400, binary=True)
    result = cf.evaluate(log_of(data), data.target, [cf.TruncatedIPS(0.1)])
    plain = cf.estimate(log_of(data), data.target, cf.SNIPS())
    gap = result.estimate - plain
    assert result.diagnostics.disagreement == pytest.approx(gap.value / gap.stderr)
    assert result.diagnostics.disagreement < -3
    assert result.diagnostics.verdict == "caution"
    assert result.diagnostics.reasons[-1].startswith(
        "SNIPS, which relies on the propensities and no reward model, says "
    )
    honest = cf.evaluate(log_of(data), data.target, [cf.SNIPS()]).diagnostics
    assert (honest.disagreement, honest.verdict) == (0.0, "good")


def test_an_overfitted_validator_is_called_out():
    data = reference.random_data(1, rows=400, columns=90, binary=True)
    result = evaluate_as_paper(log_of(data), data.target, [cf.IPS()], cf.OCV(cf.DR()))
    assert result.diagnostics.model_shift is None
    assert result.diagnostics.verdict == "caution"
    assert result.diagnostics.reasons[-1].startswith("the validator DR moves from ")
    assert cf.evaluate(log_of(data), data.target, [cf.IPS()], cf.OCV(cf.IPS())).diagnostics.verdict == "good"


def test_without_support_there_is_no_second_opinion():
    data = reference.random_data(3, rows=400, actions=3)
    data.logging[:] = [0.5, 0.5, 0.0]
    data.a = np.random.default_rng(0).integers(2, size=400)
    data.target = np.tile([0.4, 0.4, 0.2], (400, 1))
    with pytest.warns(cf.SupportWarning):
        assert cf.evaluate(log_of(data), data.target, [cf.TruncatedIPS(0.1)]).diagnostics.disagreement is None


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
def test_an_answer_that_cannot_be_given_says_so_first_and_keeps_its_numbers(data):
    log = cf.Log(action=data.a % 2, reward=data.r, logging_probs=np.tile([0.5, 0.5, 0.0], (len(data.r), 1)))
    there, never = (cf.evaluate(log, np.tile(probs, (len(data.r), 1))) for probs in ([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]))
    assert (there.answerable, there.verdict) == (True, "good")
    assert (never.answerable, never.verdict) == (False, "not answerable")
    assert repr(never).startswith("Evaluation(not answerable: 50.00% of the target's probability is on actions that")
    assert np.isfinite([never.value, *never.interval]).all()
    assert (never.to_dict()["answerable"], there.to_dict()["answerable"]) == (False, True)


def test_warnings_point_to_the_users_line():
    log = cf.Log(
        action=[0, 1] * 20, reward=np.arange(40.0), logging_probs=np.tile([0.5, 0.5, 0.0], (40, 1)), actions=range(3)
    )
    target = np.full((40, 3), 1 / 3)
    with pytest.warns(cf.SupportWarning) as caught:
        cf.evaluate(log, target)
    assert {one.filename for one in caught} == {__file__}
