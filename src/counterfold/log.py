"""Log: validated logged data, one row per decision."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterfold import checks, words
from counterfold.arrays import Bools, Floats, Ints
from counterfold.errors import DataError

PROPENSITY_TOLERANCE = 1e-6

Columns = tuple[Any, ...] | None


class Log:
    """What the old policy saw, did and got; checked once, here, and trusted everywhere else.

    Every argument takes a numpy array or anything that turns into one: a list, a pandas or polars column or frame, a
    pyarrow array; the log keeps copies. Give `logging_probs` if you have them, as `propensity` alone leaves some
    estimators out.

    - `context`: numbers, one row per decision; without it the reward model knows the action alone.
    - `action`: labels of any one kind. `actions` lists all labels in the order of the probabilities' columns; by
      default it is the columns' names, or 0 to A - 1 for whole-number labels below A, or the sorted labels seen.
    - `group`: a user or session per row. Splits keep groups together and errors treat a group as one observation.
    - `available`: which actions could be taken in each row (n x A of booleans).

    >>> import counterfold as cf
    >>> log = cf.Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    >>> log
    Log(3 rows, 2 actions, 0 context columns, propensities only)
    """

    def __init__(
        self,
        *,
        action: ArrayLike,
        reward: ArrayLike,
        context: ArrayLike | None = None,
        logging_probs: ArrayLike | None = None,
        propensity: ArrayLike | None = None,
        group: ArrayLike | None = None,
        available: ArrayLike | None = None,
        actions: Sequence[Any] | None = None,
    ) -> None:
        """Check every argument and keep what the estimators need."""
        self.reward: Floats = _rewards(reward)
        labels = _labels("action", action, len(self))
        probs, columns = (None, None) if logging_probs is None else matrix("logging_probs", logging_probs, len(self))
        self.actions: tuple[Any, ...] = _action_set(labels, actions, columns, None if probs is None else probs.shape[1])
        self.action: Ints = _codes(labels, self.actions)
        self.context_names: tuple[str, ...]
        self.context, self.context_names = _context(context, len(self))
        self.available: Bools | None = _available(available, self.action, self.actions)
        self.logging_probs: Floats | None = None
        if probs is not None:
            self.logging_probs = arranged("logging_probs", probs, columns, self.actions)
            checks.probabilities("logging_probs", self.logging_probs)
        self.propensity: Floats = _propensity(propensity, self.logging_probs, self.action)
        self.group: Ints | None = None if group is None else _groups(group, len(self))
        if self.logging_probs is not None and self.available is not None:
            allowed = self.available | (self.logging_probs == 0)
            checks.every("logging_probs", self.logging_probs, allowed, "0 where an action is not `available`")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.reward)

    def __repr__(self) -> str:
        """Say what is inside."""
        known = "propensities only" if self.logging_probs is None else "full logging probabilities"
        return f"Log({len(self)} rows, {len(self.actions)} actions, {self.context.shape[1]} context columns, {known})"

    @cached_property
    def supported(self) -> Bools:
        """Return which actions the log could have taken in each row (n x A), as far as the log tells."""
        if self.logging_probs is not None:
            return np.asarray(self.logging_probs > 0)
        if self.available is not None:
            return self.available
        seen = np.bincount(self.action, minlength=len(self.actions)) > 0
        return np.broadcast_to(seen, (len(self), len(self.actions)))


def matrix(name: str, value: Any, rows: int) -> tuple[Floats, Columns]:
    """Return a matrix with one row per row of the log, and the names of its columns if it is a frame with names."""
    names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    array = checks.floats(name, value, ndim=2)
    checks.length(name, array, rows)
    columns = None if names is None else tuple(names)
    return array, None if columns == tuple(range(array.shape[1])) else columns


def dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or what turns into one; None for ragged lists."""
    try:
        return np.ndim(value)
    except ValueError:
        return None


def arranged(name: str, array: Floats, columns: Columns, actions: tuple[Any, ...]) -> Floats:
    """Return `array` with one column per action, in the order of `actions`."""
    checks.width(name, array, actions)
    if columns is None:
        return array
    place = {str(column): number for number, column in enumerate(columns)}
    if set(place) != set(map(str, actions)):
        raise DataError(f"the columns of `{name}` must be named after the actions, got {', '.join(place)}.")
    return checks.frozen(np.ascontiguousarray(array[:, [place[str(action)] for action in actions]]))


def _rewards(reward: ArrayLike) -> Floats:
    rewards = checks.floats("reward", reward, ndim=1)
    if len(rewards) < 2:
        raise DataError(f"a log must have at least 2 rows, got {len(rewards)}.")
    checks.finite("reward", rewards)
    if np.ptp(rewards) == 0:
        raise DataError(
            f"`reward` must vary, got {rewards[0]} in all {len(rewards)} rows: there is nothing to compare."
        )
    return rewards


