"""PreparedRows: the rows of a source once their rewards are computed, and rows without a reward are left out."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.arrays import Ints
from counterfold.encoding.kinds import is_numeric
from counterfold.errors import DataError
from counterfold.messages import list_names
from counterfold.readers.base import Piece
from counterfold.sources import parse_expression
from counterfold.sources.base import RowSource
from counterfold.tables import roles
from counterfold.tables.delays import Delay
from counterfold.tables.preparation import ROW, Preparation
from counterfold.tables.scan import LogScan


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """The rows of another source, prepared whenever they are read; what all rows must tell is counted once.

    Rows keep the numbers that they have in the source, in a column of their own where some are left out.
    """

    source: RowSource
    wish: Preparation

    @property
    def is_in_memory(self) -> bool:
        """Say whether all rows of the source are there already."""
        return self.source.is_in_memory

    @property
    def name(self) -> str:
        """Return what errors call the source."""
        return self.source.name

    @cached_property
    def preparation(self) -> Preparation:
        """Return what is done with every row, once all of them are counted."""
        return self.wish.learn(self._total)

    @property
    def schema(self) -> pa.Schema:
        """Return the columns, and their types."""
        return self.wish.add_column(self.source.schema.empty_table()).schema

    @property
    def rows(self) -> int:
        """Return the number of rows that are left."""
        return self.preparation.row_count if self.preparation.needs_sums else self.source.rows

    @property
    def size(self) -> int:
        """Return about how many bytes the rows take in memory, with two numbers more each."""
        return self.source.size * self.rows // max(self.source.rows, 1) + 16 * self.rows

    def table(self) -> pa.Table:
        """Return all rows that are left."""
        preparation, table = self.preparation, self.source.table()
        return preparation.prepare(table, np.arange(table.num_rows))

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield all rows that are left, or some columns of them; the number of a piece is that of the source."""
        preparation = self.preparation
        wanted = None
        if columns is not None:
            made = set() if preparation.expression is None else {preparation.reward}
            wanted = list(dict.fromkeys([*(name for name in columns if name not in made), *preparation.columns]))
        with closing(self.source.pieces(wanted)) as pieces:
            for piece in pieces:
                yield Piece(piece.first, partial(_prepare_piece, preparation, piece, columns))

    def require_unchanged(self) -> None:
        """Require that the rows are what they were."""
        self.source.require_unchanged()

    def _total(self, work: Callable[[pa.Table, Ints], Any], columns: Sequence[str]) -> Any:
        """Return the sum of what a function returns for all rows of the source."""
        with closing(self.source.pieces(columns)) as pieces:
            numbered = (batch for piece in pieces for batch in _number_tables(piece) if len(batch[1]))
            return reduce(add, (work(*batch) for batch in numbered))


def _number_tables(piece: Piece) -> Iterator[tuple[pa.Table, Ints]]:
    """Yield the rows of a piece of a source, with their numbers."""
    first = piece.first
    for table in piece.tables():
        yield table, np.arange(first, first + table.num_rows)
        first += table.num_rows


def _prepare_piece(preparation: Preparation, piece: Piece, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    """Yield what is left of the rows of a piece, which tell their numbers themselves."""
    for table, row_numbers in _number_tables(piece):
        found = preparation.prepare(table, row_numbers)
        names = found.column_names if columns is None else [*columns, *({ROW} & set(found.column_names))]
        yield found.select(names)


def number_rows(table: pa.Table) -> tuple[pa.Table, Ints | None]:
    """Return rows and their numbers in the source, if these are not their places."""
    if ROW not in table.column_names:
        return table, None
    return table.drop_columns([ROW]), table.column(ROW).to_numpy()


def take_left(value: Any, row_numbers: Ints | None, count: int) -> Any:
    """Return the rows that are left of an array or frame that has one for each of the `count` rows of a source."""
    has_rows = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
    if row_numbers is None or not has_rows or len(value) != count:
        return value
    if hasattr(value, "iloc"):  # of pandas
        return value.iloc[row_numbers]
    if isinstance(value, (list, tuple)):
        return [value[row] for row in row_numbers.tolist()]
    return value.take(row_numbers) if isinstance(value, (pa.Array, pa.ChunkedArray, pa.Table)) else value[row_numbers]


def prepare_rows(scan: LogScan, source: RowSource) -> RowSource:
    """Return the rows of a source with the rewards that were asked for, or as they are if these are a mere column."""
    wish = choose_preparation(scan, lambda: source.schema)
    return source if wish is None else PreparedRows(source, wish)


def choose_preparation(scan: LogScan, find_schema: Callable[[], pa.Schema]) -> Preparation | None:
    """Return what is done with the rewards of a log, if anything is; its columns are looked at only if it must be."""
    is_plain = scan.missing_reward == "error" and scan.horizon is None
    if is_plain and len(scan.rewards) == 1 and scan.rewards[0].isidentifier():
        return None
    return find_preparation(scan, find_schema())


def find_preparation(scan: LogScan, schema: pa.Schema) -> Preparation | None:
    """Return how rewards are made of the columns of a source; nothing if they cannot be, as the layout will say."""
    names, table, reward = schema.names, schema.empty_table(), str(scan.reward)
    computed = {one: None if one in names else parse_expression(one, names) for one in scan.rewards}
    expression = computed[reward]
    if reward not in names and expression is None:
        return None
    if expression is not None and not is_numeric(kind := expression.find_type(schema)):
        raise DataError(f"the reward `{reward}` must be numbers, got {kind}.")
    delay, reward_time = None, scan.reward_time or next((one for one in ("reward_time",) if one in names), None)
    if scan.horizon is not None:
        if scan.time is None and "time" not in names:
            way = f"name it: `time=...` (--time COLUMN). Found: {list_names(names)}"
            raise DataError(f"with `horizon`, a log must have a column of when decisions were made; {way}.")
        delay = Delay.of(scan.time or "time", reward_time, scan.horizon, scan.until)
        roles.require(table, dict(delay.columns))
    known_later = [place for one, found in computed.items() for place in ([one] if found is None else found.columns)]
    known_later += [] if delay is None or reward_time is None else [reward_time]
    outcomes = tuple(one for one in dict.fromkeys(known_later) if one != reward and one in names)
    action = scan.action or ("action" if "action" in names and scan.dose is None else None)
    wish = Preparation(reward, scan.missing_reward, expression, delay, action if action in names else None, outcomes)
    return wish if wish.needs_sums or expression is not None or outcomes else None
