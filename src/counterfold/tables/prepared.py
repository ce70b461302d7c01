"""Which preparation the rewards of a log need; and all rows in memory once they are prepared."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.arrays import Ints
from counterfold.encoding.kinds import is_numeric
from counterfold.errors import DataError
from counterfold.messages import list_names
from counterfold.sources import parse_expression
from counterfold.tables import roles
from counterfold.tables.batches import Batch, Pass, run_together
from counterfold.tables.delays import Delay
from counterfold.tables.preparation import Preparation
from counterfold.tables.scan import LogScan


def prepare_table(scan: LogScan, table: pa.Table) -> tuple[pa.Table, Ints | None]:
    """Return all rows of a source with the reward that is asked for, and the numbers of those that are left, if so."""
    whole = Batch(table, np.arange(table.num_rows))

    def total(passes: list[Pass]) -> list[Any]:
        return [one.work_on(whole) for one in passes]

    (known,) = run_together([choose_preparation(scan, lambda: table.schema).learn()], total)
    left = known.prepare(whole)
    return known.mark_schema(left.table), left.row_numbers if known.dropped else None


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


def choose_preparation(scan: LogScan, find_schema: Callable[[], pa.Schema]) -> Preparation:
    """Return what is done with the rewards of a log; its columns are looked at only if it must be."""
    is_plain = scan.missing_reward == "error" and scan.horizon is None
    if is_plain and len(scan.rewards) == 1 and scan.rewards[0].isidentifier():
        return leave_alone(scan)
    return find_preparation(scan, find_schema())


def leave_alone(scan: LogScan) -> Preparation:
    """Return what does nothing with the rewards of a log."""
    return Preparation(str(scan.reward), "error", None, None, None, ())


def find_preparation(scan: LogScan, schema: pa.Schema) -> Preparation:
    """Return how rewards are made of the columns of a source, or nothing if they cannot be, as the layout will say."""
    names, table, reward = schema.names, schema.empty_table(), str(scan.reward)
    computed = {one: None if one in names else parse_expression(one, names) for one in scan.rewards}
    expression = computed[reward]
    if reward not in names and expression is None:
        return leave_alone(scan)
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
    return Preparation(reward, scan.missing_reward, expression, delay, action if action in names else None, outcomes)
