"""The parts of a log, each checked alone or against the others: what the user gave in, plain arrays out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterfold import checks, words
from counterfold.arrays import Bools, Floats, Ints
from counterfold.errors import DataError

PROPENSITY_TOLERANCE = 1e-6

FEW_LABELS = 1 << 16
"""Up to what range whole numbers are counted rather than sorted."""

Columns = tuple[Any, ...] | None


@dataclass(frozen=True, eq=False)
class Loggers:
    """Several logging policies: which one took each decision (n), and what each would have done (L x n x A)."""

    labels: tuple[Any, ...]
    codes: Ints
    probs: Floats

    @property
    def own(self) -> Floats:
        """Return the probabilities of the policy that took each decision (n x A)."""
        return checks.frozen(self.probs[self.codes, np.arange(len(self.codes))])


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


def arranged(name: str, array: Floats, columns: Columns, actions: tuple[Any, ...], *, sparse: bool = False) -> Floats:
    """Return `array` with one column per action, in the order of `actions`; a `sparse` one may lack some, all 0."""
    if columns is not None and sparse and len(columns) < len(actions):
        named = set(map(str, columns))
        lacking = [str(action) for action in actions if str(action) not in named]
        array, columns = np.hstack([array, np.zeros((len(array), len(lacking)))]), (*columns, *lacking)
    checks.width(name, array, actions)
    if columns is None:
        return array
    place = {str(column): number for number, column in enumerate(columns)}
    if set(place) != set(map(str, actions)):
        raise DataError(f"the columns of `{name}` must be named after the actions, got {', '.join(place)}.")
    return checks.frozen(np.ascontiguousarray(array[:, [place[str(action)] for action in actions]]))


def rewards_of(reward: ArrayLike) -> Floats:
    """Return the rewards, of which there must be two at least, and different ones."""
    rewards = checks.floats("reward", reward, ndim=1)
    if not checks.is_part():
        enough(len(rewards))
    checks.finite("reward", rewards)
    if not checks.is_part():
        varied("reward", rewards.min(), rewards.max(), len(rewards))
    return rewards


def enough(rows: int) -> None:
    """Require two rows at least."""
    if rows < 2:
        raise DataError(f"a log must have at least 2 rows, got {rows}.")


def varied(name: str, low: float, high: float, rows: int) -> None:
    """Require numbers that differ."""
    if low == high:
        raise DataError(f"`{name}` must vary, got {low} in all {rows} rows: there is nothing to compare.")


def labels_of(name: str, value: Any, rows: int) -> NDArray[Any]:
    """Return one label per row, none of them missing."""
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


def distinct(name: str, labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the different labels, sorted, and the place of each row's label among them."""
    if labels.dtype.kind in "iu" and len(labels) and int(labels.max()) - int(labels.min()) < FEW_LABELS:
        codes = (labels - labels.min()).astype(np.intp)
        seen = np.bincount(codes) > 0
        return np.flatnonzero(seen).astype(labels.dtype) + labels.min(), (np.cumsum(seen) - 1)[codes]
    try:
        unique, places = np.unique(labels, return_inverse=True)
    except TypeError:
        raise DataError(f"`{name}` must be labels of one kind, got a mixture that cannot be sorted.") from None
    return unique, places


def action_set(
    labels: NDArray[Any], given: Sequence[Any] | None, columns: Columns, width: int | None
) -> tuple[Any, ...]:
    """Return all actions: those given, or those that name the probabilities' columns, or those seen."""
    if given is None:
        given = columns if columns is not None else _seen(labels, width)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"`actions` must be a list of labels, got {given!r}.")
    actions = tuple(np.asarray(given).tolist())
    if len(set(actions)) < len(actions):
        raise DataError(f"`actions` must be different labels, got {len(actions) - len(set(actions))} repeated.")
    if len(actions) < 2 and not checks.is_part():
        raise DataError(f"a log must know at least 2 actions, got {len(actions)}: there is nothing to choose between.")
    return actions


def _seen(labels: NDArray[Any], width: int | None) -> Sequence[Any]:
    if width is not None and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < width:
        return range(width)
    return list(distinct("action", labels)[0].tolist())


def codes_of(name: str, labels: NDArray[Any], known: tuple[Any, ...]) -> Ints:
    """Return the place of each label among the known ones; 7, 7.0 and "7" are the same label."""
    if (
        labels.dtype.kind in "iu"
        and known == tuple(range(len(known)))
        and labels.min() >= 0
        and labels.max() < len(known)
    ):
        return checks.frozen(labels.astype(np.intp))
    code = {_text(label): number for number, label in enumerate(known)}
    unique, where = distinct(name, labels)
    codes = np.array([code.get(_text(label), -1) for label in unique.tolist()], dtype=np.intp)[where]
    checks.every(name, labels, codes >= 0, f"one of the {len(known)} known {name}s ({words.some(known)})")
    return checks.frozen(codes)


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def context_of(context: Any, rows: int) -> tuple[Floats, tuple[str, ...]]:
    """Return the context and the names of its columns."""
    if context is None:
        return np.empty((rows, 0)), ()
    array, columns = matrix("context", context, rows)
    names = tuple(map(str, range(array.shape[1]) if columns is None else columns))
    if not (np.abs(array) <= checks.LARGEST).all():
        for name, column in zip(names, array.T, strict=True):
            checks.finite(f"context` column `{name}", column)
    return array, names


