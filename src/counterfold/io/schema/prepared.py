"""Which preparation the rows of a log need; and all rows in memory once they are prepared."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError
from counterfold.base.messages import list_names
from counterfold.io.files.schemas import require_readable
from counterfold.io.schema import roles
from counterfold.io.schema.batches import Batch, Pass, run_together
from counterfold.io.schema.delays import Delay
from counterfold.io.schema.preparation import Preparation
from counterfold.io.schema.scan import LogScan
from counterfold.io.sources import parse_expression
from counterfold.log.encoding.kinds import is_numeric

if TYPE_CHECKING:
    from counterfold.io.sources import Computed


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
    """Return what is done with the rows of a log; its columns are looked at only if it must be."""
    is_plain = scan.missing_reward == "error" and scan.horizon is None and len(scan.rewards) == 1
    named = [scan.rewards[0], name_propensity(scan) or "propensity"]
    if is_plain and all(name.isidentifier() for name in named):
        return Preparation(str(scan.reward))
    return find_preparation(scan, find_schema())


def name_propensity(scan: LogScan, columns: Sequence[str] = ()) -> str | None:
    """Return the column of the propensity, or the expression in its place, if one is named and none is fitted."""
    return None if scan.propensity is None or scan.find_fit(columns) is not None else str(scan.propensity)


def find_computed(role: str, name: str | None, schema: pa.Schema) -> "Computed | None":
    """Return how the column of a role is computed, if it is not there and what is named can be computed."""
    found = None if name is None or name in schema.names else parse_expression(role, name, schema.names)
    if found is not None and not is_numeric(kind := found.find_type(schema)):
        raise DataError(f"the {role} `{name}` must be numbers, got {kind}.")
    return found


def find_preparation(scan: LogScan, schema: pa.Schema) -> Preparation:
    """Return how rewards and propensities are made of the columns of a source; the layout says what cannot be."""
    names, reward = schema.names, str(scan.reward)
    rewards = {name: find_computed("reward", name, schema) for name in scan.rewards}
    propensity = find_computed("propensity", name_propensity(scan, names), schema)
    computed = tuple(one for one in (rewards[reward], propensity) if one is not None)
    if reward not in names and rewards[reward] is None:
        return Preparation(reward, computed=computed)
    reward_time = scan.reward_time or next((one for one in ("reward_time",) if one in names), None)
    delay = None if scan.horizon is None else find_delay(scan, schema, reward_time)
    used = [name for one in computed for name in one.columns]
    require_readable(schema, [*used, *(name for name in rewards if name in names)])
    known_later = [place for name, one in rewards.items() for place in ([name] if one is None else one.columns)]
    known_later += [] if delay is None or reward_time is None else [reward_time]
    outcomes = tuple(one for one in dict.fromkeys(known_later) if one != reward and one in names)
    action = scan.action or ("action" if "action" in names and scan.dose is None else None)
    tells = () if propensity is None else propensity.columns
    return Preparation(
        reward, scan.missing_reward, computed, delay, action if action in names else None, outcomes, tells
    )


def find_delay(scan: LogScan, schema: pa.Schema, reward_time: str | None) -> Delay:
    """Return how long rewards are waited for, from columns that must be there."""
    if scan.time is None and "time" not in schema.names:
        way = f"name it: `time=...` (--time COLUMN). Found: {list_names(schema.names)}"
        raise DataError(f"with `horizon`, a log must have a column of when decisions were made; {way}.")
    delay = Delay.of(scan.time or "time", reward_time, scan.horizon, scan.until)
    roles.require(schema.empty_table(), dict(delay.columns))
    return delay
