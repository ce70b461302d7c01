"""Which columns of a table play which role in a log."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from counterfold import messages
from counterfold.checks import WHOLE, Checker
from counterfold.errors import DataError
from counterfold.tables import columns
from counterfold.tables.scan import Role

LEAST = {"target": 2, "logging_probs": 2, "available": 2, "logger_probs": 1}
"""The roles that may be spread over columns, and over how many at least: one `target_age` alone is no target."""


def places(table: pa.Table, role: str, name: str) -> list[str]:
    """Return the column of a role, or those that it is spread over; none if it is not there."""
    if name in table.column_names:
        return [name]
    return list(columns.find_spread(table, name, LEAST[role])) if role in LEAST else []


def find_roles(table: pa.Table, known: Mapping[str, Role], named: Mapping[str, str | None]) -> dict[str, str]:
    """Return the column of each role: the one that the user named, or the one of that very name if it is there."""
    roles = {role: name for role, name in named.items() if name}
    there = {role for role in known if role in table.column_names}
    there |= {role for role in ("logging_probs", "logger_probs") if places(table, role, role)}
    if not {"action", "dose"} & set(roles):
        kind = "dose" if "dose" in there and "action" not in there else "action"
        roles = {kind: kind} | roles
    for role, (_, beside) in known.items():
        if role in there and role not in roles and beside in roles:
            roles[role] = role
    return roles


def require(table: pa.Table, roles: dict[str, str], context: Sequence[str] = ()) -> None:
    """Require every column; suggest the nearest name otherwise."""
    for role, name in [*roles.items(), *(("context", name) for name in context)]:
        if not places(table, role, name):
            known = table.column_names
            raise DataError(f"column `{name}` must be there.{messages.suggest(name, known)} Found: {', '.join(known)}.")


def list_context(
    table: pa.Table, roles: dict[str, str], chosen: Sequence[str] | None, ignore: Sequence[str]
) -> Sequence[str]:
    """Return the columns of the context: those that the user chose, or every numeric one that is not taken."""
    if chosen is None:
        taken = {place for role, name in roles.items() for place in places(table, role, name)}
        taken |= {place for name in ignore for place in places(table, "target", name)}
        if "dose" in roles:
            taken.add("action")  # it is known only after the decision
        chosen = [name for name in columns.numeric(table) if name not in taken]
    for role in ("action", "dose", "reward"):
        if roles.get(role) in chosen:
            raise DataError(f"`context` must not hold column `{roles[role]}`, which is the {role}.")
    return chosen


def read_target(table: pa.Table, name: str, check: Checker = WHOLE) -> Any:
    """Return a target's probabilities or doses, or predicted rewards: numbers, or a matrix in any layout."""
    require(table, {"target": name})
    if is_matrix(table, name):
        return columns.read_matrix(table, name, check)
    return columns.read_numbers(table, name)


def is_matrix(table: pa.Table, name: str) -> bool:
    """Say whether a target has more than one number in a row, such as the probabilities of all actions."""
    return name not in table.column_names or not columns.is_numeric(table.column(name).type)
