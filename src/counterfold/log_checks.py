"""The arguments of a log, each checked alone or against the others: what the user gave in, plain arrays out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterfold import checks, messages
from counterfold.arrays import Bools, Floats, Ints
from counterfold.checks import WHOLE, Checker
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
        return checks.freeze(self.probs[self.codes, np.arange(len(self.codes))])


def check_matrix(name: str, value: Any, rows: int, check: Checker) -> tuple[Floats, Columns]:
    """Return a matrix with one row per row of the log, and the names of its columns if it is a frame with names."""
    names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    array = check.floats(name, value, ndim=2)
    check.length(name, array, rows)
    columns = None if names is None else tuple(names)
    return array, None if columns == tuple(range(array.shape[1])) else columns


def count_dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or what turns into one; None for ragged lists."""
    try:
        return np.ndim(value)
    except ValueError:
        return None


def order_columns(
    name: str, matrix: tuple[Floats, Columns], actions: tuple[Any, ...], check: Checker, *, sparse: bool = False
) -> Floats:
    """Return a matrix with one column per action, in the order of `actions`; a `sparse` one may lack some, all 0."""
    array, columns = matrix
    if columns is not None and sparse and len(columns) < len(actions):
        named = set(map(str, columns))
        lacking = [str(action) for action in actions if str(action) not in named]
        array, columns = np.hstack([array, np.zeros((len(array), len(lacking)))]), (*columns, *lacking)
    if array.shape[1] != len(actions):
        wanted = f"one column per action ({len(actions)}: {messages.list_some(actions)})"
        hint = "If some action was never logged, list them all in `actions`."
        raise DataError(f"{check.called(name)} must have {wanted}, got {array.shape[1]}. {hint}")
    if columns is None:
        return array
    place = {str(column): number for number, column in enumerate(columns)}
    if set(place) != set(map(str, actions)):
        raise DataError(f"the columns of {check.called(name)} must be named after the actions, got {', '.join(place)}.")
    return checks.freeze(np.ascontiguousarray(array[:, [place[str(action)] for action in actions]]))


def check_rewards(reward: ArrayLike, check: Checker) -> Floats:
    """Return the rewards; those of a whole log must be two at least, and different ones."""
    rewards = check.floats("reward", reward, ndim=1)
    if not check.is_part:
        require_rows(len(rewards))
    check.finite("reward", rewards)
    if not check.is_part:
        check.variation("reward", rewards.min(), rewards.max(), len(rewards))
    return rewards


def require_rows(rows: int) -> None:
    """Require two rows at least."""
    if rows < 2:
        raise DataError(f"a log must have at least 2 rows, got {rows}.")


def check_labels(name: str, value: Any, rows: int, check: Checker) -> NDArray[Any]:
    """Return one label per row, none of them missing."""
    try:
        labels = np.asarray(value)
    except ValueError:
        raise DataError(f"{check.called(name)} must be one label per row, got lists of different lengths.") from None
    if labels.ndim != 1:
        raise DataError(f"{check.called(name)} must be one label per row, got shape {labels.shape}.")
    check.length(name, labels, rows)
    if labels.dtype.kind in "OfmM":
        present = np.array([_is_label(label) for label in labels.tolist()])
        check.every(name, labels, present, "a label in every row")
    return labels.astype(str) if labels.dtype.kind in "SmM" else labels


def _is_label(label: Any) -> bool:
    """Say whether a label is there: neither None nor NaN nor one of the other ways to be missing."""
    try:
        return label is not None and bool(label == label)  # noqa: PLR0124 (NaN does not equal itself)
    except TypeError:  # pandas.NA does not even answer
        return False


def find_distinct(name: str, labels: NDArray[Any], check: Checker) -> tuple[NDArray[Any], Ints]:
    """Return the different labels, sorted, and the place of each row's label among them."""
    if labels.dtype.kind in "iu" and len(labels) and int(labels.max()) - int(labels.min()) < FEW_LABELS:
        codes = (labels - labels.min()).astype(np.intp)
        seen = np.bincount(codes) > 0
        return np.flatnonzero(seen).astype(labels.dtype) + labels.min(), (np.cumsum(seen) - 1)[codes]
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = "labels of one kind, got a mixture that cannot be sorted"
        raise DataError(f"{check.called(name)} must be {kinds}.") from None


