"""Drawing: some units of a large log as a log in memory, so that its other rows can judge what was learnt from them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError
from counterfold.base.validation import Checker
from counterfold.engines.passes.batches import PreparedRows
from counterfold.engines.passes.resolve import list_actions, list_read_columns
from counterfold.io.schema import columns
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.drawn import DrawnUnits, draw_row_keys
from counterfold.io.schema.resolution import judge_times, resolve_columns
from counterfold.io.schema.schema import Schema, SegmentColumns
from counterfold.log import log_checks
from counterfold.log.encoding import ContextSummary
from counterfold.log.log import Log

SPARE = 2
"""Drawn rows are cut to the number that is wanted when there are more than SPARE times as many."""

MOST = 0.5
"""No larger share of the units is drawn."""

Count = Callable[[int, int], int]
"""Says how many rows are drawn at most, by how many actions there are, and numbers in the context of a row."""


class Drawn(NamedTuple):
    """What was drawn: a log, the units that it holds, and the columns of the table that its context comes from."""

    log: Log
    units: DrawnUnits
    context: list[str]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows of units with the least keys, all of them below `limit`; those of other rows can be added.

    There are no more than `size`, once they are `cut`. `summary` is what all rows tell of the context, and `earned`
    how many decisions they all stand for, and the sum of their rewards.
    """

    batch: Batch
    keys: Ints
    limit: int
    size: int
    summary: ContextSummary
    earned: Floats

    def take_below(self, limit: int) -> "DrawnRows":
        """Return the rows of units with keys below a limit."""
        kept = self.keys < limit
        return replace(self, batch=self.batch.filter(kept), keys=self.keys[kept], limit=limit)

    def cut(self) -> "DrawnRows":
        """Return at most `size` rows, and all of a unit or none, whatever the order in which rows were added."""
        if len(self.keys) <= self.size:
            return self
        return self.take_below(int(np.partition(self.keys, self.size)[self.size]))

    def __add__(self, other: "DrawnRows") -> "DrawnRows":
        limit = min(self.limit, other.limit)
        one, two = self.take_below(limit), other.take_below(limit)
        numbers = np.concatenate([one.batch.row_numbers, two.batch.row_numbers])
        batch = Batch(pa.concat_tables([one.batch.table, two.batch.table]), numbers)
        summary, keys = self.summary + other.summary, np.concatenate([one.keys, two.keys])
        found = DrawnRows(batch, keys, limit, self.size, summary, self.earned + other.earned)
        return found.cut() if len(keys) > SPARE * self.size else found


def draw_sample(rows: PreparedRows, count: Count) -> Task[Drawn]:
    """Return whole units of a log; all its rows tell what the actions are, and how the context is encoded."""
    log_checks.require_rows(rows.count)
    table = rows.first.table
    schema = replace(resolve_columns(rows.scan, table), segments=SegmentColumns())
    if "action" in schema.columns:
        labels = yield from list_actions(rows, schema)
        schema = replace(schema, actions=schema.actions.name_all(labels))
    if schema.guesses_time:
        schema = yield from judge_times(rows, schema)
    group = schema.columns.get("group")
    size = count(schema.actions.count, columns.count_numbers(table, schema.context.names))
    limit = int(min(MOST, SPARE * size / rows.count) * 2.0**63)

    def draw(batch: Batch) -> DrawnRows:
        candidates = DrawnRows(
            batch=batch,
            keys=draw_row_keys(batch, group),
            limit=limit,
            size=size,
            summary=schema.context.summarise(batch.table, Checker(batch.row_numbers)),
            earned=sum_rewards(schema, batch.table),
        )
        return candidates.take_below(limit)

    drawn: DrawnRows = yield rows.ask("Drawing rows to learn from", draw, list_read_columns(schema, table, ()))
    drawn = drawn.cut()
    decisions, earned = (drawn.earned - sum_rewards(schema, drawn.batch.table)).tolist()
    units = DrawnUnits(
        limit=drawn.limit,
        group=group,
        row_count=len(drawn.keys),
        total=rows.count,
        reward=earned / decisions if decisions else 0.0,
    )
    require_both(units, size)
    schema = replace(schema, context=schema.context.learn(drawn.summary))
    return Drawn(make_log(schema, drawn.batch), units, list(schema.context.names))


def sum_rewards(schema: Schema, table: pa.Table) -> Floats:
    """Return how many decisions some rows stand for, and the sum of their rewards."""
    rewards = columns.read_numbers(table, schema.columns["reward"])
    kept = np.ones(len(rewards))
    if "kept" in schema.columns:
        kept = columns.read_numbers(table, schema.columns["kept"])
    return np.array([(1 / kept).sum(), (rewards / kept).sum()])


def require_both(units: DrawnUnits, size: int) -> None:
    """Require rows that were drawn, and others."""
    if min(units.row_count, units.total - units.row_count) < 2:
        what, way = "rows", ""
        if units.group is not None:
            what = f"groups of at most {min(size, units.total // 2)} rows"
            way = " Name a column with smaller groups in `group` (--group), or use engine 'memory'."
        raise DataError(f"`log` must have {what} to learn from and others to value the policy, got too few.{way}")


def make_log(schema: Schema, batch: Batch) -> Log:
    """Return rows that were drawn as a log, in their order."""
    order = np.argsort(batch.row_numbers, kind="stable")
    try:
        return schema.read_log(batch.table.take(order).combine_chunks(), batch.row_numbers[order], is_whole=True)
    except DataError as error:
        raise DataError(f"in the {len(order)} rows to learn from, {error}") from None
