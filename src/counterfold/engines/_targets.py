"""Targets and predictions that may be columns of the log's own table."""

from typing import TYPE_CHECKING, Any

from counterfold.arrays import Ints
from counterfold.checks import Checker
from counterfold.log import Log
from counterfold.models import Column
from counterfold.target import Target, as_target

if TYPE_CHECKING:
    import pyarrow as pa


def list_columns(targets: Any, reward_model: Any) -> list[str]:
    """Return the names of the columns that hold targets, and of the one that holds predictions."""
    named = [value for value in targets if isinstance(value, str)]
    return [*named, reward_model.name] if isinstance(reward_model, Column) else named


def read_column(table: "pa.Table", name: str, row_numbers: Ints | None = None) -> Any:
    """Return a column of a target's probabilities or doses, or of predicted rewards."""
    from counterfold.tables import roles

    return roles.read_target(table, name, Checker(row_numbers))


def read_target(value: Any, log: Log, table: "pa.Table | None", row_numbers: Ints | None = None) -> Target:
    """Return a checked target, which may be the name of a column; errors then name the column."""
    check = Checker(row_numbers)
    if table is None or not isinstance(value, str):
        return as_target(value, log, check)
    return as_target(read_column(table, value, row_numbers), log, check.name_columns({"target": value}))
