"""Drawing: some units of a large log as a log in memory, so that its other rows can judge what was learnt from them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import DataError
from counterfold.engines.passes.batches import HEAD, PreparedRows
from counterfold.engines.passes.plan import list_actions
from counterfold.engines.passes.whole_layout import know_times, list_read_columns
from counterfold.io.schema import columns
from counterfold.io.schema.batches import Batch, Task
from counterfold.io.schema.drawn import DrawnUnits, draw_row_keys
from counterfold.io.schema.layout import Layout
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
    head = rows.head.first(HEAD).table
    layout = replace(rows.scan.layout(head), by=())
    if "action" in layout.roles:
        layout = layout.know_actions((yield from list_actions(layout, head, rows)))
    if layout.guesses_time:
        layout = yield from know_times(rows, layout)
    group = layout.roles.get("group")
    size = count(len(layout.actions or ()), columns.count_numbers(head, layout.context))
    limit = int(min(MOST, SPARE * size / rows.count) * 2.0**63)

    def draw(batch: Batch) -> DrawnRows:
        keys = draw_row_keys(batch, group)
        earned = sum_rewards(layout, batch.table)
        return DrawnRows(batch, keys, limit, size, layout.summarise(*batch), earned).take_below(limit)

    found = (yield rows.ask("Drawing rows to learn from", draw, list_read_columns(layout, head, ()))).cut()
    decisions, earned = (found.earned - sum_rewards(layout, found.batch.table)).tolist()
    units = DrawnUnits(found.limit, group, len(found.keys), rows.count, earned / decisions if decisions else 0.0)
    require_both(units, size)
    layout = layout.learn(found.summary)
    return Drawn(make_log(layout, found.batch), units, list(layout.context))


def sum_rewards(layout: Layout, table: pa.Table) -> Floats:
    """Return how many decisions some rows stand for, and the sum of their rewards."""
    rewards = columns.read_numbers(table, layout.roles["reward"])
    kept = columns.read_numbers(table, layout.roles["kept"]) if "kept" in layout.roles else np.ones(len(rewards))
    return np.array([(1 / kept).sum(), (rewards / kept).sum()])


def require_both(units: DrawnUnits, size: int) -> None:
    """Require rows that were drawn, and others."""
    if min(units.row_count, units.total - units.row_count) < 2:
        what, way = "rows", ""
        if units.group is not None:
            what = f"groups of at most {min(size, units.total // 2)} rows"
            way = " Name a column with smaller groups in `group` (--group), or use engine 'memory'."
        raise DataError(f"`log` must have {what} to learn from and others to value the policy, got too few.{way}")


def make_log(layout: Layout, batch: Batch) -> Log:
    """Return rows that were drawn as a log, in their order."""
    order = np.argsort(batch.row_numbers, kind="stable")
    try:
        return layout.log(batch.table.take(order).combine_chunks(), batch.row_numbers[order], is_whole=True)
    except DataError as error:
        raise DataError(f"in the {len(order)} rows to learn from, {error}") from None