def _labels(name: str, value: Any, rows: int) -> NDArray[Any]:
    try:
        labels = np.asarray(value)
    except ValueError:
        raise DataError(f"`{name}` must be one label per row, got lists of different lengths.") from None
    if labels.ndim != 1:
        raise DataError(f"`{name}` must be one label per row, got shape {labels.shape}.")
    checks.length(name, labels, rows)
    if labels.dtype.kind in "OfmM":
        present = np.array([_is_label(label) for label in labels.tolist()])
        checks.every(name, labels, present, "a label in every row")
    return labels.astype(str) if labels.dtype.kind in "SmM" else labels


def _is_label(label: Any) -> bool:
    """Say whether a label is there: neither None nor NaN nor one of the other ways to be missing."""
    try:
        return label is not None and bool(label == label)  # noqa: PLR0124 (NaN does not equal itself)
    except TypeError:  # pandas.NA does not even answer
        return False


def _distinct(name: str, labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the different labels, sorted, and the place of each row's label among them."""
    try:
        unique, places = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DataError(f"`{name}` must be labels of one kind, got a mixture that cannot be sorted.") from None
    return unique, places


def _action_set(
    labels: NDArray[Any], given: Sequence[Any] | None, columns: Columns, width: int | None
) -> tuple[Any, ...]:
    if given is None:
        given = columns if columns is not None else _seen(labels, width)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"`actions` must be a list of labels, got {given!r}.")
    actions = tuple(np.asarray(given).tolist())
    if len(set(actions)) < len(actions):
        raise DataError(f"`actions` must be different labels, got {len(actions) - len(set(actions))} repeated.")
    if len(actions) < 2:
        raise DataError(f"a log must know at least 2 actions, got {len(actions)}: there is nothing to choose between.")
    return actions


def _seen(labels: NDArray[Any], width: int | None) -> Sequence[Any]:
    if width is not None and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < width:
        return range(width)
    return list(_distinct("action", labels)[0].tolist())


def _codes(labels: NDArray[Any], actions: tuple[Any, ...]) -> Ints:
    """Return the place of each label among the actions; 7, 7.0 and "7" are the same label."""
    code = {_text(label): number for number, label in enumerate(actions)}
    unique, where = _distinct("action", labels)
    codes = np.array([code.get(_text(label), -1) for label in unique.tolist()], dtype=np.intp)[where]
    checks.every("action", labels, codes >= 0, f"one of the {len(actions)} known actions ({words.some(actions)})")
    return checks.frozen(codes)


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _context(context: Any, rows: int) -> tuple[Floats, tuple[str, ...]]:
    if context is None:
        return np.empty((rows, 0)), ()
    array, columns = matrix("context", context, rows)
    names = tuple(map(str, range(array.shape[1]) if columns is None else columns))
    if not (np.abs(array) <= checks.LARGEST).all():
        for name, column in zip(names, array.T, strict=True):
            checks.finite(f"context` column `{name}", column)
    return array, names


def _available(available: Any, codes: Ints, actions: tuple[Any, ...]) -> Bools | None:
    if available is None:
        return None
    mask, columns = matrix("available", available, len(codes))
    mask = arranged("available", mask, columns, actions)
    checks.every("available", mask, (mask == 0) | (mask == 1), "true or false")
    logged = mask[np.arange(len(codes)), codes] == 1
    checks.every("available", logged, logged, "true for the logged action")
    return checks.frozen(mask.astype(bool))


def _propensity(propensity: ArrayLike | None, probs: Floats | None, codes: Ints) -> Floats:
    if probs is None:
        if propensity is None:
            raise DataError("a log must have `logging_probs` or `propensity`, got neither.")
        return _given_propensity(propensity, len(codes))
    logged = probs[np.arange(len(codes)), codes]
    likely = logged >= checks.SMALLEST_PROPENSITY
    checks.every("logging_probs", logged, likely, f"at least {checks.SMALLEST_PROPENSITY:g} for the logged action")
    if propensity is not None:
        given = _given_propensity(propensity, len(codes))
        agree = np.abs(given - logged) <= PROPENSITY_TOLERANCE
        checks.every("propensity", given, agree, "the logged action's entry of `logging_probs`")
    return checks.frozen(logged)


def _given_propensity(propensity: ArrayLike, rows: int) -> Floats:
    given = checks.floats("propensity", propensity, ndim=1)
    checks.length("propensity", given, rows)
    checks.propensities(given)
    return given


def _groups(group: ArrayLike, rows: int) -> Ints:
    unique, codes = _distinct("group", _labels("group", group, rows))
    if len(unique) < 2:
        raise DataError(f"`group` must have at least 2 different groups, got {len(unique)}.")
    return checks.frozen(codes)
