"""Which preparation the rows of a log need; and all rows in memory once they are prepared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Ints
from counterfold.base.errors import DataError
from counterfold.base.messages import list_names
from counterfold.io.files.schemas import require_readable
from counterfold.io.schema import roles
from counterfold.io.schema.batches import Batch, LogRows, Pass, Result, Task, run_together
from counterfold.io.schema.delays import Delay
from counterfold.io.schema.preparation import Preparation
from counterfold.io.schema.resolution import learn_columns, resolve_columns
from counterfold.io.schema.scan import LogScan
from counterfold.io.schema.schema import Schema
from counterfold.io.sources import parse_expression
from counterfold.log.encoding.kinds import is_numeric
from counterfold.log.indices import find_index
from counterfold.log.log import Log

if TYPE_CHECKING:
    from counterfold.io.sources import Computed


@dataclass(frozen=True, eq=False)
class WholeRows(LogRows):
    """All rows of a log in memory, which are one batch.

    - `batch`: the rows with the reward that is asked for, without those that are left out, numbered anew.
    - `row_numbers`: the numbers of these rows in the source, if some were left out.
    """

    scan: LogScan
    batch: Batch
    row_numbers: Ints | None
    is_whole: ClassVar[bool] = True

    @classmethod
    def prepare(cls, scan: LogScan, table: pa.Table) -> Self:
        """Return the rows of a source with the reward that is asked for."""
        source_rows = Batch(table, np.arange(table.num_rows))
        preparation = run_on_batch(choose_preparation(scan, lambda: table.schema).learn(), source_rows)
        left = preparation.prepare(source_rows)
        batch = Batch(preparation.mark_schema(left.table), np.arange(left.table.num_rows))
        return cls(scan, batch, left.row_numbers if preparation.dropped else None)

    @property
    def table(self) -> pa.Table:
        """Return the rows as a table."""
        return self.batch.table

    @property
    def first(self) -> Batch:
        return self.batch

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    def ask(self, label: str, work: Callable[[Batch], Any], columns: Sequence[str]) -> Pass:
        return Pass(label, work, columns)

    def run(self, task: Task[Result]) -> Result:
        """Return the result of a task, whose passes read these rows."""
        return run_on_batch(task, self.batch)

    def read_log(self, schema: Schema) -> Log:
        """Return all rows as a log."""
        return schema.read_log(self.table, self.row_numbers, find_index(self.scan.source), is_whole=True)


def run_on_batch(task: Task[Result], whole: Batch) -> Result:
    """Return the result of a task, whose passes are over a batch that holds all rows."""

    def total(passes: list[Pass]) -> list[Any]:
        return [one.work_on(whole) for one in passes]

    (result,) = run_together([task], total)
    return result


def read_log(scan: LogScan) -> Log:
    """Return the whole of a log in memory."""
    rows = WholeRows.prepare(scan, scan.opened.table())
    schema = rows.run(learn_columns(rows, resolve_columns(scan, rows.table)))
    return rows.read_log(schema)


def take_left(value: Any, row_numbers: Ints | None, count: int) -> Any:
    """Return the rows that are left of an array or frame that has one for each of the `count` rows of a source."""
    has_rows = hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))
    if row_numbers is None or not has_rows or len(value) != count:
        return value
    if hasattr(value, "iloc"):  # of pandas
        return value.iloc[row_numbers]
    if isinstance(value, (list, tuple)):
        return [value[row] for row in row_numbers.tolist()]
    if isinstance(value, (pa.Array, pa.ChunkedArray, pa.Table)):
        return value.take(row_numbers)
    return value[row_numbers]


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
    if name is None or name in schema.names:
        return None
    computed = parse_expression(role, name, schema.names)
    if computed is not None:
        kind = computed.find_type(schema)
        if not is_numeric(kind):
            raise DataError(f"the {role} `{name}` must be numbers, got {kind}.")
    return computed


def find_preparation(scan: LogScan, schema: pa.Schema) -> Preparation:
    """Return how rewards and propensities are made of the columns of a source; the layout says what cannot be."""
    reward = str(scan.reward)
    rewards = {name: find_computed("reward", name, schema) for name in scan.rewards}
    propensity = find_computed("propensity", name_propensity(scan, schema.names), schema)
    computed = tuple(one for one in (rewards[reward], propensity) if one is not None)
    if reward not in schema.names and rewards[reward] is None:
        return Preparation(reward, computed=computed)

    reward_time = scan.reward_time or None
    if reward_time is None and "reward_time" in schema.names:
        reward_time = "reward_time"
    delay = None if scan.horizon is None else find_delay(scan, schema, reward_time)
    computed_from = [name for one in computed for name in one.columns]
    require_readable(schema, [*computed_from, *(name for name in rewards if name in schema.names)])

    # What is known only with a reward: the columns of all rewards that are asked for, and of what these are made.
    known_later: list[str] = []
    for name, expression in rewards.items():
        known_later += [name] if expression is None else expression.columns
    if delay is not None and reward_time is not None:
        known_later.append(reward_time)

    action = scan.action
    if not action and scan.dose is None:
        action = "action"
    return Preparation(
        reward=reward,
        way=scan.missing_reward,
        computed=computed,
        delay=delay,
        action=action if action in schema.names else None,
        outcomes=tuple(name for name in dict.fromkeys(known_later) if name != reward and name in schema.names),
        tells_propensity=() if propensity is None else propensity.columns,
    )


def find_delay(scan: LogScan, schema: pa.Schema, reward_time: str | None) -> Delay:
    """Return how long rewards are waited for, from columns that must be there."""
    if scan.time is None and "time" not in schema.names:
        way = f"name it: `time=...` (--time COLUMN). Found: {list_names(schema.names)}"
        raise DataError(f"with `horizon`, a log must have a column of when decisions were made; {way}.")
    delay = Delay.of(scan.time or "time", reward_time, scan.horizon, scan.until)
    roles.require(schema.empty_table(), dict(delay.columns))
    return delay
