"""TargetReader: from what the user gave as a target, maybe by names of columns, to the target of some rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.notation import unquote
from counterfold.base.validation import Checker
from counterfold.io.schema import columns, roles
from counterfold.io.schema.schema import ColumnRoles
from counterfold.log.encoding.lists import find_list, spread_lists
from counterfold.log.log import Log
from counterfold.policies.given import (
    Reads,
    Text,
    as_target,
    find_form,
    name_column,
    refuse_ambiguity,
    require_given,
)
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Target, TargetForm

READERS: Mapping[str, Callable[[pa.Table, str, Checker], Any]] = {
    **columns.READERS,
    "scores": partial(columns.read_matrix, missing=np.nan),
    "raw": lambda table, name, _: table.column(name),
}
"""How columns of targets are read: as those of a log, or as scores, some of which may be missing, or not at all."""

GIVEN = (
    "Name the policy to evaluate, as `target=...` (--target TARGET): a column of its actions or probabilities, an "
    "action, or a policy such as `uniform`."
)

SPREAD = ("matrix", "scores")
"""What may be spread over columns."""


@dataclass(frozen=True, eq=False)
class TargetReader:
    """Reads a target from rows of a log; if these are rows of a table, `reads` are the columns that it is made from.

    A feature may be an element of a column of `lists`, which has its name. `text` is what the user wrote, if it is
    neither a column nor an object, and `name` what it is called among several.
    """

    form: TargetForm
    reads: Sequence[Reads] = ()
    lists: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    has_table: bool = False
    name: str | None = None

    @classmethod
    def of(cls, value: Any, table: pa.Table | None) -> "TargetReader":
        """Return how a target is read."""
        require_given(value)
        if table is None:
            form = find_form(value)
            return cls(form, text=find_text(value, form))
        form = bind_columns(value, table)
        features = [one.name for one in form.reads if one.is_feature]
        lists = {name: column for name in features if (column := find_list(name, table)) is not None}
        for one in form.reads:
            require_column(one._replace(name=lists.get(one.name, one.name)), table)
        return cls(form, form.reads, lists, find_text(value, form), has_table=True)

    @property
    def columns(self) -> list[str]:
        """Return the columns that are the policy's own, and no context."""
        return [one.name for one in self.reads if not one.is_feature]

    @property
    def features(self) -> list[str]:
        """Return the columns that the policy looks at, which may be context as well."""
        return list(dict.fromkeys(self.lists.get(one.name, one.name) for one in self.reads if one.is_feature))

    @property
    def is_full(self) -> bool:
        """Say whether the target is known for all actions, and not for the logged ones alone."""
        return self.form.is_full

    @property
    def uses_context(self) -> bool:
        """Say whether the target looks at the context, all columns of which it must then see."""
        return self.form.uses_context(has_table=self.has_table)

    def fill(self, table: pa.Table | None, row_numbers: Ints | None = None) -> TargetForm:
        """Return what the target is in some rows, not checked yet."""
        if table is None or not self.reads:
            return self.form
        check = Checker(row_numbers)
        rows = spread_lists(table, [one.name for one in self.reads if one.is_feature], check)
        return self.form.fill({one.name: READERS[one.kind](rows, one.name, check) for one in self.reads})

    def checker(self, row_numbers: Ints | None) -> Checker:
        """Return what names rows and columns in errors; what was read from columns is nobody else's."""
        check = Checker(row_numbers, are_private=bool(self.columns) and not self.features)
        if self.text is not None and self.form.reads:
            return check.rename("target", f"(`{messages.show(self.text)}`)")
        if len(self.columns) == 1:
            return check.name_columns({"target": self.columns[0]})
        return check if self.name is None else check.rename("target", f"(`{messages.show(self.name)}`)")

    def read(self, log: Log, table: pa.Table | None, row_numbers: Ints | None = None) -> Target:
        """Return the target in some rows, checked."""
        if row_numbers is None:  # of all rows that are left, whose log knows their numbers
            return as_target(
                self.fill(table, log.row_numbers), log, replace(self.checker(log.row_numbers), is_whole=True)
            )
        return as_target(self.fill(table, row_numbers), log, self.checker(row_numbers))

    def refuse_outcomes(self, log_roles: ColumnRoles) -> None:
        """Refuse a policy that looks at what was decided or at what came of it."""
        for role in roles.AFTER_DECISION:
            column = log_roles.columns.get(role)
            if column in self.features:
                what = roles.NAMED_ROLES.get(role, f"the {role}")
                raise DataError(f"`target` must not look at column `{column}`, which is {what}.")
        for name in log_roles.outcomes:
            if name in self.features:
                raise DataError(f"`target` must not look at column `{name}`, {roles.WITH_REWARD}.")

    def refuse_misreading(self, log: Log, table: pa.Table, row_numbers: Ints) -> None:
        """Refuse a target that can be read in no way or in two ways, by the first rows of a long log."""
        self.form.require_known(log)
        refuse_ambiguity(self.fill(table, row_numbers), log, self.checker(row_numbers))


def find_text(value: Any, form: TargetForm) -> str | None:
    """Return what the user wrote, if the target is neither a column nor an object."""
    return value if isinstance(value, str) and isinstance(form, Text) else None


def bind_columns(value: Any, table: pa.Table) -> TargetForm:
    """Return the form of a target; a text is a column's name, or else a label or what the grammar makes of it."""
    if isinstance(value, str):
        name = next((one for one in (value, unquote(value)) if roles.places(table, "target", one)), None)
        if name is not None:
            return name_column(name, roles.find_kind(table, name), table.column_names)
        hint = suggest_target(table.column_names) if value == "target" else ""
        return Text.of(value, table.column_names, hint).bind(partial(bind_columns, table=table))
    form = find_form(value)
    if isinstance(form, Actions) and isinstance(form.labels, str) and form.labels not in table.column_names:
        return Text(form.labels, columns=table.column_names)
    return form.bind(partial(bind_columns, table=table))


def suggest_target(columns: Sequence[str]) -> str:
    """Return what to do where nobody named a target: take a column with a usual name, or give one."""
    usual = roles.find_usual("target", columns)
    return f" {GIVEN}" if usual is None else roles.name_column("target", usual)


def make_readers(targets: Mapping[str, Any], table: pa.Table | None) -> dict[str, TargetReader]:
    """Return how each target is read; of several, errors say which one is meant."""
    found = {name: TargetReader.of(value, table) for name, value in targets.items()}
    several = {name: replace(one, name=str(name)) for name, one in found.items()}
    return several if len(several) > 1 else found


def require_column(wanted: Reads, table: pa.Table) -> None:
    """Require a column that a target is made from, or looks at."""
    if wanted.is_feature and wanted.name not in table.column_names:
        hint, found = messages.suggest(wanted.name, table.column_names), messages.list_names(table.column_names)
        name = messages.show(wanted.name)
        raise DataError(f"column `{name}` must be there, as the target looks at it.{hint} Found: {found}.")
    roles.require(table, {"target" if wanted.kind in SPREAD else "context": wanted.name})


def require_streamable(targets: Mapping[str, Any], readers: Mapping[str, TargetReader]) -> None:
    """Require targets that can be computed for any batch."""
    for name, one in readers.items():
        if not one.form.is_streamable:
            wanted = "the name of a column, a label, or a function of the context, where the log is not in memory"
            raise ParameterError(f"`target` must be {wanted}, got {type(targets[name]).__name__}.")
