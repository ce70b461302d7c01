"""Checks of one array or one parameter; each raises one sentence that names the argument, the rule and the place.

The checks of a log's arguments against each other are in `log_checks.py`.
"""

import math
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold.base import messages
from counterfold.base.arrays import Bools, Floats, Ints, Scalar
from counterfold.base.errors import DataError, ParameterError

SUM_TOLERANCE = 1e-3
"""How far a row of probabilities may sum from 1: files often hold rounded or single-precision numbers."""

ROUNDING = 0.005
"""How far two digits may be from a probability."""

ROUNDED = (
    " No row is farther off than {:.2g}, as if they were rounded. Keep more digits, or divide each row by its sum."
)
"""What to do with rows that nearly sum to 1."""

LARGEST = 1e60
"""No reward, context or prediction is larger: scores hold their fourth powers, which would overflow."""

SMALLEST_SPREAD = 1 / LARGEST
"""Rewards and doses vary by no less: squares of smaller numbers would be 0, and so would errors be."""

SMALLEST_SHARE = 1e-12
"""They vary by no less than this share of their size: rounding errors would be a part of what is left."""

FIRST = 1 << 14
"""How many of the first rows tell what the columns of a log, or of a target, hold."""

PLAIN_NUMBERS = (
    " Write plain numbers, such as 0.12 for 12%, 0.5 for 0,5, 1234.5 for 1,234.5 or $1,234.50, and 1 and 0 for yes and "
    "no or true and false, or leave these rows out."
)

NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
"""Text that is read as a number."""

SMALLEST_PROPENSITY = 1e-30
"""No log of any size holds an action that was less likely; a smaller propensity is a mistake."""

LARGEST_COUNT = 2**63 - 1
"""No array has more entries, so that no parameter that counts things is larger."""

LARGEST_SEED = 2**128 - 1
"""No seed is larger: numpy advises seeds of 128 bits."""


@dataclass(frozen=True, eq=False)
class Checker:
    """Checks the arrays of a log, and names their rows and columns in errors.

    `row_numbers` are the places of the rows in a longer log, if they are a part of one: rules about all rows together
    are then left to whoever sees them all, unless these rows are the whole of what is left of it. `names` says what an
    argument is called, where that is more than its name in backticks, and `hints` what to do if it is wrong. Arrays are
    not copied if nobody else holds them, as those `are_private` that were read from a file.
    """

    row_numbers: Ints | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    are_private: bool = False
    is_whole: bool = False

    @property
    def is_part(self) -> bool:
        """Say whether the rows are a part of a longer log."""
        return self.row_numbers is not None and not self.is_whole

    @property
    def start(self) -> str:
        """Return where the rows begin, behind their number in errors, if they are a part of a longer log."""
        return f" from row {self.row(0)} on" if self.is_part else ""

    def name_columns(self, roles: Mapping[str, str]) -> "Checker":
        """Return the same, with the column of each role beside the role's name where the two differ."""
        named = {role: f"`{role}` (column `{messages.show(one)}`)" for role, one in roles.items() if one != role}
        return replace(self, names={**self.names, **named})

    def rename(self, name: str, addition: str) -> "Checker":
        """Return the same, with an addition behind what an argument is called."""
        return replace(self, names={**self.names, name: f"{self.called(name)} {addition}"})

    def called(self, name: str) -> str:
        """Return what an argument is called in errors."""
        return self.names.get(name, f"`{name}`")

    def row(self, place: int) -> int:
        """Return the number in the log of the row at a place among those that are checked."""
        return place if self.row_numbers is None else int(self.row_numbers[place])

    def floats(self, name: str, value: object, ndim: int, per: str = "row of the log") -> Floats:
        """Return a read-only copy of `value` as floats, NaN where masked, or say what it is instead.

        Text is read if it is a number, as in files that quote all numbers.
        """
        try:
            raw = np.asanyarray(value)
        except (TypeError, ValueError):
            raise DataError(f"{self.called(name)} must be numbers, got {messages.shorten(value)}.") from None
        if raw.dtype.kind in "cmMV":
            raise DataError(f"{self.called(name)} must be numbers, got {raw.dtype}.")
        if raw.dtype.kind in "OSU" and not all(map(is_number, raw.ravel().tolist())):
            self.name_strangers(name, raw)
        try:
            array = np.array(raw, dtype=np.float64, order="C", copy=None if self.is_part or self.are_private else True)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{self.called(name)} must be numbers, got {messages.shorten(value)}.") from None
        if isinstance(raw, np.ma.MaskedArray):
            array[np.ma.getmaskarray(raw)] = np.nan
        if array.ndim != ndim:
            shape = {1: "one number per row", 2: f"a matrix with one row per {per}"}[ndim]
            raise DataError(f"{self.called(name)} must be {shape}, got shape {array.shape}.")
        return freeze(array)

    def name_strangers(self, name: str, values: np.ndarray) -> None:
        """Refuse what is no number among several values, and say where it is."""
        if values.ndim in (1, 2) and values.size:
            good = np.vectorize(is_number, otypes=[bool])(values)
            self.every(name, np.vectorize(messages.shorten, otypes=[object])(values), good, "numbers", PLAIN_NUMBERS)

    def length(self, name: str, array: np.ndarray, rows: int) -> None:
        """Require one entry of `array` per row of the log."""
        if len(array) != rows:
            raise DataError(f"{self.called(name)} must have one entry per row ({rows}), got {len(array)}.")

    def every(self, name: str, array: np.ndarray, good: Bools, rule: str, hint: str = "") -> None:
        """Require `good` everywhere; otherwise say what `array` holds in how many rows and where first, and a hint."""
        by_row = np.asarray(good if good.ndim == 1 else good.all(axis=1))
        if by_row.all():
            return
        place = int(np.argmin(by_row))
        bad = array[place] if array.ndim == 1 else array[place][~good[place]][0]
        where = f"{int((~by_row).sum())} of {len(by_row)} rows{self.start}, first at row {self.row(place)}"
        hint += self.hints.get(name, "")
        raise DataError(f"{self.called(name)} must be {rule}, got {messages.show(bad)} in {where}.{hint}")

    def finite(self, name: str, array: Floats, hint: str = "") -> None:
        """Require every number to be finite, and small enough to compute with; otherwise say so, and a hint."""
        if array.size == 0 or (array.min() >= -LARGEST and array.max() <= LARGEST):  # False where there is a NaN
            return
        hint = hint or (messages.LEAVE_OUT if np.isnan(array).any() else "")
        self.every(name, array, np.isfinite(array), "finite", hint)
        self.every(name, array, np.abs(array) <= LARGEST, f"at most {LARGEST:g} in size", hint)

    def probabilities(self, name: str, array: Floats, way: str = "") -> None:
        """Require numbers in [0, 1] and, for a matrix, rows that sum to 1; name a way where these are rounded."""
        if array.size and not (array.min() >= 0 and array.max() <= 1 + SUM_TOLERANCE):
            self.finite(name, array)
            self.every(name, array, (array >= 0) & (array <= 1 + SUM_TOLERANCE), "in [0, 1]")
        if array.ndim == 2:
            totals = array @ np.ones(array.shape[1])
            farthest = float(np.abs(totals - 1).max(initial=0.0))
            hint = ROUNDED.format(farthest) + way if farthest <= array.shape[1] * ROUNDING else ""
            good = np.abs(totals - 1) <= SUM_TOLERANCE
            self.every(name, totals, good, "rows of probabilities that sum to 1", hint)

    def numbers(self, name: str, value: object, rows: int) -> Floats:
        """Return one finite number per row."""
        array = self.floats(name, value, ndim=1)
        self.length(name, array, rows)
        self.finite(name, array)
        return array

    def variation(self, name: str, low: float, high: float, rows: int) -> None:
        """Require numbers that differ, and by more than rounding errors and the least squares that there are."""
        if low == high:
            where = f"in all {rows} rows: there is nothing to compare"
            raise DataError(f"{self.called(name)} must vary, got {low} {where}.{self.hints.get(name, '')}")
        size = max(-low, high)
        for least, way in (
            (SMALLEST_SPREAD, "Use a unit in which they are larger"),
            (size * SMALLEST_SHARE, "Subtract a constant"),
        ):
            if high - low < least:
                raise DataError(f"{self.called(name)} must vary by at least {least:g}, got {low} to {high}. {way}.")


