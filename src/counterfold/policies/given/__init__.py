"""Targets, one file for each way to give one: from what a user gave to checked probabilities, or to doses."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterfold.base.errors import DataError, ParameterError
from counterfold.base.validation import WHOLE, Checker
from counterfold.log import kernels
from counterfold.log.indices import align_rows
from counterfold.log.labels import is_categorical
from counterfold.log.log import Log
from counterfold.log.log_checks import check_matrix, count_dimensions
from counterfold.policies.given._matrix import FixedShares, Policy
from counterfold.policies.given._matrix import has_fixed_shares as has_fixed_shares
from counterfold.policies.given._text import Text as Text
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Reads as Reads
from counterfold.policies.given.base import Target, TargetForm
from counterfold.policies.given.base import refuse_ambiguity as refuse_ambiguity
from counterfold.policies.given.classifier import Classifier, can_predict
from counterfold.policies.given.function import Function
from counterfold.policies.given.probabilities import Probabilities

GIVEN = "the policy to evaluate: probabilities, actions, the column of either, or a policy such as `uniform`"

FARTHEST = 10
"""No target's dose is farther away, in ranges of the logged ones: no reward model knows that far."""


def require_given(value: Any) -> Any:
    """Return what a user gave as the target, if it is anything."""
    if value is None:
        raise ParameterError(f"`target` must be {GIVEN}, got None.")
    return value


def find_form(value: Any) -> TargetForm:
    """Return what a user's target is, by its shape and its kind of values."""
    if isinstance(value, TargetForm):
        return value
    if isinstance(value, str):
        return Text.of(value)
    if can_predict(value) or callable(value):
        return Classifier(value) if can_predict(value) else Function(value)
    if isinstance(value, Mapping):
        return FixedShares(value)
    dimensions = count_dimensions(value)
    if dimensions == 3:
        way = "Of an `action_dist` of obp take `cf.from_action_dist(action_dist, feedback)`."
        raise DataError(f"`target` must be rows x actions, got {np.shape(value)}. {way}")
    if dimensions == 0 or (dimensions == 1 and are_labels(value)):
        return Actions(value)
    return Probabilities(value, is_sure=False) if dimensions == 1 else Policy(value)


def name_column(name: str, kind: str, columns: Sequence[str]) -> TargetForm:
    """Return the target in one of some columns, of which it is known how it is read."""
    numbers = Probabilities(name, is_sure=False, columns=columns, column=name)
    known: dict[str, TargetForm] = {"labels": Actions(name), "numbers": numbers}
    return known.get(kind, Policy(name))


def are_labels(value: Any) -> bool:
    """Say whether values can only be labels: text, times, or a categorical."""
    array = np.asarray(value)
    is_text = array.dtype.kind in "USMm" or (array.dtype.kind == "O" and any(isinstance(one, str) for one in array))
    return is_text or is_categorical(value)


def as_target(value: Any, log: Log, check: Checker = WHOLE) -> Target:
    """Return a checked target from what the user gave.

    That is a matrix of probabilities (n x A), a vector (n) of those of the logged actions, or of labels of the actions
    that the target would take, one label, a mapping {label: probability}, a function of the context that returns any
    of these, a fitted classifier, a text of the grammar, or one of the forms in this folder. On a log of doses the
    target is the dose it would give in each row (n), or several draws of it (n x m).
    """
    form = find_form(value)
    return form.resolve(log, check) if log.dose is None else _of_doses(form.list_doses(log), log, check)


def _of_doses(value: Any, log: Log, check: Checker) -> Target:
    logged: Any = log.dose
    value = align_rows("target", value, log.index, check)
    if count_dimensions(value) == 1:
        doses = check.floats("target", value, ndim=1)[:, None]
        check.length("target", doses, len(logged))
    else:
        doses = check_matrix("target", value, len(logged), check).values
    if doses.shape[1] == 0:
        raise DataError(f"{check.called('target')} must hold a dose in every row, got none.")
    check.finite("target", doses)
    near = np.abs(doses - logged.mean()) <= FARTHEST * np.ptp(logged)
    check.every("target", doses, near, f"within {FARTHEST} times the range of the logged doses")
    return Target(kernels.smooth_density(logged, doses, kernels.choose_bandwidth(logged)), doses=doses)
