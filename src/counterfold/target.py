"""Target: the probabilities of the policy to value, checked against one log; and the forms that a user may give it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from counterfold import kernels
from counterfold.arrays import Floats
from counterfold.checks import FIRST, WHOLE, Checker
from counterfold.errors import DataError
from counterfold.indices import align_rows, call_on_context
from counterfold.label_checks import check_labels
from counterfold.labels import encode_labels, is_categorical, simplify_label
from counterfold.log import CERTAIN, Log
from counterfold.log_checks import Matrix, check_matrix, check_policy, count_dimensions, order_columns

FARTHEST = 10
"""No target's dose is farther away, in ranges of the logged ones: no reward model knows that far."""

WAYS = (
    "If they are the actions that the target would take, pass `cf.Actions(...)` (--target-action COLUMN); if they are "
    "its probabilities of the logged actions, `cf.Probabilities(...)` (--target-probability COLUMN)."
)
"""How to say what numbers mean that could be labels of actions as well as probabilities."""


@dataclass(frozen=True, eq=False)
class Target:
    """`logged` holds the probability of each logged action, `probs` (n x A) those of all actions if they are known.

    On a log of doses, `doses` (n x m) holds what the target would give, one or several draws per row, and `logged` the
    density of that at the logged dose, smoothed with a rule-of-thumb bandwidth.
    """

    logged: Floats
    probs: Floats | None = None
    doses: Floats | None = None

    @property
    def draws(self) -> int:
        """Return how many doses the target would give in a row."""
        return 1 if self.doses is None else self.doses.shape[1]

    def find_unsupported(self, log: Log) -> Floats | None:
        """Return the probability, row by row, of actions that the log could never take; nothing if that is unknown.

        Of a target that is known for the logged actions alone, it is known where these had probability 1: there it is
        what the target does besides; elsewhere it is taken for 0. On a log of doses these are doses outside the range
        of the logged ones by more than the bandwidth.
        """
        if log.dose is not None and self.doses is not None:
            reach = kernels.choose_bandwidth(log.dose)
            outside = (self.doses < log.dose.min() - reach) | (self.doses > log.dose.max() + reach)
            return np.asarray(outside.mean(axis=1))
        if self.probs is None:
            elsewhere = np.where(log.is_certain & (self.logged < CERTAIN), 1 - self.logged, 0.0)
            return elsewhere if elsewhere.any() else None
        return np.zeros(len(log)) if log.supports_all else np.where(log.supported, 0.0, self.probs).sum(axis=1)


class TargetForm(ABC):
    """One of the ways in which a user may say what the target does."""

    kind: ClassVar[str] = "matrix"
    """How its column is read, if it is one."""

    @property
    @abstractmethod
    def given(self) -> Any:
        """Return what the user gave, which may be the name of a column."""

    @abstractmethod
    def resolve(self, log: Log, check: Checker) -> Target:
        """Return the target on a log of labels, checked."""

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        """Return why it can be read in two ways, if so, by its first rows: of a long log no more are known then."""
        return None


@dataclass(frozen=True, eq=False)
class Actions(TargetForm):
    r"""The action that the target would take in each row: labels, one label for all rows, or a function of the context.

    $$\pi(a \mid x_i) = 1[a = a_i]$$

    Of a log that is read from a file or a frame, `labels` may be the name of a column. Labels that are text say by
    themselves that they are labels; numbers need this class.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Actions([1, 1, 1, 1]), cf.IPS()).value
    2.0
    """

    labels: Any
    kind = "labels"

    @property
    def given(self) -> Any:
        return self.labels

    def resolve(self, log: Log, check: Checker) -> Target:
        value = call_on_context(self.labels, log.context, log.index)
        value = np.full(len(log), value) if count_dimensions(value) == 0 else value
        labels = check_labels("target", align_rows("target", value, log.index, check), len(log), check)
        codes = encode_labels("target", labels, log.actions, check)
        probs = np.zeros((len(log), len(log.actions)))
        probs[np.arange(len(log)), codes] = 1.0
        return Target((codes == log.action).astype(np.float64), probs)


