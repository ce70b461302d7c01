"""The arguments of a log, each checked alone or against the others: what the user gave in, plain arrays out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from counterfold.base import messages, validation
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.hashing import hash_labels
from counterfold.base.validation import WHOLE, Checker
from counterfold.log.encoding import EncodedContext, encode_table, read_frame
from counterfold.log.indices import find_index
from counterfold.log.known_actions import KnownActions, Naming
from counterfold.log.label_checks import check_labels
from counterfold.log.labels import find_distinct, spell_label, suggest_label

NOT_IN = (
    ' In files and frames, `missing_reward="drop"` (--missing-reward drop) leaves out rows without a reward, which is '
    'right if they are missing by chance; and `missing_reward="zero"` (--missing-reward zero) counts them as 0, which '
    "is right if none will come."
)
"""What to do about missing rewards."""

UNRELATED = " None of these is an action of the log: call them by the labels of the actions."
UNLOGGED = "If some action was never logged, list them all in `actions`."


class Matrix(NamedTuple):
    """A matrix, the names of its columns if it has any, and whether the order of these names tells anything."""

    values: Floats
    names: tuple[Any, ...] | None = None
    are_ordered: bool = False


@dataclass(frozen=True, eq=False)
class ByLabel:
    """Numbers for each action by its label, from structs, maps or JSON objects, whose names come in no order."""

    column_names: tuple[str, ...]
    values: Floats

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001 (numpy's)
        return self.values


def check_matrix(name: str, value: Any, rows: int, check: Checker) -> Matrix:
    """Return a matrix with one row per row of the log, and the names of its columns if it is a frame with names."""
    names = getattr(value, "column_names", None)
    names = getattr(value, "columns", None) if names is None else names
    array = check.floats(name, value, ndim=2)
    check.length(name, array, rows)
    if names is None or tuple(names) == tuple(range(array.shape[1])):
        return Matrix(array)
    return Matrix(array, tuple(names), not isinstance(value, ByLabel))


def count_dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or what turns into one; None for ragged lists."""
    try:
        return np.ndim(value)
    except ValueError:
        return None


def order_columns(name: str, matrix: Matrix, actions: KnownActions, check: Checker, *, sparse: bool = False) -> Floats:
    """Return a matrix with one column per action, in the order of `actions`; a `sparse` one may lack some, all 0."""
    array, names, _ = matrix
    if names is None:
        _require_order(name, array.shape[1], actions, check)
        return array
    called, listed = check.called(name), f"{len(actions)}: {messages.list_some(actions.labels)}"
    place = {str(column): number for number, column in enumerate(names)}
    found = [_find_place(place, action) for action in actions]
    known = set(found)
    unknown = [column for number, column in enumerate(names) if number not in known]
    if unknown:
        usual = UNRELATED if len(unknown) == len(names) else f" {UNLOGGED}"
        hint = next(filter(None, (suggest_label(one, actions) for one in unknown)), usual)
        got = f"got {messages.list_some(unknown)} for {listed}"
        raise DataError(f"the columns of {called} must be named after the actions, {got}.{hint}")
    lacking = [action for action, number in zip(actions, found, strict=True) if number is None]
    if lacking and not sparse:
        got = f"got none for {messages.list_some(lacking)}"
        raise DataError(f"{called} must have one column per action ({listed}), {got}.")
    return _pick_columns(array, np.array([-1 if number is None else number for number in found], dtype=np.intp))


def _pick_columns(array: Floats, places: Ints) -> Floats:
    """Return some columns of a matrix in order, with one of zeros for each place below 0; copies only what it must."""
    if np.array_equal(places, np.arange(array.shape[1])):
        return array
    picked = np.take(array, places, axis=1) if array.shape[1] else np.empty((len(array), len(places)))
    picked[:, places < 0] = 0.0
    return validation.freeze(picked)