def find_actions(
    labels: NDArray[Any], given: Sequence[Any] | None, columns: Columns, width: int | None, check: Checker
) -> tuple[Any, ...]:
    """Return all actions: those given, or those that name the probabilities' columns, or those seen."""
    given = columns if given is None else given
    if given is None:
        is_counted = width is not None and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < width
        given = range(width or 0) if is_counted else find_distinct("action", labels, check)[0].tolist()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DataError(f"`actions` must be a list of labels, got {given!r}.")
    actions = tuple(np.asarray(given).tolist())
    if len(set(actions)) < len(actions):
        raise DataError(f"`actions` must be different labels, got {len(actions) - len(set(actions))} repeated.")
    if len(actions) < 2 and not check.is_part:
        raise DataError(f"a log must know at least 2 actions, got {len(actions)}: there is nothing to choose between.")
    return actions


def encode_labels(name: str, labels: NDArray[Any], known: tuple[Any, ...], check: Checker) -> Ints:
    """Return the place of each label among the known ones; 7, 7.0 and "7" are the same label."""
    is_counted = labels.dtype.kind in "iu" and known == tuple(range(len(known)))
    if is_counted and labels.min() >= 0 and labels.max() < len(known):
        return checks.freeze(labels.astype(np.intp))
    code = {_text(label): number for number, label in enumerate(known)}
    unique, where = find_distinct(name, labels, check)
    codes = np.array([code.get(_text(label), -1) for label in unique.tolist()], dtype=np.intp)[where]
    check.every(name, labels, codes >= 0, f"one of the {len(known)} known {name}s ({messages.list_some(known)})")
    return checks.freeze(codes)


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def check_context(context: Any, rows: int, check: Checker) -> tuple[Floats, tuple[str, ...]]:
    """Return the context and the names of its columns."""
    if context is None:
        return np.empty((rows, 0)), ()
    array, columns = check_matrix("context", context, rows, check)
    names = tuple(map(str, range(array.shape[1]) if columns is None else columns))
    if not (np.abs(array) <= checks.LARGEST).all():
        for name, column in zip(names, array.T, strict=True):
            check.rename("context", f"column `{name}`").finite("context", column)
    return array, names


def check_availability(available: Any, codes: Ints, actions: tuple[Any, ...], check: Checker) -> Bools | None:
    """Return which actions could be taken in each row, which must include the logged one."""
    if available is None:
        return None
    mask = order_columns("available", check_matrix("available", available, len(codes), check), actions, check)
    check.every("available", mask, (mask == 0) | (mask == 1), "true or false")
    logged = mask[np.arange(len(codes)), codes] == 1
    check.every("available", logged, logged, "true for the logged action")
    return checks.freeze(mask.astype(bool))


def check_policy(name: str, value: Any, rows: int, actions: tuple[Any, ...], check: Checker) -> Floats:
    """Return a policy's probabilities with one column per action."""
    probs = order_columns(name, check_matrix(name, value, rows, check), actions, check, sparse=True)
    check.probabilities(name, probs)
    return probs


def check_propensity(
    propensity: ArrayLike | None, probs: Floats | None, codes: Ints, source: str, check: Checker
) -> Floats:
    """Return the probability with which each logged action was taken; where it is known twice, both must agree."""
    if probs is None:
        if propensity is None:
            raise DataError("a log must have `logging_probs` or `propensity`, got neither.")
        given, least = check.numbers("propensity", propensity, len(codes)), checks.SMALLEST_PROPENSITY
        check.every("propensity", given, (given > 0) & (given <= 1), "in (0, 1]")
        check.every("propensity", given, given >= least, f"at least {least:g} to be true")
        return given
    logged = checks.freeze(probs[np.arange(len(codes)), codes])
    likely = logged >= checks.SMALLEST_PROPENSITY
    check.every(source, logged, likely, f"at least {checks.SMALLEST_PROPENSITY:g} for the logged action")
    if propensity is not None:
        given = check_propensity(propensity, None, codes, source, check)
        agree = np.abs(given - logged) <= PROPENSITY_TOLERANCE
        check.every("propensity", given, agree, f"the logged action's entry of `{source}`")
    return logged


