"""Which columns of a table play which role in a log."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from counterfold import words
from counterfold.errors import DataError
from counterfold.readers import _columns as columns

LEAST = {"target": 2, "logging_probs": 2, "available": 2, "logger_probs": 1}
"""The roles that may be spread over columns, and over how many at least: one `target_age` alone is no target."""


def places(table: pa.Table, role: str, name: str) -> list[str]:
    """Return the column of a role, or those that it is spread over; none if it is not there."""
    if name in table.column_names:
        return [name]
    return list(columns.spread(table, name, LEAST[role])) if role in LEAST else []


def found(table: pa.Table, named: dict[str, str | None]) -> dict[str, str]:
    """Return the column of each role: the one that the user named, or the one of that very name if it is there."""
    roles = {role: name for role, name in named.items() if name}
    there = {role for role in named if role in table.column_names}
    there |= {role for role in ("logging_probs", "logger_probs") if places(table, role, role)}
    if not {"action", "dose"} & set(roles):
        kind = "dose" if "dose" in there and "action" not in there else "action"
        roles = {kind: kind} | roles
    optional = ["propensity", "group"]
    if "action" in roles:
        optional += ["logging_probs", "available", "logger_probs"]
    roles = {role: role for role in optional if role in there} | roles
    if "logger_probs" in roles and "logger" in there:  # alone it may be any column of that name
        roles = {"logger": "logger"} | roles
    return roles


def require(table: pa.Table, roles: dict[str, str], context: Sequence[str] = ()) -> None:
    """Require every column; suggest the nearest name otherwise."""
    for role, name in [*roles.items(), *(("context", name) for name in context)]:
        if not places(table, role, name):
            known = table.column_names
            raise DataError(f"column `{name}` must be there.{words.nearest(name, known)} Found: {', '.join(known)}.")


def context_names(
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


def context_of(table: pa.Table, names: Sequence[str]) -> Any:
    """Return the context, if there is any."""
    return columns.features(table, names) if names else None


def read(table: pa.Table, roles: dict[str, str]) -> dict[str, Any]:
    """Return what a `Log` takes for each role."""
    single = {role: name for role, name in roles.items() if role != "logger_probs"}
    inputs = {role: columns.READ[role](table, name) for role, name in single.items()}
    if "logger_probs" in roles:
        labels = {str(label) for label in inputs.get("logger", ())}
        inputs["logger_probs"] = columns.matrices(table, roles["logger_probs"], labels)
    return inputs
