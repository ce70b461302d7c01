"""Every check of data and parameters, each raising one sentence that names the argument, the rule and the place."""

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from counterfold import words
from counterfold.arrays import Bools, Floats, Ints
from counterfold.errors import DataError, ParameterError

Scalar = TypeVar("Scalar", bound=np.generic)

SUM_TOLERANCE = 1e-3
"""How far a row of probabilities may sum from 1: files often hold rounded or single-precision numbers."""

LARGEST = 1e60
"""No reward, context or prediction is larger: scores hold their fourth powers, which would overflow."""

SMALLEST_PROPENSITY = 1e-30
"""No log of any size holds an action that was less likely; a smaller propensity is a mistake."""


_part: ContextVar[Ints | None] = ContextVar("part", default=None)


@contextmanager
def part(numbers: Ints) -> Iterator[None]:
    """Check some rows of a longer log: their numbers there go into errors, and nothing is asked of all rows together.

    They are arrays of our own, so they are not copied.
    """
    token = _part.set(numbers)
    try:
        yield
    finally:
        _part.reset(token)


def is_part() -> bool:
    """Say whether what is checked are some rows of a longer log."""
    return _part.get() is not None


def place(row: int) -> int:
    """Return the number of a row in the log, by its number among those that are checked."""
    numbers = _part.get()
    return row if numbers is None else int(numbers[row])


def floats(name: str, value: object, ndim: int, per: str = "row of the log") -> Floats:
    """Return a read-only copy of `value` as floats, NaN where masked, or say what it is instead."""
    try:
        raw = np.asanyarray(value)
        kind = None if raw.dtype.kind in "cmM" else np.float64
        array = np.array(raw, dtype=kind, order="C", copy=None if is_part() else True)
    except (TypeError, ValueError):
        raise DataError(f"`{name}` must be numbers, got {_described(value)}.") from None
    if array.dtype != np.float64:
        raise DataError(f"`{name}` must be numbers, got {array.dtype}.")
    if isinstance(raw, np.ma.MaskedArray):
        array[np.ma.getmaskarray(raw)] = np.nan
    if array.ndim != ndim:
        shape = {1: "one number per row", 2: f"a matrix with one row per {per}"}[ndim]
        raise DataError(f"`{name}` must be {shape}, got shape {array.shape}.")
    return frozen(array)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array after making it read-only."""
    array.flags.writeable = False
    return array


def length(name: str, array: np.ndarray, rows: int) -> None:
    """Require one entry of `array` per row of the log."""
    if len(array) != rows:
        raise DataError(f"`{name}` must have one entry per row ({rows}), got {len(array)}.")


def width(name: str, matrix: Floats, labels: Collection[object]) -> None:
    """Require one column of `matrix` per action."""
    if matrix.shape[1] != len(labels):
        raise DataError(
            f"`{name}` must have one column per action ({len(labels)}: {words.some(labels)}), got {matrix.shape[1]}. "
            f"If some action was never logged, list them all in `actions`."
        )


def every(name: str, array: np.ndarray, good: Bools, rule: str) -> None:
    """Require `good` everywhere; otherwise say what `array` holds in how many rows and where first."""
    by_row = np.asarray(good if good.ndim == 1 else good.all(axis=1))
    if by_row.all():
        return
    row = int(np.argmin(by_row))
    bad = array[row] if array.ndim == 1 else array[row][~good[row]][0]
    count, numbers = int((~by_row).sum()), _part.get()
    where = f"{count} of {len(by_row)} rows, first at row {row}"
    if numbers is not None:
        where = f"{count} of {len(by_row)} rows from row {numbers[0]} on, first at row {numbers[row]}"
    raise DataError(f"`{name}` must be {rule}, got {bad} in {where}.")


def finite(name: str, array: Floats) -> None:
    """Require every number to be finite, and small enough to compute with."""
    if array.size == 0 or (array.min() >= -LARGEST and array.max() <= LARGEST):  # False where there is a NaN
        return
    every(name, array, np.isfinite(array), "finite")
    every(name, array, np.abs(array) <= LARGEST, f"at most {LARGEST:g} in size")


def probabilities(name: str, array: Floats) -> None:
    """Require numbers in [0, 1] and, for a matrix, rows that sum to 1."""
    if array.size and not (array.min() >= 0 and array.max() <= 1 + SUM_TOLERANCE):
        finite(name, array)
        every(name, array, (array >= 0) & (array <= 1 + SUM_TOLERANCE), "in [0, 1]")
    if array.ndim == 2:
        totals = array @ np.ones(array.shape[1])
        close = np.abs(totals - 1) <= SUM_TOLERANCE
        every(name, totals, close, "rows of probabilities that sum to 1")


def propensities(array: Floats) -> None:
    """Require the logged action to have had a chance in every row."""
    finite("propensity", array)
    every("propensity", array, (array > 0) & (array <= 1), "in (0, 1]")
    every("propensity", array, array >= SMALLEST_PROPENSITY, f"at least {SMALLEST_PROPENSITY:g} to be true")


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


def positive(**values: float) -> None:
    """Require numbers above 0; infinity is fine."""
    parameter("a number above 0", lambda value: value > 0, values)


def within(low: float, high: float, **values: float) -> None:
    """Require numbers in [low, high]."""
    parameter(f"in [{low}, {high}]", lambda value: low <= value <= high, values)


def inside(low: float, high: float, **values: float) -> None:
    """Require numbers in (low, high), the ends excluded."""
    parameter(f"in ({low}, {high})", lambda value: low < value < high, values)


def whole(low: int, **values: int) -> None:
    """Require whole numbers of at least `low`."""
    rule = f"a whole number of at least {low}"
    parameter(rule, lambda value: isinstance(value, Integral) and value >= low, {**values})


def whole_or_infinite(low: int, **values: float) -> None:
    """Require whole numbers of at least `low`, or infinity."""
    rule = f"a whole number of at least {low}, or infinity"
    parameter(rule, lambda value: value >= low and (value == math.inf or float(value).is_integer()), values)


def true_or_false(**values: bool) -> None:
    """Require True or False."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ParameterError(f"`{name}` must be True or False, got {value!r}.")


def one_of(choices: Collection[str], **values: object) -> None:
    """Require each value to be among `choices`; suggest the nearest otherwise."""
    for name, value in values.items():
        if value not in choices:
            raise ParameterError(
                f"`{name}` must be {words.listed(choices)}, got {value!r}.{words.nearest(str(value), choices)}"
            )


def _described(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
