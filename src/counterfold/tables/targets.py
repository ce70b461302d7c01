"""TargetReader: from what the user gave as a target, maybe the name of a column, to the target of some rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from counterfold import messages
from counterfold.arrays import Ints
from counterfold.checks import Checker
from counterfold.errors import DataError, ParameterError
from counterfold.labels import spell_label, write_label
from counterfold.log import Log
from counterfold.log_checks import count_dimensions
from counterfold.tables import columns, roles
from counterfold.target import Actions, Probabilities, Target, TargetForm, as_target, find_form, refuse_ambiguity


@dataclass(frozen=True, eq=False)
class TargetReader:
    """Reads a target from rows of a log: from a `column` of a `kind` that `READERS` know, or `given` without one."""

    given: Any
    column: str | None = None
    kind: str | None = None

    @classmethod
    def of(cls, value: Any, table: pa.Table | None) -> "TargetReader":
        """Return how a target is read; a text is a column's name, or an action's label if there is no such column."""
        name = value.given if isinstance(value, TargetForm) else value
        if table is None or not isinstance(name, str):
            return cls(value)
        is_column = name in table.column_names
        if not isinstance(value, TargetForm):
            is_column = bool(roles.places(table, "target", name))
        if not is_column and not isinstance(value, Probabilities):
            return cls(Actions(name))
        kind = roles.find_kind(table, name)
        return cls(value, name, value.kind if isinstance(value, TargetForm) else kind)

    @property
    def is_full(self) -> bool:
        """Say whether the target is known for all actions, and not for the logged ones alone."""
        return self.kind != "numbers" and not isinstance(self.given, Probabilities)

    def find_form(self, table: pa.Table | None, row_numbers: Ints | None = None) -> Any:
        """Return what the target is in some rows, not checked yet."""
        if self.column is None or self.kind is None or table is None:
            return self.given
        values = columns.READERS[self.kind](table, self.column, Checker(row_numbers))
        if self.kind == "labels":
            return Actions(values)
        return replace(self.given, values=values) if isinstance(self.given, Probabilities) else values

    def checker(self, row_numbers: Ints | None) -> Checker:
        """Return what names rows and the column in errors."""
        named = {} if self.column is None else {"target": self.column}
        return Checker(row_numbers, are_private=self.column is not None).name_columns(named)

    def read(self, log: Log, table: pa.Table | None, row_numbers: Ints | None = None) -> Target:
        """Return the target in some rows, checked."""
        return as_target(self.find_form(table, row_numbers), log, self.checker(row_numbers))

    def require_label(self, log: Log, table: pa.Table) -> None:
        """Require that a text which names no column is the label of an action."""
        name = self.given.given if self.column is None and isinstance(self.given, Actions) else None
        if not isinstance(name, str) or any(name in spell_label(action) for action in log.actions):
            return
        if log.kind == "doses":
            roles.require(table, {"target": name})
        hint = roles.suggest_column("target", name, [*table.column_names, *map(write_label, log.actions)])
        found = f"Found: {messages.list_names(table.column_names)}. Actions: {messages.list_some(log.actions)}"
        rule = "must be there, or be an action that the target always takes"
        raise DataError(f"column `{messages.show(name)}` {rule}.{hint} {found}.")

    def refuse_misreading(self, log: Log, table: pa.Table, row_numbers: Ints) -> None:
        """Refuse a target that can be read in no way or in two ways, by the first rows of a long log."""
        self.require_label(log, table)
        refuse_ambiguity(find_form(self.find_form(table, row_numbers), log), log, self.checker(row_numbers))


def make_readers(targets: Mapping[str, Any], table: pa.Table | None) -> dict[str, TargetReader]:
    """Return how each target is read."""
    return {name: TargetReader.of(value, table) for name, value in targets.items()}


def require_streamable(targets: Mapping[str, Any]) -> None:
    """Require targets that can be computed for any batch: columns, labels, or functions of the context."""
    for value in targets.values():
        given = value.given if isinstance(value, TargetForm) else value
        if count_dimensions(given) != 0:
            wanted = "the name of a column, a label, or a function of the context, where the log is not in memory"
            raise ParameterError(f"`target` must be {wanted}, got {type(given).__name__}.")
