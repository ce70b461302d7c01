"""What may be a label, whatever kind of array it comes in: whole numbers, text, true and false, dates."""

from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from counterfold.base import messages
from counterfold.base.dictionaries import read_array
from counterfold.base.errors import DataError
from counterfold.base.validation import Checker

EXACT = 1 << 53
"""Beyond this, whole numbers that are stored as floats may have lost digits, and two labels may have become one."""

KINDS: dict[str, tuple[type, ...]] = {
    "true and false": (bool, np.bool_),
    "numbers": (Real, Decimal),
    "text": (str, bytes, Enum, UUID),
    "dates": (date, np.datetime64),
    "times": (time, timedelta, np.timedelta64),
}
"""What Python objects may be labels; a column holds one of these kinds. Numbers follow booleans, which are such."""

MISSING = " In CSV, NA and empty fields are missing unless they are in quotes."

PLAIN = "Labels are text, whole numbers, true and false, or dates: write other things as text."


def check_labels(name: str, value: Any, rows: int, check: Checker) -> NDArray[Any]:
    """Return one label per row, none of them missing; dates and bytes as text, and 7.0 as 7 where all are whole."""
    try:
        labels = np.asarray(_fill(value)) if isinstance(value, np.ma.MaskedArray) else _read(value)
    except ValueError:
        raise DataError(f"{check.called(name)} must be one label per row, got lists of different lengths.") from None
    if labels.ndim != 1:
        raise DataError(f"{check.called(name)} must be one label per row, got shape {labels.shape}.")
    check.length(name, labels, rows)
    if labels.dtype.kind not in BY_KIND:
        raise DataError(f"{check.called(name)} must be labels, got {labels.dtype}. {PLAIN}")
    return BY_KIND[labels.dtype.kind](name, labels, check)


def _read(value: Any) -> NDArray[Any]:
    """Return labels as an array, of objects where numpy's arrays of text would change some of a list or of a Series.

    These write other things than text as text, and drop characters of code 0 at the end of texts.
    """
    labels = read_array(value)
    if labels.dtype.kind not in "US" or isinstance(value, np.ndarray):
        return labels
    cells = value.to_list() if hasattr(value, "to_list") else value  # a Series of polars is text of numpy by itself
    if not isinstance(cells, (list, tuple)):
        return labels
    are_text = all(issubclass(kind, str) for kind in set(map(type, cells)))
    if are_text and not any(label.endswith("\0") for label in cells):
        return labels
    return np.array(cells, dtype=object)


def _fill(masked: Any) -> Any:
    """Return a masked array with nothing where it is masked."""
    filled = np.array(masked.data, dtype=object)
    filled[np.ma.getmaskarray(masked)] = None
    return filled


def _keep(_name: str, labels: NDArray[Any], _check: Checker) -> NDArray[Any]:
    return labels


def _check_floats(name: str, labels: NDArray[Any], check: Checker) -> NDArray[Any]:
    """Return whole numbers as such: pandas stores them as floats where one was missing."""
    check.every(name, labels, ~np.isnan(labels), "a label in every row")
    check.every(name, labels, np.abs(labels) <= EXACT, f"at most {EXACT} in size, where labels are stored as floats")
    return labels.astype(np.int64 if (labels == np.floor(labels)).all() else np.float64)


def _check_times(name: str, labels: NDArray[Any], check: Checker) -> NDArray[Any]:
    check.every(name, labels, ~np.isnat(labels), "a label in every row")
    return labels.astype(str) if labels.dtype.kind == "M" else np.array([str(one) for one in labels])  # not cut short


def _check_bytes(name: str, labels: NDArray[Any], check: Checker) -> NDArray[Any]:
    return np.asarray(decode_text(name, labels.tolist(), check), dtype=str)


def _check_objects(name: str, labels: NDArray[Any], check: Checker) -> NDArray[Any]:
    """Return Python objects if they are labels of one kind."""
    several = labels.tolist()
    if set(map(type, several)) == {str}:
        return labels
    present = np.array([_is_present(label) for label in several], dtype=bool)
    check.every(name, labels, present, "a label in every row", MISSING)
    first = {kind: place for place, kind in reversed(list(enumerate(map(_find_kind, several))))}
    if None in first:
        got = f"got {messages.shorten(several[first[None]])} at row {check.row(first[None])}"
        raise DataError(f"{check.called(name)} must be labels, {got}. {PLAIN}")
    if len(first) > 1:
        ranked = sorted(first.items(), key=lambda one: one[1])
        got = ", ".join(f"{kind} at row {check.row(place)}" for kind, place in ranked)
        raise DataError(f"{check.called(name)} must be labels of one kind, got {got}.")
    if any(isinstance(label, bytes) for label in several):
        several = decode_text(name, several, check)
    return np.array(several, dtype=object)


def _is_present(label: Any) -> bool:
    """Say whether a label is there: neither None nor NaN nor one of the other ways to be missing."""
    try:
        return label is not None and bool(label == label)  # noqa: PLR0124 (NaN does not equal itself)
    except (TypeError, ValueError):  # pandas.NA does not even answer, and an array gives several answers
        return hasattr(label, "shape")


def _find_kind(label: Any) -> str | None:
    """Return which kind of label an object is, if it is one."""
    return next((kind for kind, types in KINDS.items() if isinstance(label, types)), None)


def decode_text(name: str, several: list[Any], check: Checker) -> list[Any]:
    """Return bytes as the text that they are in UTF-8, and anything else as it is."""
    found = [_decode(one) if isinstance(one, bytes) else one for one in several]
    is_text = np.array([not isinstance(one, bytes) for one in found], dtype=bool)
    shown = np.array([repr(one) for one in found], dtype=object)
    check.every(name, shown, is_text, "text in UTF-8")
    return found


def _decode(label: bytes) -> str | bytes:
    """Return bytes as text, or as they are if they are none."""
    try:
        return label.decode()
    except UnicodeDecodeError:
        return label


BY_KIND: dict[str, Callable[[str, NDArray[Any], Checker], NDArray[Any]]] = {
    **dict.fromkeys("iubUT", _keep),
    **dict.fromkeys("mM", _check_times),
    "f": _check_floats,
    "S": _check_bytes,
    "O": _check_objects,
}
"""How labels are checked, by numpy's letter for the kind of array."""