def _require_order(name: str, width: int, actions: KnownActions, check: Checker) -> None:
    """Require that columns without names are as many as the actions, whose order must be known."""
    called, listed = check.called(name), f"{len(actions)}: {messages.list_some(actions.labels)}"
    if width != len(actions):
        raise DataError(f"{called} must have one column per action ({listed}), got {width}. {UNLOGGED}")
    if not actions.is_ordered:
        rule = "have one column per action, named after it or in a known order"
        some = messages.list_some(actions.labels)
        way = "List all actions in the order of the columns as `actions` (--actions a,b,c), or name the columns"
        raise DataError(f"{called} must {rule}, got {width} without names for the actions {some}. {way}.")


def _find_place(places: Mapping[str, int], action: Any) -> int | None:
    """Return the place of an action's column, which may be called "7" or "7.0", and "true" or "True"."""
    return next((places[text] for text in spell_label(action) if text in places), None)


def find_naming(matrices: Sequence[Matrix], categories: tuple[Any, ...] | None) -> Naming:
    """Return what the columns of several matrices and an ordered categorical tell about the actions."""
    named = sorted((one for one in matrices if one.names is not None), key=lambda one: not one.are_ordered)
    if named:
        has_one_order = len({one.names for one in named if one.are_ordered}) == 1
        return Naming(named[0].names, has_one_order, categories=categories)
    return Naming(width=matrices[0].values.shape[1] if matrices else None, categories=categories)


def check_rewards(reward: ArrayLike, check: Checker) -> Floats:
    """Return the rewards; those of a whole log must be two at least, and different ones."""
    rewards = check.floats("reward", reward, ndim=1)
    if not check.is_part:
        require_rows(len(rewards))
    check.finite("reward", rewards, NOT_IN if np.isnan(rewards).any() else "")
    if not check.is_part:
        check.variation("reward", rewards.min(), rewards.max(), len(rewards))
    return rewards


def require_rows(rows: int) -> None:
    """Require two rows at least."""
    if rows < 2:
        raise DataError(f"a log must have at least 2 rows, got {rows}.")


def check_context(context: Any, rows: int, check: Checker) -> EncodedContext:
    """Return the context as numbers, which must be finite."""
    if context is None:
        return EncodedContext(np.empty((rows, 0)), (), ())
    encoded = context if isinstance(context, EncodedContext) else encode_context(context, rows, check)
    names, array = encoded.column_names, check_matrix("context", encoded, rows, check).values
    if array.size and not (
        array.min() >= -validation.LARGEST and array.max() <= validation.LARGEST
    ):  # or there is a NaN
        is_good = np.abs(array) <= validation.LARGEST
        worst = int(np.argmin(is_good[np.argmin(is_good.all(axis=1))]))  # in the first bad row, as any engine finds it
        way = " Fill it in, or leave the column out (`ignore`, --ignore)."
        check.rename("context", f"column `{names[worst]}`").finite("context", array[:, worst], way)
    return replace(encoded, values=array)


def encode_context(context: Any, rows: int, check: Checker) -> EncodedContext:
    """Return the context that a user gave as numbers: a data frame with columns of any kind, or a matrix."""
    table = read_frame(context)
    if table is not None and table.num_columns:
        check.length("context", table, rows)
        return encode_table(table, check)
    array, columns, _ = check_matrix("context", context, rows, check)
    names = tuple(map(str, range(array.shape[1]) if columns is None else columns))
    if not np.isnan(array).any():
        return EncodedContext(array, names, names)
    return encode_table(pa.table(dict(zip(names, array.T, strict=True))), check)


def check_availability(available: Any, codes: Ints, actions: KnownActions, check: Checker) -> Bools | None:
    """Return which actions could be taken in each row, which must include the logged one."""
    if available is None:
        return None
    mask = order_columns("available", check_matrix("available", available, len(codes), check), actions, check)
    check.every("available", mask, (mask == 0) | (mask == 1), "true or false")
    logged = mask[np.arange(len(codes)), codes] == 1
    check.every("available", logged, logged, "true for the logged action")
    return validation.freeze(mask.astype(bool))


