"""Batch: some rows of a log as a table; LogRows: all rows; Pass: a sum over all rows; tasks, which ask for passes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import pyarrow as pa

from counterfold.base.arrays import Bools, Ints
from counterfold.base.errors import MissingNumbersError
from counterfold.base.hashing import sample_least

if TYPE_CHECKING:
    from counterfold.io.schema.scan import LogScan


class Batch(NamedTuple):
    """Some rows as a table, and the number of each in the log."""

    table: pa.Table
    row_numbers: Ints

    def first(self, rows: int) -> "Batch":
        """Return the first rows, at most so many."""
        return Batch(self.table.slice(0, rows), self.row_numbers[:rows])

    def sample(self, rows: int) -> "Batch":
        """Return a random sample of the rows, at most so many, in their order; the same of any batch that holds it."""
        kept = sample_least(self.row_numbers, rows)
        return Batch(self.table.take(kept), self.row_numbers[kept])

    def split(self, rows: int) -> "list[Batch]":
        """Return the rows in order, at most so many at a time."""
        starts = range(0, len(self.row_numbers), rows)
        return [Batch(self.table.slice(at, rows), self.row_numbers[at : at + rows]) for at in starts]

    def filter(self, kept: Bools) -> "Batch":
        """Return some of the rows."""
        return self if kept.all() else Batch(self.table.filter(pa.array(kept)), self.row_numbers[kept])

    def select(self, columns: Sequence[str]) -> "Batch":
        """Return some columns of the rows."""
        return Batch(self.table.select(columns), self.row_numbers)


class Pass(NamedTuple):
    """A wish to know the sum of what a function returns for all batches of a log, of which it needs some columns.

    The function returns None for rows that do not count. `label` says what is done.
    """

    label: str
    work: Callable[[Batch], Any]
    columns: Sequence[str]

    def work_on(self, batch: Batch) -> Any:
        """Return what is known of a batch, which may have more columns."""
        return self.work(batch.select(self.columns))


class LogRows(ABC):
    """The rows of a log with one of its rewards, without those that are left out: in memory, or a few at a time.

    - `scan`: the log, and which columns the user named.
    - `first`: the first rows, which show what the columns hold.
    - `count`: how many rows there are.
    - `is_whole`: whether `first` are all rows. Then there is nothing to read again, and `Log` learns from its own rows
      what others must be told.
    """

    scan: "LogScan"
    is_whole: ClassVar[bool]

    @property
    @abstractmethod
    def first(self) -> Batch:
        """Return the first rows."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def ask(self, label: str, work: Callable[[Batch], Any], columns: Sequence[str]) -> Pass:
        """Return a pass over these rows."""


Result = TypeVar("Result")
Task = Generator[Pass, Any, Result]
"""Asks for one pass after the other, is sent the sum of each, and returns a result.

What is thrown into it is a `MissingNumbersError` that ended its pass.
"""


def run_together(tasks: Sequence[Task[Result]], total: Callable[[list[Pass]], Sequence[Any]]) -> list[Result]:
    """Return the result of every task; `total` finds the sums of all passes that they ask for at the same time."""
    results: dict[int, Result] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(tasks)))
    while answers:
        asked: dict[int, Pass] = {}
        for place, answer in answers.items():
            resume = tasks[place].throw if isinstance(answer, MissingNumbersError) else tasks[place].send
            try:
                asked[place] = resume(answer)
            except StopIteration as end:
                results[place] = end.value
        answers = dict(zip(asked, total(list(asked.values())), strict=True)) if asked else {}
    return [results[place] for place in range(len(tasks))]
