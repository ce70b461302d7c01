"""Which columns of a table play which role in a log."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.errors import DataError
from counterfold.base.validation import FIRST, NUMBER, WHOLE, Checker
from counterfold.io.files.schemas import require_readable
from counterfold.io.formats import suggest_format
from counterfold.io.formats.base import NO_CONTEXT, NOTES
from counterfold.io.schema import columns
from counterfold.io.schema.column_roles import ColumnArgument
from counterfold.io.schema.policy_columns import find_policy_columns
from counterfold.io.schema.usual_names import USUAL_NAMES
from counterfold.log.encoding.kinds import is_categorical, is_date, is_numeric
from counterfold.log.encoding.spoilt_numbers import find_spoilt_numbers
from counterfold.log.missing_rewards import MissingRewards
from counterfold.log.segments.by import By, resolve_by
from counterfold.log.segments.columns import require_values
from counterfold.log.times import holds_dates

LEAST = {"target": 2, "logging_probs": 2, "available": 2, "logger_probs": 1}
"""The roles that may be spread over columns, and over how many at least: one `target_age` alone is no target."""

OUTCOME, MISSING = b"outcome", b"counterfold missing rewards"
"""What marks a column that is known only after the decision, in its metadata; and rewards that were missing."""

NAMED_ROLES = {"kept": "the probability that the row was kept"}
"""What roles are called whose own names are no nouns."""

AFTER_DECISION = ("action", "dose", "reward", "propensity", "kept")
"""The roles whose columns tell what was decided or what came of it, so that they cannot be context."""


MAY_BE_ONE = ({"group", "logger"}, {"group", "time"})
"""Roles that one column may have at once: each policy, or each day, may be a group."""

DATE = "it is a date; name it as `time` if it is when decisions were made, or in `context` to have it taken as numbers"
NESTED = "it is of type {}; name it in `context` if it holds lists of numbers"
WITH_REWARD = (
    "which is known only with the reward; if it was known before, make the reward a column of its own, as by `cf.sql`"
)


def suggest_column(role: str, name: str, columns_there: Sequence[str]) -> str:
    """Return a sentence that suggests the column for a role: one with a usual name, or with the nearest one."""
    usual = find_usual(role, columns_there)
    if name != role or usual is None:
        return messages.suggest(name, columns_there)
    return name_column(role, usual)


def tells_rows_apart(table: pa.Table, name: str) -> bool:
    """Say whether a column may have a role: not if it is the same in all of the first rows, or numbers them."""
    first = table.column(name).slice(0, FIRST)
    if len(first) < 2 or pa.types.is_nested(first.type):
        return True
    values = columns.list_values(first)
    if len(values) == 1:
        return False
    if not pa.types.is_integer(first.type) or len(values) < len(first):
        return True
    return values != list(range(values[0], values[0] + len(values)))


def suggest_header(names: Sequence[str]) -> str:
    """Return a sentence that suggests a header, where most columns are called like numbers."""
    numbers = sum(NUMBER.fullmatch(name) is not None for name in names)
    return " The first line of a file must hold the names of its columns." if 2 * numbers > len(names) else ""


def find_usual(role: str, columns_there: Sequence[str]) -> str | None:
    """Return the column that has a usual name of a role, if there is one."""
    there = {column.casefold(): column for column in reversed(columns_there)}
    return next((there[usual] for usual in (role, *USUAL_NAMES.get(role, ())) if usual in there), None)


def name_column(role: str, column: str) -> str:
    """Return a sentence that suggests a column for a role, and how it is named."""
    return f" Did you mean `{column}`? Then name it: `{role}={column!r}` (--{role.replace('_', '-')} {column})."


def places(table: pa.Table, role: str, name: str) -> list[str]:
    """Return the column of a role, or those that it is spread over; none if it is not there."""
    if name in table.column_names:
        return [name]
    return list(columns.find_spread(table, name, LEAST[role])) if role in LEAST else []


def list_places(table: pa.Table, names: Sequence[str]) -> list[str]:
    """Return the columns that hold targets of these names, and those that targets look at, each once."""
    return list(dict.fromkeys(place for name in names for place in places(table, "target", name)))


def find_roles(
    table: pa.Table,
    searched: Mapping[str, ColumnArgument],
    named: Mapping[str, str | None],
    ignore: Sequence[str],
) -> dict[str, str]:
    """Return the column of each role: the one that the user named, or the one of that very name if it is there."""
    roles = {role: name for role, name in named.items() if name is not None}
    there = {role for role in searched if role in table.column_names}
    there -= {role for role in there if searched[role].kind == "times" and not holds_dates(table.column(role))}
    there |= {role for role in ("logging_probs", "logger_probs") if places(table, role, role)}
    there -= set(ignore)
    if not {"action", "dose"} & set(roles):
        kind = "dose" if "dose" in there and "action" not in there else "action"
        roles = {kind: kind} | roles
    for role, argument in searched.items():
        if role in there and role not in roles and argument.beside in roles:
            roles[role] = role
    return roles


def require(table: pa.Table, roles: dict[str, str], context: Sequence[str] = ()) -> None:
    """Require every column; suggest the nearest name otherwise."""
    for role, name in [*roles.items(), *(("context", name) for name in context)]:
        if not places(table, role, name):
            names = table.column_names
            useful = [other for other in names if tells_rows_apart(table, other)]
            hint = suggest_column(role, name, useful) + suggest_format(names) + suggest_header(names)
            raise DataError(f"column `{messages.show(name)}` must be there.{hint} Found: {messages.list_names(names)}.")
        require_readable(table.schema, places(table, role, name))


def list_context(
    table: pa.Table, roles: dict[str, str], chosen: Sequence[str] | None, free: Sequence[str], targets: Sequence[str]
) -> Sequence[str]:
    """Return the columns of the context: those that the user chose, or what is free and holds numbers or text."""
    if chosen is None:
        left_out = find_left_out(table, roles, free)
        chosen = [name for name in free if name not in left_out and may_be_context(table, name)]
    chosen = list(dict.fromkeys(chosen))
    known_later = [(role, roles[role]) for role in AFTER_DECISION if role in roles]
    for role, name in [*known_later, *(("target", name) for name in targets)]:
        held = next((place for place in places(table, role, name) if place in chosen), None)
        if held is not None:
            raise DataError(
                f"`context` must not hold column `{held}`, which is {NAMED_ROLES.get(role, f'the {role}')}."
            )
    outcome = next((name for name in find_outcomes(table) if name in chosen), None)
    if outcome is not None:
        raise DataError(f"`context` must not hold column `{outcome}`, {WITH_REWARD}.")
    return chosen


def find_by(table: pa.Table, texts: Sequence[str], roles: Mapping[str, str]) -> tuple[By, ...]:
    """Return the columns whose values are segments, which must be known before the decision."""
    columns_by = resolve_by(texts, table.column_names)
    for by in columns_by:
        require(table, {"by": by.column})
        require_values(by.column, table.schema.field(by.column).type)
        later_roles = [role for role in AFTER_DECISION if roles.get(role) == by.column]
        reason = None
        if by.column in find_outcomes(table):
            reason = WITH_REWARD
        elif later_roles:
            reason = f"which is {NAMED_ROLES.get(later_roles[0], f'the {later_roles[0]}')}"
        if reason is not None:
            rule = "must be a column that is known before the decision"
            raise DataError(f"`by` {rule}, got `{messages.show(by.column)}`, {reason}.")
    return columns_by


def may_be_context(table: pa.Table, name: str) -> bool:
    """Say whether a column may be context though nobody named it: numbers, or text that holds no lists or objects."""
    kind = table.schema.field(name).type
    return is_numeric(kind) or (
        is_categorical(kind) and not columns.is_matrix(table.select([name]).slice(0, FIRST), name)
    )


def find_left_out(table: pa.Table, roles: Mapping[str, str], free: Sequence[str]) -> dict[str, str]:
    """Return the columns that are free, but not taken for context by themselves, and why."""
    marks = {name: (table.schema.field(name).metadata or {}).get(NO_CONTEXT) for name in free}
    by_files = {name: reason.decode() for name, reason in marks.items() if reason is not None}
    dates = [name for name in free if is_date(table.schema.field(name).type)]
    others = {name: table.schema.field(name).type for name in free if not may_be_context(table, name)}
    nested = {name: NESTED.format(name_kind(kind)) for name, kind in others.items() if not is_categorical(kind)}
    policies = find_policy_columns(table, roles.get("action"), [name for name in free if name not in others])
    return nested | dict.fromkeys(dates, DATE) | by_files | find_spoilt_numbers(table, free) | policies


def name_kind(kind: pa.DataType) -> str:
    """Return what a type is called, whatever it holds: list, struct, duration.

    >>> name_kind(pa.large_list(pa.float64())), name_kind(pa.duration("s"))
    ('list', 'duration')
    """
    return re.sub(r"large_|fixed_size_|[<\[].*", "", str(kind))


def refuse_misspelt(table: pa.Table, ignore: Sequence[str]) -> None:
    """Refuse a column to be ignored that is not there, unless it is called like one of a target."""
    for name in ignore:
        if name.startswith("target") or places(table, "target", name):
            continue
        hint = messages.suggest(name, [other for other in table.column_names if other not in ignore])
        found = messages.list_names(table.column_names)
        raise DataError(f"column `{messages.show(name)}` in `ignore` must be there.{hint} Found: {found}.")


def mark_outcome(field: pa.Field) -> pa.Field:
    """Return a column that is known only after the decision, such as one that a reward is computed from."""
    return field.with_metadata({**(field.metadata or {}), OUTCOME: b""})


def find_outcomes(table: pa.Table) -> list[str]:
    """Return the columns that are known only after the decision, besides that of the reward."""
    return [field.name for field in table.schema if OUTCOME in (field.metadata or {})]


def find_missing_rewards(table: pa.Table) -> MissingRewards | None:
    """Return which rewards were missing before something was done about it, if anything was."""
    packed = (table.schema.metadata or {}).get(MISSING)
    return None if packed is None else MissingRewards(**json.loads(packed))


def find_notes(table: pa.Table) -> list[tuple[str, str]]:
    """Return what a reader did to make the rows of a table, and what to do about it."""
    return [(problem, remedy) for problem, remedy in json.loads((table.schema.metadata or {}).get(NOTES, b"[]"))]


def list_free(table: pa.Table, roles: dict[str, str], ignore: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Return the columns that are neither taken nor ignored."""
    taken = {place for role, name in roles.items() for place in places(table, role, name)}
    taken |= {place for name in (*ignore, *targets) for place in places(table, "target", name)}
    taken |= set(find_outcomes(table))
    if "dose" in roles:
        taken.add("action")  # it is known only after the decision
    return [name for name in table.column_names if name not in taken]


