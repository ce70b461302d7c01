"""Every check of data and parameters, each raising one sentence that names the argument, the rule and the place."""

import difflib
import math
from collections.abc import Callable, Collection, Iterable

import numpy as np

from counterfold.arrays import Bools, Floats
from counterfold.errors import DataError, ParameterError

SUM_TOLERANCE = 1e-3
"""How far a row of probabilities may sum from 1: files often hold rounded or single-precision numbers."""


def floats(name: str, value: object, ndim: int) -> Floats:
    """Return `value` as a read-only float array of `ndim` dimensions, or say what it is instead."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"`{name}` must be numbers, got {_described(value)}.") from None
    if array.ndim != ndim:
        shape = {1: "one number per row", 2: "a matrix with one row per row of the log"}[ndim]
        raise DataError(f"`{name}` must be {shape}, got shape {array.shape}.")
    return frozen(array)


def frozen(array: Floats) -> Floats:
    """Return a view of `array` that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def length(name: str, array: np.ndarray, rows: int) -> None:
    """Require one entry of `array` per row of the log."""
    if len(array) != rows:
        raise DataError(f"`{name}` must have one entry per row ({rows}), got {len(array)}.")


def width(name: str, matrix: Floats, labels: Collection[object]) -> None:
    """Require one column of `matrix` per action."""
    if matrix.shape[1] != len(labels):
        raise DataError(
            f"`{name}` must have one column per action ({len(labels)}: {some(labels)}), got {matrix.shape[1]}. "
            f"If some action was never logged, list them all in `actions`."
        )


def every(name: str, array: np.ndarray, good: Bools, rule: str) -> None:
    """Require `good` everywhere; otherwise say what `array` holds in how many rows and where first."""
    by_row = np.asarray(good if good.ndim == 1 else good.all(axis=1))
    if by_row.all():
        return
    row = int(np.argmin(by_row))
    bad = array[row] if array.ndim == 1 else array[row][~good[row]][0]
    count = int((~by_row).sum())
    raise DataError(f"`{name}` must be {rule}, got {bad} in {count} of {len(by_row)} rows, first at row {row}.")


def finite(name: str, array: Floats) -> None:
    """Require every number to be finite."""
    every(name, array, np.isfinite(array), "finite")


def probabilities(name: str, array: Floats) -> None:
    """Require numbers in [0, 1] and, for a matrix, rows that sum to 1."""
    finite(name, array)
    every(name, array, (array >= 0) & (array <= 1 + SUM_TOLERANCE), "in [0, 1]")
    if array.ndim == 2:
        totals = array.sum(axis=1)
        close = np.abs(totals - 1) <= SUM_TOLERANCE
        every(name, totals, close, "rows of probabilities that sum to 1")


def propensities(array: Floats) -> None:
    """Require the logged action to have had a chance in every row."""
    finite("propensity", array)
    every("propensity", array, (array > 0) & (array <= 1), "in (0, 1]")


def parameter(rule: str, holds: Callable[[float], bool], values: dict[str, float]) -> None:
    """Require every named parameter to be a number for which `holds`."""
    for name, value in values.items():
        number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not number or math.isnan(value) or not holds(value):
            raise ParameterError(f"`{name}` must be {rule}, got {value!r}.")


def at_least(low: float, **values: float) -> None:
    """Require numbers of at least `low`; infinity is fine."""
    parameter(f"a number of at least {low}", lambda value: value >= low, values)


def above(low: float, **values: float) -> None:
    """Require finite numbers above `low`."""
    parameter(f"a finite number above {low}", lambda value: low < value < math.inf, values)


def within(low: float, high: float, **values: float) -> None:
    """Require numbers in [low, high]."""
    parameter(f"in [{low}, {high}]", lambda value: low <= value <= high, values)


def inside(low: float, high: float, **values: float) -> None:
    """Require numbers in (low, high), the ends excluded."""
    parameter(f"in ({low}, {high})", lambda value: low < value < high, values)


def whole(low: int, **values: int) -> None:
    """Require whole numbers of at least `low`."""
    parameter(f"a whole number of at least {low}", lambda value: value >= low and float(value).is_integer(), {**values})


def one_of(choices: Collection[str], **values: object) -> None:
    """Require each value to be among `choices`; suggest the nearest otherwise."""
    for name, value in values.items():
        if value not in choices:
            raise ParameterError(f"`{name}` must be {listed(choices)}, got {value!r}.{nearest(str(value), choices)}")


def some(labels: Collection[object]) -> str:
    """Return the first few labels as text."""
    return ", ".join(map(str, list(labels)[:5])) + (", ..." if len(labels) > 5 else "")


def listed(choices: Iterable[str]) -> str:
    """Return the choices as `a`, `b` or `c`."""
    *first, last = (f"`{choice}`" for choice in choices)
    return f"{', '.join(first)} or {last}" if first else last


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return a sentence that suggests the choice nearest to `name`, or nothing."""
    match = difflib.get_close_matches(name, list(choices), n=1)
    return f" Did you mean `{match[0]}`?" if match else ""


def _described(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
