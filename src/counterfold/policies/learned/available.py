"""Which actions are available where a policy decides, by position or by label."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from counterfold.base.arrays import Bools
from counterfold.base.errors import DataError
from counterfold.base.messages import list_names, shorten, show
from counterfold.base.validation import WHOLE
from counterfold.log.labels import spell_label
from counterfold.policies.learned.contexts import NamedColumns


def read_available(available: Any, labels: Sequence[Any], rows: int) -> Bools | None:
    """Return which actions can be taken in each row (n x A), or nothing if all can.

    Columns of a data frame or a mapping go by the labels of the actions, those of a matrix by their order.

    >>> read_available({"b": [1], "a": [0]}, ["a", "b"], 1)
    array([[False,  True]])
    """
    if available is None:
        return None
    columns = NamedColumns.of(available)
    if columns is None or is_without_labels(columns.names, labels):
        return read_marks(available, (rows, len(labels)))
    return np.column_stack([read_marks(columns.get(find_column(columns.names, one)), (rows,)) for one in labels])


def is_without_labels(names: Sequence[str], labels: Sequence[Any]) -> bool:
    """Say whether a data frame has the names of one that was made of a matrix, and these are no labels."""
    is_counted = list(names) == list(map(str, range(len(labels))))
    return is_counted and not any(text in names for label in labels for text in spell_label(label))


def find_column(names: Sequence[str], label: Any) -> int:
    """Return the place of an action's column."""
    place = next((names.index(text) for text in spell_label(label) if text in names), None)
    if place is None:
        got = f"got none for {show(label)} among {list_names(names) or 'none'}"
        raise DataError(f"`available` must have a column for every action of the policy, {got}.")
    return place


def read_marks(values: Any, shape: tuple[int, ...]) -> Bools:
    """Return what is true or false everywhere."""
    try:
        found = np.asarray(values)
    except ValueError:  # lists of different lengths
        found = np.empty(0)
    if found.shape != shape:
        each = "" if len(shape) == 1 else f" for each of {shape[1]} actions"
        raise DataError(f"`available` must be true or false{each} in each of {shape[0]} rows, got shape {found.shape}.")
    is_good = np.vectorize(is_mark, otypes=[bool])(found)
    shown = found if is_good.all() else np.vectorize(shorten, otypes=[object])(found)  # 'false' is text
    WHOLE.every("available", shown, is_good, "true or false")
    return found.astype(bool)


def is_mark(value: Any) -> bool:
    """Say whether a value is true or false, or 1 or 0."""
    return isinstance(value, (bool, np.bool_, Real)) and value in {0, 1}
