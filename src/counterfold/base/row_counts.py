"""Tally: how many rows of a log are so, and where the first of them is, from any parts of the log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Bools, Ints
from counterfold.base.errors import DataError


@dataclass(frozen=True)
class Tally:
    """The number of rows, how many of them are so, by a name, and of the first such row its number and a value.

    Two can be added, so that errors are the same wherever a log was cut.
    """

    rows: int
    counts: Mapping[str, int]
    first: Mapping[str, tuple[int, str]]

    @classmethod
    def of(cls, row_numbers: Ints | Sequence[int], marks: Mapping[str, tuple[Bools, pa.ChunkedArray]]) -> "Tally":
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

    def count(self, *names: str) -> int:
        """Return how many rows are so."""
        return sum(self.counts.get(name, 0) for name in names)

    def refuse(self, names: str | Sequence[str], rule: str, hint: str = "", start: str = "") -> None:
        """Refuse a log some rows of which are so, in one way of several, with the rule that they break.

        `start` says where the rows begin that were counted, if these are a part of the log.
        """
        some = [names] if isinstance(names, str) else names
        if self.count(*some):
            row, value = min(self.first[name] for name in some if name in self.first)
            where = f"{self.count(*some)} of {self.rows} rows{start}, first at row {row}"
            raise DataError(f"{rule}, got {value} in {where}.{hint}")


def show_cell(cell: Any) -> str:
    """Return what a cell of Arrow holds, as errors show it."""
    shown = cell.cast(pa.string()) if pa.types.is_temporal(cell.type) else cell  # Python has no year 10,000
    return str(shown).strip() if cell.is_valid and str(shown).strip() else "none"
