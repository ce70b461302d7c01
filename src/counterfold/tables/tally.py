"""Tally: how many rows of a log are so, and where the first of them is, from any parts of the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold import messages
from counterfold.arrays import Bools, Ints
from counterfold.errors import DataError


@dataclass(frozen=True)
class Tally:
    """The number of rows, how many of them are so, by a name, and of the first such row its number and a value.

    Two can be added, so that errors are the same wherever a log was cut.
    """

    rows: int
    counts: Mapping[str, int]
    first: Mapping[str, tuple[int, str]]

    @classmethod
    def of(cls, row_numbers: Ints, marks: Mapping[str, tuple[Bools, pa.ChunkedArray]]) -> "Tally":
        """Return the tally of some rows: which of them are so, and the column that tells."""
        counts = {name: int(mark.sum()) for name, (mark, _) in marks.items() if mark.any()}
        places = {name: int(np.argmax(marks[name][0])) for name in counts}
        first = {
            name: (int(row_numbers[place]), messages.show(show_cell(marks[name][1][place])))
            for name, place in places.items()
        }
        return cls(len(row_numbers), counts, first)

    def __add__(self, other: "Tally") -> "Tally":
        names = list(dict.fromkeys([*self.counts, *other.counts]))
        counts = {name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names}
        first = {name: min(one.first[name] for one in (self, other) if name in one.first) for name in names}
        return Tally(self.rows + other.rows, counts, first)

    def count(self, name: str) -> int:
        """Return how many rows are so."""
        return self.counts.get(name, 0)

    def refuse(self, name: str, rule: str, hint: str = "") -> None:
        """Refuse a log some rows of which are so, with the rule that they break."""
        if self.count(name):
            row, value = self.first[name]
            where = f"{self.count(name)} of {self.rows} rows, first at row {row}"
            raise DataError(f"{rule}, got {value} in {where}.{hint}")


def show_cell(cell: Any) -> str:
    """Return what a cell of Arrow holds, as errors show it."""
    return "none" if not cell.is_valid else str(cell)
