"""The Open Bandit Dataset's CSV files."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from counterfold.io.formats.base import Note, Piece, Reader, Survey, leave_out
from counterfold.io.formats.csv import Csv

NAMES = {"item_id": "action", "click": "reward", "propensity_score": "propensity"}
"""What the dataset calls the columns of a log."""

POSITION = "position"

POSITIONS = Note(
    "each of several positions is taken for a decision of its own, as if what is shown at one did not change the "
    "reward at another; the value is that of a position, not of a list",
    "evaluate one position alone to be free of that, or multiply by the number of positions for the value of a list",
)


class OpenBandit(Reader):
    """A CSV file of the Open Bandit Dataset: items, clicks and propensities by position; the position is context."""

    signs = (tuple(NAMES),)

    def survey(self, file: Path) -> Survey:
        found = Csv().survey(file)
        lacking = [name for name in NAMES if name not in found.schema.names]
        if lacking:
            raise pa.ArrowInvalid(f"column `{lacking[0]}` must be there, as in the Open Bandit Dataset")
        named = [one.with_name(NAMES.get(one.name, one.name)) for one in found.schema if one.name]
        if has_several_positions(file, found):
            return Survey(pa.schema(named), found.rows, found.size, [(POSITIONS, found.rows)])
        constant = [leave_out(one, "there is only one") if one.name == POSITION else one for one in named]
        return Survey(pa.schema(constant), found.rows, found.size)

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        back = {new: old for old, new in NAMES.items()}
        theirs = [back.get(name, name) for name in columns]
        plain = survey._replace(
            schema=pa.schema([one.with_name(back.get(one.name, one.name)) for one in survey.schema])
        )
        for first, tables in Csv().pieces(file, plain, theirs):
            yield Piece(first, partial(rename, tables, columns))


def has_several_positions(file: Path, survey: Survey) -> bool:
    """Say whether rows are of different positions."""
    found: set[object] = set()
    if POSITION in survey.schema.names:
        for piece in Csv().pieces(file, survey, [POSITION]):
            found |= {one for table in piece.tables() for one in pc.unique(table[POSITION]).to_pylist()}
    return len(found) > 1


def rename(tables: Callable[[], Iterator[pa.Table]], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield tables whose columns are called otherwise."""
    for table in tables():
        yield table.rename_columns(list(columns))
