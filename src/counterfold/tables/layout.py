"""Layout: which columns of a table hold what; turns tables of any length into checked logs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfold import inputs
from counterfold.arrays import Bools, Floats, Ints
from counterfold.checks import Checker
from counterfold.errors import DataError
from counterfold.log import Log
from counterfold.tables import columns, roles


@dataclass(frozen=True, eq=False)
class Layout:
    """The column of each role, the columns of the context, and what is known of the actions beside the table.

    `width` is the number of numbers in the context of a row, and `seen` are the actions that were ever logged, if a
    table of other rows told. Tables may be parts of a longer log, in which `numbers` are the places of their rows.
    """

    roles: dict[str, str]
    context: Sequence[str]
    actions: Sequence[Any] | None
    action_features: Any = None
    width: int | None = None
    seen: Bools | None = None

    def places(self, table: pa.Table) -> list[str]:
        """Return every column that is read."""
        taken = [place for role, name in self.roles.items() for place in roles.places(table, role, name)]
        return list(dict.fromkeys([*taken, *self.context]))

    def checker(self, numbers: Ints | None) -> Checker:
        """Return what names rows and columns of a table in errors."""
        return Checker(numbers).name_columns(self.roles)

    def log(self, table: pa.Table, numbers: Ints | None = None) -> Log:
        """Return the table's rows, checked."""
        plain = Checker(numbers)
        features = {} if self.action_features is None else {"action_features": self.action_features}
        return Log(
            **roles.read_roles(table, self.roles, plain),
            **features,
            context=self._context(table, plain),
            actions=self.actions,
            check=self.checker(numbers),
            seen=self.seen,
        )

    def _context(self, table: pa.Table, check: Checker) -> pa.Table | None:
        found = columns.read_features(table, self.context, check) if self.context else None
        if found is not None and self.width and found.num_columns != self.width:
            row = check.row(0)
            raise DataError(
                f"`context` must be {self.width} numbers in every row, got {found.num_columns} at row {row}."
            )
        return found

    def numbers(self, table: pa.Table, role: str) -> Floats:
        """Return the column of a role that holds numbers."""
        return columns.read_numbers(table, self.roles[role])

    def labels(self, table: pa.Table, role: str, numbers: Ints | None = None) -> Any:
        """Return the column of a role that holds labels, one in every row."""
        found = columns.read_labels(table, self.roles[role])
        return inputs.check_labels(role, found, table.num_rows, self.checker(numbers))