@dataclass(frozen=True, eq=False)
class Probabilities(TargetForm):
    """The target's probability of the logged action in each row: numbers, or a function of the context.

    Of a log that is read from a file or a frame, `values` may be the name of a column. Plain numbers are read so, too,
    unless they are 0 and 1 alone and the actions are called 0 and 1: then they could be labels, and are refused.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Probabilities([0, 1, 0, 1]), cf.IPS()).value
    2.0
    """

    values: Any
    is_sure: bool = True
    kind = "numbers"

    @property
    def given(self) -> Any:
        return self.values

    def resolve(self, log: Log, check: Checker) -> Target:
        if not check.is_part:
            refuse_ambiguity(self, log, check)
        return Target(self._read(log, check))

    def _read(self, log: Log, check: Checker) -> Floats:
        value = call_on_context(self.values, log.context, log.index)
        values = check.floats("target", align_rows("target", value, log.index, check), ndim=1)
        check.length("target", values, len(log))
        are_labels = (values > 1) & (values == np.floor(values))
        if are_labels.any():
            check.every("target", values, ~are_labels, "in [0, 1]", f" {WAYS.partition(';')[0]}.")
        check.probabilities("target", values)
        return values

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        if self.is_sure:
            return None
        found = {f"{value:g}" for value in np.unique(self._read(log, check)[:FIRST]).tolist()}
        labels = {{"true": "1", "false": "0"}.get(text, text) for text in map(simplify_label, log.actions)}
        got = f"got {' and '.join(sorted(found))} alone, which are labels of actions, too"
        rule = "numbers that can only be probabilities"
        return f"{check.called('target')} must be {rule}, {got}. {WAYS}" if found <= {"0", "1"} & labels else None


def refuse_ambiguity(form: TargetForm, log: Log, check: Checker) -> None:
    """Refuse a target that can be read in two ways."""
    reason = form.explain_ambiguity(log, check)
    if reason is not None:
        raise DataError(reason)


@dataclass(frozen=True, eq=False)
class Policy(TargetForm):
    """The target's probabilities of all actions (n x A)."""

    values: Any

    @property
    def given(self) -> Any:
        return self.values

    def resolve(self, log: Log, check: Checker) -> Target:
        value = align_rows("target", self.values, log.index, check)
        probs = check_policy("target", value, len(log), log.known_actions, check)
        return Target(probs[np.arange(len(log)), log.action], probs)


@dataclass(frozen=True, eq=False)
class FixedShares(TargetForm):
    """A policy that draws from the same probabilities in every row, {label: probability}."""

    shares: Mapping[Any, Any]

    @property
    def given(self) -> Any:
        return self.shares

    def resolve(self, log: Log, check: Checker) -> Target:
        given = check.rename("target", "as {label: probability}").floats("target", [list(self.shares.values())], ndim=2)
        line = order_columns("target", Matrix(given, tuple(self.shares)), log.known_actions, check, sparse=True)
        check.probabilities("target", line)
        return Target(line[0][log.action], np.tile(line, (len(log), 1)))


def is_function(value: Any) -> bool:
    """Say whether a target is a function of the context, whose columns it knows by their places."""
    return callable(value.given if isinstance(value, TargetForm) else value)


def has_fixed_shares(value: Any) -> bool:
    """Say whether a mapping is one policy, {label: probability}, and not several targets by name."""
    numbers = value.values() if isinstance(value, Mapping) else ()
    return bool(numbers) and all(isinstance(one, Real) and not isinstance(one, bool) for one in numbers)


def find_form(value: Any, log: Log) -> TargetForm:
    """Return what a user's target is, by its shape and its kind of values."""
    if isinstance(value, TargetForm):
        return value
    if callable(value):
        return find_form(call_on_context(value, log.context, log.index), log)
    if isinstance(value, Mapping):
        return FixedShares(value)
    dimensions = count_dimensions(value)
    if dimensions == 3:
        way = "Of an `action_dist` of obp take `cf.from_action_dist(action_dist, feedback)`."
        raise DataError(f"`target` must be rows x actions, got {np.shape(value)}. {way}")
    if dimensions == 0 or (dimensions == 1 and are_labels(value)):
        return Actions(value)
    return Probabilities(value, is_sure=False) if dimensions == 1 else Policy(value)


def are_labels(value: Any) -> bool:
    """Say whether values can only be labels: text, times, or a categorical."""
    array = np.asarray(value)
    is_text = array.dtype.kind in "USMm" or (array.dtype.kind == "O" and any(isinstance(one, str) for one in array))
    return is_text or is_categorical(value)


def as_target(value: Any, log: Log, check: Checker = WHOLE) -> Target:
    """Return a checked target from what the user gave.

    That is a matrix of probabilities (n x A), a vector (n) of those of the logged actions, or of labels of the actions
    that the target would take, one label, a mapping {label: probability}, or a function of the context that returns any
    of these. On a log of doses the target is the dose it would give in each row (n), or several draws of it (n x m).
    """
    if log.dose is not None:
        given = value.given if isinstance(value, TargetForm) else value
        return _of_doses(call_on_context(given, log.context, log.index), log, check)
    return find_form(value, log).resolve(log, check)


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