def availability_of(available: Any, codes: Ints, actions: tuple[Any, ...]) -> Bools | None:
    """Return which actions could be taken in each row, which must include the logged one."""
    if available is None:
        return None
    mask, columns = matrix("available", available, len(codes))
    mask = arranged("available", mask, columns, actions)
    checks.every("available", mask, (mask == 0) | (mask == 1), "true or false")
    logged = mask[np.arange(len(codes)), codes] == 1
    checks.every("available", logged, logged, "true for the logged action")
    return checks.frozen(mask.astype(bool))


def probabilities_of(name: str, value: Any, rows: int, actions: tuple[Any, ...]) -> Floats:
    """Return a policy's probabilities with one column per action."""
    array, columns = matrix(name, value, rows)
    probs = arranged(name, array, columns, actions, sparse=True)
    checks.probabilities(name, probs)
    return probs


def propensity_of(propensity: ArrayLike | None, probs: Floats | None, codes: Ints, source: str) -> Floats:
    """Return the probability with which each logged action was taken; where it is known twice, both must agree."""
    if probs is None:
        if propensity is None:
            raise DataError("a log must have `logging_probs` or `propensity`, got neither.")
        given = _numbers("propensity", propensity, len(codes))
        checks.propensities(given)
        return given
    logged = checks.frozen(probs[np.arange(len(codes)), codes])
    likely = logged >= checks.SMALLEST_PROPENSITY
    checks.every(source, logged, likely, f"at least {checks.SMALLEST_PROPENSITY:g} for the logged action")
    if propensity is not None:
        given = propensity_of(propensity, None, codes, source)
        agree = np.abs(given - logged) <= PROPENSITY_TOLERANCE
        checks.every("propensity", given, agree, f"the logged action's entry of `{source}`")
    return logged


def doses_of(dose: ArrayLike, rows: int) -> Floats:
    """Return the doses, which must differ."""
    doses = _numbers("dose", dose, rows)
    varied("dose", doses.min(), doses.max(), rows)
    if np.ptp(doses) < 1 / checks.LARGEST:
        raise DataError(f"`dose` must vary by at least {1 / checks.LARGEST:g}, got {doses.min()} to {doses.max()}.")
    return doses


def densities_of(propensity: ArrayLike | None, rows: int) -> Floats:
    """Return the densities with which doses were given; unlike probabilities they may exceed 1."""
    if propensity is None:
        raise DataError("a log of doses must have `propensity`, the probability density of each, got none.")
    given = _numbers("propensity", propensity, rows)
    least = checks.SMALLEST_PROPENSITY
    checks.every("propensity", given, given >= least, f"a probability density of at least {least:g}")
    return given


def _numbers(name: str, value: ArrayLike, rows: int) -> Floats:
    numbers = checks.floats(name, value, ndim=1)
    checks.length(name, numbers, rows)
    checks.finite(name, numbers)
    return numbers


def loggers_of(logger: Any, probs: Any, rows: int, actions: tuple[Any, ...]) -> Loggers:
    """Return the logging policies, at least two of which must have taken decisions."""
    known = tuple(probs)
    codes = codes_of("logger", labels_of("logger", logger, rows), known)
    if not checks.is_part() and len(np.unique(codes)) < 2:
        raise DataError(f"`logger` must name at least 2 policies, got {known[codes[0]]} in all {rows} rows.")
    every = [probabilities_of(f"logger_probs` of `{label}", probs[label], rows, actions) for label in known]
    return Loggers(known, codes, checks.frozen(np.stack(every)))


def several(logger: Any, probs: Any) -> bool:
    """Say whether several policies logged; what is known of them must come in pairs."""
    if logger is None and probs is None:
        return False
    if logger is None or not isinstance(probs, Mapping) or not probs:
        raise DataError(
            "`logger` and `logger_probs` must come together: a label per row, and the probabilities of every logging "
            f"policy in every row by label, got {'no `logger`' if logger is None else 'no such `logger_probs`'}."
        )
    return True


def action_features_of(value: Any, actions: tuple[Any, ...]) -> Floats:
    """Return the features of the actions (A x k), in the order of the actions or by label (a pandas frame's index)."""
    index = getattr(value, "index", None)
    if index is not None and not callable(index) and list(index) != list(range(len(index))):
        value = dict(zip(index, np.asarray(value), strict=True))
    if isinstance(value, Mapping):
        by_label = {_text(label): features for label, features in value.items()}
        missing = [action for action in actions if _text(action) not in by_label]
        if missing:
            raise DataError(
                f"`action_features` must hold every action, got none for {len(missing)} of {len(actions)}: "
                f"{words.some(missing)}."
            )
        value = [by_label[_text(action)] for action in actions]
    features = checks.floats("action_features", value, ndim=2, per="action")
    if len(features) != len(actions) or features.shape[1] == 0:
        raise DataError(f"`action_features` must have one row per action ({len(actions)}), got {features.shape}.")
    bad = [action for action, row in zip(actions, features, strict=True) if not (np.abs(row) <= checks.LARGEST).all()]
    if bad:
        counted = f"{len(bad)} of {len(actions)} actions: {words.some(bad)}"
        raise DataError(f"`action_features` must be finite, got other numbers for {counted}.")
    return features


def groups_of(group: ArrayLike, rows: int) -> Ints:
    """Return the number of each row's group."""
    unique, codes = distinct("group", labels_of("group", group, rows))
    if not checks.is_part() and len(unique) < 2:
        raise DataError(f"`group` must have at least 2 different groups, got {len(unique)}.")
    return checks.frozen(codes)
