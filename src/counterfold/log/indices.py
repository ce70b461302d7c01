"""Indices of pandas: rows of several frames belong together by their labels, not by their places."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError, ParameterError, blame
from counterfold.base.validation import WHOLE, Checker

WAYS = "Give both the same index, or say that rows go by position: `.reset_index(drop=True)` or `.to_numpy()`."


def find_index(value: Any) -> Any:
    """Return the index of a pandas frame or column, which labels its rows; nothing of anything else."""
    index = getattr(value, "index", None)
    return None if callable(index) else index


def choose_index(values: Iterable[Any]) -> Any:
    """Return the first index that tells more than a count of the rows, or else the first one, if there is any."""
    found = [index for index in map(find_index, values) if index is not None]
    telling = [index for index in found if not np.array_equal(index, np.arange(len(index)))]
    return next(iter([*telling, *found]), None)


def call_on_context(value: Any, context: Floats, index: Any) -> Any:
    """Return what a function makes of the log's own rows, with the log's index; anything else as it is."""
    if not callable(value):
        return value
    name = value.__name__ if hasattr(value, "__name__") else type(value).__name__
    with blame(ParameterError, "the function `{}` of `target`, on a context of shape {},", name, context.shape):
        found = value(context)
    if callable(found):
        raise ParameterError(
            f"the function `{name}` of `target` must return probabilities or labels, got {messages.shorten(found)}."
        )
    own = find_index(found)
    return found if own is None or index is None or len(own) != len(index) else found.set_axis(index)


def align_rows(name: str, value: Any, index: Any, check: Checker = WHOLE) -> Any:
    """Return a pandas frame or column with its rows in the order of the log's index, or refuse it.

    What is not of pandas goes by position. An index that only counts rows does not tell where they belong in a log with
    another index; and one that counts them in another order does not tell where they belong in a log without an index.
    """
    own = find_index(value)
    if own is None or (index is not None and len(own) != len(index)):  # whose length is checked elsewhere
        return value
    counted = np.arange(len(own))
    wanted = counted if index is None else index
    differs = np.asarray(own, dtype=object) != np.asarray(wanted, dtype=object)
    if own.equals(index) or not differs.any():
        return value
    places = own.get_indexer(wanted) if own.is_unique else np.array([-1])
    is_reordered = bool((places >= 0).all())
    if index is None and not is_reordered:
        return value
    if index is not None and is_reordered and not np.array_equal(own, counted):
        return value.iloc[places]
    where = f"{int(differs.sum())} of {len(own)} rows, first at row {int(np.argmax(differs))}"
    raise DataError(f"{check.called(name)} must have the index of the log, got another one in {where}. {WAYS}")


def align_several(name: str, values: Any, index: Any, check: Checker) -> Any:
    """Return several frames by their labels, each with its rows in the order of the log's index."""
    if not isinstance(values, Mapping):
        return values
    return {label: align_rows(name, value, index, check) for label, value in values.items()}
