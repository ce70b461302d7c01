"""Logs of doses, of several loggers and with features of actions: what they refuse, and what evaluate makes of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import counterfold as cf
import reference
from counterfold import registry
from counterfold.models import as_model
from counterfold.target import as_target
from problems import dose_log, dose_rows, log_of, rows_of, several_loggers


def refused(message, **changes):
    data = reference.random_doses(0)
    given = {"context": data.x, "dose": data.d, "reward": data.r, "propensity": data.density} | changes
    with pytest.raises(cf.DataError, match=message):
        cf.Log(**given)


# logs of doses


def test_a_log_of_doses_says_what_it_is():
    log = dose_log(reference.random_doses(0))
    assert log.kind == "doses"
    assert log.actions == ()
    assert "doses from -" in repr(log)
    assert log_of(reference.random_data(0)).kind == "labels"


def test_doses_must_be_numbers_that_vary_and_densities_positive():
    refused("`dose` must be finite, got nan in 1 of 60 rows, first at row 0.", dose=[np.nan, *range(59)])
    refused("`dose` must be numbers, got ", dose=["a"] * 60)
    refused("`dose` must vary, got 1.0 in all 60 rows", dose=np.ones(60))
    refused(r"`dose` must have one entry per row \(60\), got 3.", dose=[1, 2, 3])
    refused(
        "`propensity` must be a probability density of at least 1e-30, got 0.0 in 60 of 60 rows", propensity=[0] * 60
    )
    refused("a log of doses must have `propensity`, the probability density of each, got none.", propensity=None)


@pytest.mark.parametrize(
    "extra",
    [
        {"action": [0, 1] * 30},
        {"actions": [0, 1]},
        {"logging_probs": np.full((60, 2), 0.5)},
        {"available": np.ones((60, 2))},
        {"action_features": [[1.0], [2.0]]},
        {"logger": ["a", "b"] * 30},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_what_goes_with_actions_is_refused_with_doses(extra):
    name = next(iter(extra))
    refused(f"a log must have `action` or `dose`, and `{name}` goes with `action`, got it with `dose`.", **extra)


def test_neither_action_nor_dose():
    refused("a log must have `action` or `dose`, got neither.", dose=None)


def test_densities_above_one_are_fine():
    data = reference.random_doses(1)
    data.d, data.density, data.target = data.d / 100, data.density * 100, data.target / 100
    assert data.density.max() > 1
    assert cf.evaluate(dose_log(data), data.target).stderr > 0


def test_bad_targets_are_refused():
    log = dose_log(reference.random_doses(2))
    for target, message in [
        (np.full(60, np.inf), "`target` must be finite, got inf in 60 of 60 rows, first at row 0."),
        (np.ones(59), r"`target` must have one entry per row \(60\), got 59."),
        (["a"] * 60, "`target` must be numbers, got "),
    ]:
        with pytest.raises(cf.DataError, match=message):
            cf.evaluate(log, target)


def test_a_callable_target_gets_the_context():
    data = reference.random_doses(3)
    one, two = (cf.evaluate(dose_log(data), target) for target in (lambda x: x[:, 0], data.x[:, 0]))
    assert one.value == two.value


def test_the_same_dose_drawn_twice_is_one_draw():
    data = reference.random_doses(4)
    once, twice = dose_rows(data), None
    data.target = np.repeat(data.target, 2, axis=1)
    twice = dose_rows(data)
    for estimator in (cf.DM(), cf.KernelIPS(0.7), cf.KernelDR(0.7)):
        np.testing.assert_allclose(estimator.contributions(once), estimator.contributions(twice))


# reward models of doses


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_ridge_on_dose_against_scikit_learn(degree):
    data = reference.random_doses(5, rows=80, draws=2)
    rows = dose_rows(data, cf.RidgeOnDose(alpha=0.01, degree=degree))
    np.testing.assert_allclose(rows.q, reference.ridge_on_dose(data, 0.01, degree), rtol=1e-8)


def test_ridge_on_dose_survives_constant_columns_and_one_row():
    data = reference.random_doses(6)
    data.x[:, 1] = 7.0
    assert np.isfinite(dose_rows(data).q).all()
    assert np.isfinite(dose_rows(data).take(np.array([0])).q).all()
    assert (
        not cf.RidgeOnDose().fit(dose_rows(data).take(np.array([], dtype=int)).examples)(dose_rows(data).examples).any()
    )


def test_a_scikit_learn_model_gets_context_and_dose():
    data = reference.random_doses(7)
    rows = dose_rows(data, LinearRegression())
    model = LinearRegression().fit(np.column_stack([data.x, data.d]), data.r)
    np.testing.assert_allclose(rows.q_logged, model.predict(np.column_stack([data.x, data.d])))
    np.testing.assert_allclose(rows.q_policy, model.predict(np.column_stack([data.x, data.target])))


def test_cross_fitted_models_predict_doses_out_of_fold():
    data = reference.random_doses(8, rows=100)
    rows = dose_rows(data, cf.CrossFitted(cf.RidgeOnDose(), folds=2))
    assert np.isfinite(rows.q).all()
    assert not np.allclose(rows.q, dose_rows(data).q)


def test_models_of_the_wrong_kind_are_refused():
    data = reference.random_doses(9)
    for model in ("ridge-per-action", cf.PerAction(), cf.CrossFitted(cf.RidgePerAction())):
        with pytest.raises(cf.ParameterError, match=r"`reward_model` must suit actions that are doses, got "):
            cf.evaluate(dose_log(data), data.target, reward_model=model)
    labelled = reference.random_data(9)
    with pytest.raises(cf.ParameterError, match=r"`reward_model` must suit actions that are labels, got RidgeOnDose."):
        cf.evaluate(log_of(labelled), labelled.target, reward_model=cf.RidgeOnDose())
    with pytest.raises(cf.DataError, match=r"the logged dose and each of the target's \(2 columns\), got 3."):
        cf.evaluate(dose_log(data), data.target, reward_model=np.zeros((60, 3)))


# evaluation of doses


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
    assert cf.estimate(log, np.full(60, data.d.mean() + 0.99e6 * reach), cf.KernelIPS()).value == 0.0
    with pytest.raises(cf.DataError, match=r"`target` must be within 1e\+06 times the range of the logged doses, got "):
        cf.estimate(log, np.full(60, data.d.mean() - 1.01e6 * reach), cf.KernelIPS())


def test_the_default_evaluation_of_doses():
    data = reference.random_doses(11, rows=300)
    result = cf.evaluate(dose_log(data), data.target)
    kinds = {line.name.partition("(")[0] for line in result.table}
    assert kinds == {"DM", "KernelIPS", "KernelDR"}
    assert not result.left_out
    assert result.selector.validator == cf.KernelDR(result.diagnostics.bandwidth / 2)
    assert result.diagnostics.unsupported_mass is None
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


# features of actions


def test_features_in_a_pandas_frame_are_matched_by_its_index():
    data = reference.random_data(14)
    plain, order = log_of(data).action_features, [2, 0, 3, 1]
    data.features = pd.DataFrame(plain[order], index=[str(action) for action in order])
    np.testing.assert_array_equal(log_of(data).action_features, plain)
    data.features = pd.DataFrame(plain)
    np.testing.assert_array_equal(log_of(data).action_features, plain)


def test_features_by_label_in_any_order():
    data = reference.random_data(14)
    by_label = {str(action): data.features[action] for action in (2, 0, 3, 1)} | {"never seen": [0.0, 0.0]}
    data_log = log_of(data)
    data.features = by_label
    np.testing.assert_array_equal(log_of(data).action_features, data_log.action_features)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.zeros((3, 2)), r"`action_features` must have one row per action \(4\), got \(3, 2\)."),
        (np.zeros((4, 0)), r"`action_features` must have one row per action \(4\), got \(4, 0\)."),
        (np.zeros(4), "`action_features` must be a matrix with one row per action, got shape"),
        ([[1.0], [2.0], [np.nan], [4.0]], "`action_features` must be finite, got other numbers for 1 of 4 actions: 2."),
        ({0: [1.0], 1: [2.0]}, "`action_features` must hold every action, got none for 2 of 4: 2, 3."),
        ({0: [1.0], 1: [2.0], 2: [1.0, 2.0], 3: [1.0]}, "`action_features` must be numbers"),
    ],
)
def test_bad_features_are_refused(features, message):
    data = reference.random_data(15)
    data.features = features
    with pytest.raises(cf.DataError, match=message):
        log_of(data)


@pytest.mark.parametrize("name", ["mips", "off-cem", "policy-convolution"])
def test_estimators_that_need_features_say_so(name):
    data = reference.random_data(16)
    data.features = None
    kind = registry.find("estimators", name).__name__
    with pytest.raises(
        cf.ParameterError, match=r"needs features of the actions, but the log has no `action_features`."
    ):
        cf.estimate(log_of(data), data.target, name)
    assert cf.evaluate(log_of(data), data.target, ["ips", name]).left_out.keys() == {kind}


# several loggers


def test_logging_probs_follow_from_the_loggers():
    data = reference.random_data(17)
    loggers = several_loggers(data)
    given = log_of(data, **loggers)
    derived = cf.Log(context=data.x, action=data.a, reward=data.r, actions=range(4), **loggers)
    np.testing.assert_array_equal(derived.logging_probs, given.logging_probs)
    np.testing.assert_array_equal(derived.propensity, data.logging[np.arange(60), data.a])
    assert derived.loggers.labels == ("a", "b", "c")


def test_loggers_that_do_not_fit_are_refused():
    data = reference.random_data(18)
    loggers = several_loggers(data)
    probs = loggers["logger_probs"]
    for changes, message in [
        ({"logger": None}, "`logger` and `logger_probs` must come together: .* got no `logger`."),
        ({"logger_probs": None}, "`logger` and `logger_probs` must come together: .* got no such `logger_probs`."),
        ({"logger": ["a"] * 60}, "`logger` must name at least 2 policies, got a in all 60 rows."),
        (
            {"logger": ["z", *loggers["logger"][1:]]},
            r"`logger` must be one of the 3 known loggers \(a, b, c\), got z in",
        ),
        ({"logger_probs": probs | {"b": probs["b"][:, :3]}}, r"`logger_probs` of `b` must have one column per action"),
        ({"logger_probs": probs | {"c": -probs["c"]}}, r"`logger_probs` of `c` must be in \[0, 1\]"),
        ({"logger_probs": probs | {"a": probs["c"]}}, "`logging_probs` must be those of the row's own logger in"),
    ]:
        with pytest.raises(cf.DataError, match=message):
            log_of(data, **(loggers | changes))


def test_rows_under_other_policies():
    data = reference.random_data(19)
    rows = rows_of(data)
    swapped = rows.with_policies(data.target, data.logging)
    np.testing.assert_allclose(swapped.weights * rows.weights, 1.0)
    np.testing.assert_array_equal(swapped.propensity, data.target[np.arange(60), data.a])
    back = swapped.with_policies(data.logging, data.target)
    np.testing.assert_allclose(cf.DR().contributions(back), cf.DR().contributions(rows))


def test_models_by_name():
    data = reference.random_data(20)
    log = log_of(data)
    usual = as_model("default", log)
    assert (type(usual), usual.model, usual.folds) == (cf.CrossFitted, cf.SharedRidge(), 5)
    assert as_model("ridge-per-action", log) == cf.RidgePerAction()
    assert as_model("ridge-per-action:alpha=2", log) == cf.RidgePerAction(2.0)
    doses = reference.random_doses(20)
    assert as_model("default", dose_log(doses)) == cf.RidgeOnDose()
    assert as_target(doses.target, dose_log(doses)).draws == 1
    with pytest.raises(cf.ParameterError, match=r"unknown model `rigde`"):
        as_model("rigde", log)