def check_doses(dose: ArrayLike, rows: int, check: Checker) -> Floats:
    """Return the doses, which must differ."""
    doses = check.numbers("dose", dose, rows)
    check.variation("dose", doses.min(), doses.max(), rows)
    if np.ptp(doses) < 1 / checks.LARGEST:
        least = f"vary by at least {1 / checks.LARGEST:g}"
        raise DataError(f"{check.called('dose')} must {least}, got {doses.min()} to {doses.max()}.")
    return doses


def check_densities(propensity: ArrayLike | None, rows: int, check: Checker) -> Floats:
    """Return the densities with which doses were given; unlike probabilities they may exceed 1."""
    if propensity is None:
        raise DataError("a log of doses must have `propensity`, the probability density of each, got none.")
    given = check.numbers("propensity", propensity, rows)
    least = checks.SMALLEST_PROPENSITY
    check.every("propensity", given, given >= least, f"a probability density of at least {least:g}")
    return given


def check_loggers(logger: Any, probs: Any, rows: int, actions: tuple[Any, ...], check: Checker) -> Loggers:
    """Return the logging policies, at least two of which must have taken decisions."""
    known = tuple(probs)
    codes = encode_labels("logger", check_labels("logger", logger, rows, check), known, check)
    if not check.is_part and len(np.unique(codes)) < 2:
        only = f"got {known[codes[0]]} in all {rows} rows"
        raise DataError(f"{check.called('logger')} must name at least 2 policies, {only}.")
    named = {label: check.rename("logger_probs", f"of `{label}`") for label in known}
    every = [check_policy("logger_probs", probs[label], rows, actions, named[label]) for label in known]
    return Loggers(known, codes, checks.freeze(np.stack(every)))


def has_several_loggers(logger: Any, probs: Any, check: Checker) -> bool:
    """Say whether several policies logged; what is known of them must come in pairs."""
    if logger is None and probs is None:
        return False
    if logger is None or not isinstance(probs, Mapping) or not probs:
        wanted = "a label per row, and the probabilities of every logging policy in every row by label"
        got = "no `logger`" if logger is None else "no such `logger_probs`"
        raise DataError(f"{check.called('logger')} and `logger_probs` must come together: {wanted}, got {got}.")
    return True


def check_action_features(value: Any, actions: tuple[Any, ...]) -> Floats:
    """Return the features of the actions (A x k), in the order of the actions or by label (a pandas frame's index)."""
    index = getattr(value, "index", None)
    if index is not None and not callable(index) and list(index) != list(range(len(index))):
        value = dict(zip(index, np.asarray(value), strict=True))
    if isinstance(value, Mapping):
        by_label = {_text(label): features for label, features in value.items()}
        missing = [action for action in actions if _text(action) not in by_label]
        if missing:
            counted = f"{len(missing)} of {len(actions)}: {messages.list_some(missing)}"
            raise DataError(f"`action_features` must hold every action, got none for {counted}.")
        value = [by_label[_text(action)] for action in actions]
    features = WHOLE.floats("action_features", value, ndim=2, per="action")
    if len(features) != len(actions) or features.shape[1] == 0:
        raise DataError(f"`action_features` must have one row per action ({len(actions)}), got {features.shape}.")
    bad = [action for action, row in zip(actions, features, strict=True) if not (np.abs(row) <= checks.LARGEST).all()]
    if bad:
        counted = f"{len(bad)} of {len(actions)} actions: {messages.list_some(bad)}"
        raise DataError(f"`action_features` must be finite, got other numbers for {counted}.")
    return features


def check_groups(group: ArrayLike, rows: int, check: Checker) -> Ints:
    """Return the number of each row's group."""
    unique, codes = find_distinct("group", check_labels("group", group, rows, check), check)
    if not check.is_part:
        check.several_groups(len(unique))
    return checks.freeze(codes)