WHOLE = Checker()
"""Checks arrays that hold a whole log, under the names of their arguments."""


def freeze(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array after making it read-only."""
    array.flags.writeable = False
    return array


def parameter(
    rule: str, holds: Callable[[float], bool], values: Mapping[str, float], largest: float = sys.float_info.max
) -> None:
    """Require every named parameter to be a number for which `holds`, and no larger than `largest` unless infinite.

    `holds` compares: whole numbers may be too large to be converted, and NaN is refused since all comparisons fail.
    """
    for name, value in values.items():
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not holds(value):
            raise ParameterError(f"`{name}` must be {rule}, got {messages.shorten(value)}.")
        if largest < abs(value) < math.inf:
            raise ParameterError(f"`{name}` must be at most {largest:g} in size, got {messages.shorten(value)}.")


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
    _whole(low, values, LARGEST_COUNT)


def seeds(**values: int) -> None:
    """Require whole numbers of at least 0, which may be larger than any count."""
    _whole(0, values, LARGEST_SEED)


def _whole(low: int, values: Mapping[str, int], largest: int) -> None:
    rule = f"a whole number of at least {low}"
    parameter(rule, lambda value: isinstance(value, Integral) and value >= low, values, largest)


def whole_or_infinite(low: int, **values: float) -> None:
    """Require whole numbers of at least `low`, or infinity."""
    rule = f"a whole number of at least {low}, or infinity"
    parameter(rule, lambda value: value >= low and (value == math.inf or value % 1 == 0), values, LARGEST_COUNT)


def finite(**values: float) -> None:
    """Require finite numbers."""
    parameter("a finite number", lambda value: abs(value) < math.inf, values)


def true_or_false(**values: bool) -> None:
    """Require True or False."""
    an_object(bool, "True or False", **values)


def one_of(choices: Collection[str], **values: object) -> None:
    """Require each value to be among `choices`; suggest the nearest otherwise."""
    for name, value in values.items():
        if not isinstance(value, str) or value not in choices:
            suggestion = messages.suggest(value, choices) if isinstance(value, str) else ""
            rule = f"{messages.join_choices(choices)}, got {messages.shorten(value)}"
            raise ParameterError(f"`{name}` must be {rule}.{suggestion}")


def an_object(kind: type, what: str, **values: object) -> None:
    """Require objects of a class; `what` says what they must be, and may give an example."""
    for name, value in values.items():
        if not isinstance(value, kind):
            raise ParameterError(f"`{name}` must be {what}, got {messages.shorten(value)}.")


def is_number(value: Any) -> bool:
    """Say whether a value is a number, or text that is one; a missing value is read as NaN."""
    try:
        if isinstance(value, (str, bytes)) and not NUMBER.fullmatch(
            value if isinstance(value, str) else value.decode()
        ):
            return False  # Python takes 1_000 and digits of other scripts
        float(math.nan if value is None else value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
