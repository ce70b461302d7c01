"""Layout: which columns of a table hold what; turns tables of any length into checked logs."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfold import checks, parts
from counterfold.arrays import Floats
from counterfold.errors import CounterfoldError, DataError
from counterfold.log import Log
from counterfold.readers import _columns, _roles


@dataclass(frozen=True, eq=False)
class Layout:
    """The column of each role, the columns of the context, and what is known of the actions beside the table.

    `width` is the number of numbers in the context of a row, if a table of other rows told.
    """

    roles: dict[str, str]
    context: Sequence[str]
    actions: Sequence[Any] | None
    action_features: Any = None
    width: int | None = None

    def places(self, table: pa.Table) -> list[str]:
        """Return every column that is read."""
        taken = [place for role, name in self.roles.items() for place in _roles.places(table, role, name)]
        return list(dict.fromkeys([*taken, *self.context]))

    def log(self, table: pa.Table) -> Log:
        """Return the table's rows, checked."""
        inputs = {"context": self._context(table), "actions": self.actions}
        if self.action_features is not None:
            inputs["action_features"] = self.action_features
        with columns_named(self.roles):
            return Log(**_roles.read(table, self.roles), **inputs)

    def context_of(self, table: pa.Table) -> Floats:
        """Return the context, checked."""
        return parts.context_of(self._context(table), table.num_rows)[0]

    def _context(self, table: pa.Table) -> Any:
        found = _roles.context_of(table, self.context)
        if self.width and found.num_columns != self.width:
            row = checks.place(0)
            raise DataError(
                f"`context` must be {self.width} numbers in every row, got {found.num_columns} at row {row}."
            )
        return found

    def numbers(self, table: pa.Table, role: str) -> Floats:
        """Return the column of a role that holds numbers."""
        return _columns.numbers(table, self.roles[role])

    def labels(self, table: pa.Table, role: str) -> Any:
        """Return the column of a role that holds labels, one in every row."""
        with columns_named(self.roles):
            return parts.labels_of(role, _columns.labels(table, self.roles[role]), table.num_rows)


@contextmanager
def columns_named(roles: dict[str, str]) -> Iterator[None]:
    """Name the column beside its role in errors, which name the role first, where the two differ."""

    def named(match: re.Match[str]) -> str:
        role = match.group(1)
        column = roles.get(role, role)
        return f"`{role}`" if column == role else f"`{role}` (column `{column}`)"

    try:
        yield
    except CounterfoldError as error:
        raise type(error)(re.sub("`([^`]*)`", named, str(error), count=1)) from None