def check_policy(name: str, value: Any, rows: int, actions: KnownActions, check: Checker) -> Floats:
    """Return a policy's probabilities with one column per action."""
    return order_policy(name, check_matrix(name, value, rows, check), actions, check)


def order_policy(name: str, matrix: Matrix, actions: KnownActions, check: Checker) -> Floats:
    """Return the probabilities in a matrix with one column per action."""
    probs = order_columns(name, matrix, actions, check, sparse=True)
    check.probabilities(name, probs)
    return probs


def refuse_copies(reward: Floats, propensity: Floats, rows: int, check: Checker) -> None:
    """Refuse rewards that are the propensities in all these of the log's rows: one of the two is the wrong column."""
    if np.array_equal(reward, propensity):
        both = f"{check.called('reward')} and {check.called('propensity')}"
        raise DataError(f"{both} must be two different things, got the same number in all {rows} rows.")


def refuse_beside_doses(given: Mapping[str, Any]) -> None:
    """Refuse what a log of doses cannot have."""
    of_actions = ("action", "actions", "logging_probs", "available", "action_features", "logger", "logger_probs")
    beside = [f"`{name}` goes with `action`" for name in of_actions if given.get(name) is not None]
    if beside:
        raise DataError(f"a log must have `action` or `dose`, and {beside[0]}, got it with `dose`.")


def check_doses(dose: ArrayLike, rows: int, check: Checker) -> Floats:
    """Return the doses, which must differ."""
    doses = check.numbers("dose", dose, rows)
    check.variation("dose", doses.min(), doses.max(), rows)
    return doses


def check_action_features(value: Any, actions: tuple[Any, ...]) -> Floats:
    """Return the features of the actions (A x k), in the order of the actions or by label (a pandas frame's index)."""
    index = find_index(value)
    if index is not None and list(index) != list(range(len(index))):
        value = dict(zip(index, np.asarray(value), strict=True))
    if isinstance(value, Mapping):
        given = list(value.values())
        value = [given[place] for place in find_places(value, actions)]
    features = WHOLE.floats("action_features", value, ndim=2, per="action")
    if len(features) != len(actions) or features.shape[1] == 0:
        raise DataError(f"`action_features` must have one row per action ({len(actions)}), got {features.shape}.")
    bad = [
        action for action, row in zip(actions, features, strict=True) if not (np.abs(row) <= validation.LARGEST).all()
    ]
    if bad:
        counted = f"{len(bad)} of {len(actions)} actions: {messages.list_some(bad)}"
        raise DataError(f"`action_features` must be finite, got other numbers for {counted}.")
    return features


def find_places(labels: Iterable[Any], actions: Sequence[Any]) -> list[int]:
    """Return the place of each action among the labels that features are known of."""
    by_text = {text: place for place, label in enumerate(labels) for text in spell_label(label)}
    found = [[text for text in spell_label(action) if text in by_text] for action in actions]
    missing = [action for action, texts in zip(actions, found, strict=True) if not texts]
    if missing:
        counted = f"{len(missing)} of {len(actions)}: {messages.list_some(missing)}"
        raise DataError(f"`action_features` must hold every action, got none for {counted}.")
    return [by_text[texts[0]] for texts in found]


def check_groups(group: ArrayLike, rows: int, check: Checker) -> Ints:
    """Return the number of each row's group."""
    unique, codes = find_distinct("group", check_labels("group", group, rows, check), check)
    if not check.is_part:
        require_groups(len(unique), check)
    return validation.freeze(codes)


def require_groups(groups: int, check: Checker) -> None:
    """Require two groups at least."""
    if groups < 2:
        got = f"got {groups}.{check.hints.get('group', '')}"
        raise DataError(f"{check.called('group')} must have at least 2 different groups, {got}")


def identify_units(group: Any, rows: int, check: Checker) -> Ints:
    """Return a number for each row by which rows that belong together are known in any part of the log."""
    if group is not None:
        return hash_labels(check_labels("group", group, rows, check))
    return np.arange(rows) if check.row_numbers is None else check.row_numbers
