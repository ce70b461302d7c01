"""Summary: what all rows tell of a column of the context; ColumnEncoding: how the column becomes numbers."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import pyarrow as pa

from counterfold.base.arrays import Floats
from counterfold.base.messages import show
from counterfold.base.validation import Checker

if TYPE_CHECKING:
    from counterfold.log.records import EncodingRecord

LEVELS, COLUMNS = 20, 120
"""At most how many values of a text have a column each, fewer where all texts would have more than COLUMNS then."""

MISSING = "it is missing in every row"
CONSTANT = "it is the same in every row"


class Split(NamedTuple):
    """What is true of a column on one side of a threshold, in words, and what is true on the other.

    `holds_below` says whether the first is so where its number is at most the threshold.
    """

    words: str
    otherwise: str
    holds_below: bool = True

    @classmethod
    def mark(cls, name: str, value: str) -> "Split":
        """Return the split of a column that is 1 where another one has some value, and 0 elsewhere."""
        return cls(f"{name} is {value}", f"{name} is not {value}", holds_below=False)


def split_number(name: str, threshold: float) -> Split:
    """Return the split of a number.

    >>> split_number("age", 30.5)
    Split(words='age <= 30.5', otherwise='age > 30.5', holds_below=True)
    """
    return Split(f"{name} <= {threshold:.4g}", f"{name} > {threshold:.4g}")


@dataclass(frozen=True)
class ColumnEncoding(ABC):
    """How a column becomes numbers, learnt from `rows` rows, of which `missing` had no value there."""

    name: str
    rows: int
    missing: int
    holds_dates: ClassVar[bool] = False
    """Whether it is made of dates, as which text may be read."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the columns that it becomes."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Return what the last columns tell apart, each of which is 1 for one of these, and all 0 for the first."""

    @abstractmethod
    def encode(self, column: pa.ChunkedArray, check: Checker) -> Sequence[Floats]:
        """Return the columns that some rows become."""

    def explain_strangers(self, column: pa.ChunkedArray) -> str | None:
        """Say so if the values of a column cannot be those that it was learnt from."""
        return None

    @abstractmethod
    def restore(self, columns: Sequence[Floats], rows: int) -> pa.Array:
        """Return the column of so many rows from the columns that it became; a value that was rare is none of them."""

    @property
    def values(self) -> tuple[str, ...]:
        """Return the values of a text that are told apart."""
        return ()

    def find_lost(self, values: Collection[str]) -> Sequence[str]:
        """Return those of some values of a text that the columns may not tell from others."""
        return ()

    @abstractmethod
    def describe(self) -> str:
        """Say how it is made numbers."""

    @abstractmethod
    def to_dict(self) -> "EncodingRecord":
        """Return what JSON says of it."""

    def tell_split(self, place: int, threshold: float) -> Split:
        """Return what it means that one of the columns that it becomes is at most a threshold."""
        if self.missing and place == len(self.outputs) - 1:
            return Split.mark(show(self.name), "missing")
        return self.tell_value_split(place, threshold)

    def tell_value_split(self, place: int, threshold: float) -> Split:
        """Return the same of a column that does not say where a value is missing."""
        return split_number(show(self.outputs[place]), threshold)

    @property
    def is_number(self) -> bool:
        """Say whether the first column holds the numbers that there were."""
        return False

    @property
    def indicator(self) -> str:
        """Return the name of the column that says where a value is missing."""
        return f"{self.name} is missing"

    @property
    def gaps(self) -> str:
        """Say how many values are missing."""
        return f"missing in {self.missing} of {self.rows} rows"


class Summary(ABC):
    """What some rows tell of a column; what others tell can be added."""

    rows: int
    missing: int
    has_levels: ClassVar[bool] = False
    """Whether it counts the values of a text."""

    @property
    def is_plain(self) -> bool:
        """Say whether the column holds numbers in all rows."""
        return False

    @classmethod
    @abstractmethod
    def of(cls, name: str, column: pa.ChunkedArray, check: Checker) -> Self:
        """Return what the rows of a column tell."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def explain(self, levels: int) -> str | None:
        """Say why the column is not taken for context by itself, if so; a text is to have at most so many levels."""

    def explain_gaps(self) -> str | None:
        """Say so if a value is missing in most rows."""
        if self.missing == self.rows or 2 * self.missing <= self.rows:
            return None
        share = f"{100 * self.missing / self.rows:.0f} % of the rows"
        return f"it is missing in {share}; name it in `context` to have it taken"

    @abstractmethod
    def learn(self, name: str, levels: int) -> ColumnEncoding:
        """Return how the column becomes numbers, or refuse it if it cannot."""