def refuse_two_roles(table: pa.Table, roles: Mapping[str, str], targets: Sequence[str]) -> None:
    """Refuse a column that is two things at once, such as the reward and the propensity, or the reward and a target."""
    owner: dict[str, str] = {}
    for role, name in roles.items():
        for place in places(table, role, name):
            other = owner.setdefault(place, role)
            if other != role and {other, role} not in MAY_BE_ONE:
                both = f"`{other}` and `{role}`"
                raise DataError(f"column `{place}` must have one role, got {both}. Name another column for one.")
    for place in list_places(table, targets):
        if owner.get(place, "propensity") not in {"propensity", "logging_probs"}:  # the log's policy is a fair target
            raise DataError(
                f"column `{place}` must have one role, got `{owner[place]}` and `target`. Name another target."
            )


def find_kind(table: pa.Table, name: str) -> str:
    """Return how a target's column is read, a key of `READERS`: a matrix, numbers, or labels if it is anything else."""
    require(table, {"target": name})
    if columns.is_matrix(table, name):
        return "matrix"
    return "numbers" if is_numeric(table.column(name).type) else "labels"


def read_target(table: pa.Table, name: str, check: Checker = WHOLE) -> Any:
    """Return a target's probabilities, labels or doses, or predicted rewards: numbers, or a matrix in any layout."""
    return columns.READERS[find_kind(table, name)](table, name, check)


def read_predictions(table: pa.Table, name: str, check: Checker = WHOLE) -> Any:
    """Return predicted rewards in any layout; what a struct, map or object does not name is NaN."""
    require(table, {"target": name})
    if columns.is_matrix(table, name):
        return columns.read_matrix(table, name, check, missing=np.nan)
    return columns.read_numbers(table, name)
