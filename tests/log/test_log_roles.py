"""Logs of doses, of several loggers and with features of actions: what they are, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

import counterfold as cf
import reference
from counterfold.base import registry
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
    np.testing.assert_array_equal(derived.drawn_probs, data.logging)
    assert derived.loggers.labels == ("a", "b", "c")


def test_loggers_that_do_not_fit_are_refused():
    data = reference.random_data(18)
    loggers = several_loggers(data)
    probs = loggers["logger_probs"]
    for changes, message in [
        ({"logger": None}, "`logger` and `logger_probs` must come together: .* got no `logger`."),
        ({"logger_probs": None}, "`logger` and `logger_probs` must come together: .* got no such `logger_probs`."),
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
