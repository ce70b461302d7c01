"""Preparation: what is done with the rows of a log before anything else is.

Rewards and propensities are computed, and rewards are left out or counted as 0.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold.base.arrays import Bools
from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.base.row_counts import Tally
from counterfold.base.validation import Checker
from counterfold.io.formats.base import NOTES, leave_out
from counterfold.io.schema import roles
from counterfold.io.schema.batches import Batch, Pass, Task
from counterfold.io.schema.delays import Delay
from counterfold.io.schema.drawn import DrawnUnits
from counterfold.io.schema.same_context import COLUMN, ContextGroups
from counterfold.log.encoding.kinds import is_numeric, is_text
from counterfold.log.encoding.numbers import decode_dictionary
from counterfold.log.missing_rewards import MissingRewards

if TYPE_CHECKING:
    from counterfold.io.sources import Computed

TELLS_PROPENSITY = "the propensity is computed from it; name it in `context` if it was known before the decision"

REMEDIES = {
    "drop": ("were left out", "make sure that rewards are missing by chance, whatever they would be"),
    "zero": ("count as 0", "make sure that no reward will come for these rows"),
}


@dataclass(frozen=True)
class RewardSums:
    """How many rewards are so, and how many are missing, and there, after each action; two such can be added."""

    tally: Tally
    missing: "Counter[str]"
    there: "Counter[str]"

    def __add__(self, other: "RewardSums") -> "RewardSums":
        return RewardSums(self.tally + other.tally, self.missing + other.missing, self.there + other.there)


@dataclass(frozen=True)
class Rewards:
    """The rewards of some rows, which rows are left out, and what is to be counted of them."""

    column: pa.ChunkedArray
    is_dropped: Bools
    is_missing: Bools
    marks: Mapping[str, tuple[Bools, pa.ChunkedArray]]


@dataclass(frozen=True)
class Preparation:
    """How the rewards of a log are made of the rows of a table, and which other columns are.

    `computed` are the columns that are not in the table. `outcomes` are columns that are known only after the decision,
    and `tells_propensity` those of which propensities are computed. `sums` are those of all rows, once these are known.
    Rows of `drawn` units are left out. `groups` say which rows belong together by their context.
    """

    reward: str
    way: str = "error"
    computed: "tuple[Computed, ...]" = ()
    delay: Delay | None = None
    action: str | None = None
    outcomes: tuple[str, ...] = ()
    tells_propensity: tuple[str, ...] = ()
    sums: RewardSums | None = None
    drawn: DrawnUnits | None = None
    groups: ContextGroups | None = None

    @property
    def columns(self) -> list[str]:
        """Return the columns that are needed, whatever else is read."""
        needed = [name for one in self.computed for name in one.columns]
        if self.groups is not None:
            needed += self.groups.context
        if self.drawn is not None:
            needed += [name for name in self.drawn.columns if name not in self.made]
        if self.needs_sums and self.reward not in self.made:
            needed.append(self.reward)
        if self.delay is not None:
            needed += self.delay.columns.values()
        return list(dict.fromkeys(needed))

    @property
    def made(self) -> list[str]:
        """Return the columns that are computed."""
        computed = [one.text for one in self.computed]
        return computed if self.groups is None else [COLUMN, *computed]

    @property
    def needs_sums(self) -> bool:
        """Say whether all rows must be counted first."""
        return self.way != "error" or self.delay is not None

    def list_sources(self, columns: Sequence[str]) -> list[str]:
        """Return the columns of the source from which these are made."""
        return list(dict.fromkeys([*(name for name in columns if name not in self.made), *self.columns]))

    def learn(self) -> "Task[Preparation]":
        """Return the preparation with what all rows tell, if it needs to know; refuse what cannot be right."""
        if not self.needs_sums:
            return self
        preparation = self
        if self.delay is not None:
            times = yield Pass("Reading times", self.delay.observe, list(self.delay.columns.values()))
            preparation = replace(self, delay=self.delay.close(times))
        needed = preparation.columns
        if self.action is not None:
            needed = list(dict.fromkeys([*needed, self.action]))
        sums: RewardSums = yield Pass("Reading rewards", preparation.count, needed)
        if preparation.delay is not None:
            preparation.delay.refuse_wrong_times(sums.tally)
        preparation = replace(preparation, sums=sums)
        if preparation.row_count < 2:
            got = f"{preparation.row_count} of {sums.tally.rows}"
            called = Checker().name_columns({"reward": self.reward}).called("reward")
            raise DataError(f"{called} must be there in at least 2 rows, got {got}.")
        return preparation

    @property
    def dropped(self) -> int:
        """Return how many rows are left out."""
        dropped = 0
        if self.drawn is not None:
            dropped += self.drawn.row_count
        if self.sums is not None:
            dropped += self.sums.tally.count("young")
            if self.way == "drop":
                dropped += self.sums.tally.count("missing")
        return dropped

    @property
    def row_count(self) -> int:
        """Return how many rows are left, once all are counted."""
        return 0 if self.sums is None else self.sums.tally.rows - self.dropped

    def count(self, batch: Batch) -> RewardSums:
        """Return what some rows tell of their rewards."""
        table, row_numbers = batch
        rewards = self.find_rewards(self.add_columns(table))
        tally = Tally.of(row_numbers, rewards.marks)
        if self.action is None or pa.types.is_nested(table.schema.field(self.action).type):
            return RewardSums(tally, missing=Counter(), there=Counter())
        labels = table.column(self.action)
        is_there = ~rewards.is_missing
        if "young" in rewards.marks:
            is_there &= ~rewards.marks["young"][0]
        return RewardSums(
            tally,
            missing=count_labels(labels, rewards.is_missing),
            there=count_labels(labels, is_there),
        )

    def add_columns(self, table: pa.Table) -> pa.Table:
        """Return the table with the columns that are computed."""
        for one in self.computed:
            table = table.append_column(one.text, one.compute(table))
        return table

    def find_rewards(self, table: pa.Table) -> Rewards:
        """Return the rewards of some rows, 0 where they count as 0, and which rows are left out."""
        column = decode_dictionary(table.column(self.reward))
        is_missing = find_missing(column)
        is_dropped = is_zero = np.zeros(len(column), dtype=bool)
        marks: dict[str, tuple[Bools, pa.ChunkedArray]] = {}
        if self.delay is not None:
            ripe = self.delay.judge(table, is_missing, find_zeros(column))
            times = table.column(self.delay.columns.get("reward_time", self.delay.columns["time"]))
            marks = {name.removeprefix("is_"): (mark, times) for name, mark in ripe._asdict().items()}
            is_missing = is_missing & ~ripe.is_young & ~ripe.is_unrewarded & ~ripe.is_late
            is_dropped = ripe.is_young
            is_zero = ripe.is_late | ripe.is_unrewarded
        marks["missing"] = (is_missing, column)
        if self.way == "drop":
            is_dropped = is_dropped | is_missing
        if self.way == "zero":
            is_zero = is_zero | is_missing
        return Rewards(fill_zeros(column, is_zero), is_dropped, is_missing, marks)

    def prepare(self, batch: Batch) -> Batch:
        """Return some rows with their rewards, without those that are left out."""
        if self.groups is not None:
            batch = self.groups.append_to(batch)
        if self.drawn is not None:
            batch = self.drawn.leave_out(batch)
        table = self.add_columns(batch.table)
        row_numbers = batch.row_numbers
        if self.needs_sums:
            rewards = self.find_rewards(table)
            table = table.set_column(table.column_names.index(self.reward), self.reward, rewards.column)
            if self.dropped:
                is_left = ~rewards.is_dropped
                table = table.filter(pa.array(is_left))
                row_numbers = row_numbers[is_left]
        return Batch(table, row_numbers)

    def mark_schema(self, table: pa.Table) -> pa.Table:
        """Return the table with what its columns are, and what was done, in its schema."""
        if not (self.outcomes or self.tells_propensity or self.notes or self.missing_rewards):
            return table
        fields = [
            leave_out(one, TELLS_PROPENSITY) if one.name in self.tells_propensity else one for one in table.schema
        ]
        fields = [roles.mark_outcome(one) if one.name in self.outcomes else one for one in fields]
        metadata = {**(table.schema.metadata or {})}
        if self.notes:
            metadata[NOTES] = json.dumps([*roles.find_notes(table), *self.notes]).encode()
        if self.missing_rewards is not None:
            metadata[roles.MISSING] = json.dumps(self.missing_rewards.to_dict()).encode()
        return table.cast(pa.schema(fields, metadata=metadata))

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Return what was done with rows and rewards, and what that assumes."""
        notes: list[tuple[str, str]] = []
        if self.drawn is not None:
            notes.append(self.drawn.note)
        if self.groups is not None:
            notes.append(self.groups.note)
        for computed in self.computed:
            notes += [note_skipping(computed.role, function) for function in computed.skipping]
        if self.sums is None:
            return notes
        tally = self.sums.tally
        if self.delay is not None:
            notes += self.delay.list_notes(tally)
        if tally.count("missing") and self.way in REMEDIES:
            done, remedy = REMEDIES[self.way]
            notes.append((f"{tally.count('missing'):,} of {tally.rows:,} rows have no reward and {done}", remedy))
        return notes

    @cached_property
    def missing_rewards(self) -> MissingRewards | None:
        """Return which rewards were missing, of all rows that are old enough, if something was done about it."""
        if self.sums is None or self.way not in REMEDIES:
            return None
        missing = self.sums.missing
        there = self.sums.there
        tally = self.sums.tally
        by_action = {label: (missing[label], missing[label] + there[label]) for label in sorted({*missing, *there})}
        return MissingRewards.of(self.way, tally.count("missing"), tally.rows - tally.count("young"), by_action)


def note_skipping(role: str, function: str) -> tuple[str, str]:
    """Return what is to be said of a function that gives a number where one of its columns has none."""
    done = f"a {role} is computed by `{function}`, which leaves out what is missing: such rows have a {role}, too"
    return done, f"write `case when x is null then null else {function}(x, ...) end` if these rows have none"


def find_missing(column: pa.ChunkedArray) -> Bools:
    """Return which rewards are missing: none, or not a number; whatever else is no number is refused elsewhere."""
    if is_text(column.type):
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.string())))
        return np.asarray(pc.fill_null(pc.equal(texts, "nan"), fill_value=True).to_numpy())
    return np.asarray(column.is_null(nan_is_null=True).to_numpy())


def find_zeros(column: pa.ChunkedArray) -> Bools:
    """Return which rewards are 0; those in text that is no number are not."""
    if is_text(column.type):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        return np.asarray(pc.fill_null(pc.is_in(texts, pa.array(["0", "0.0"])), fill_value=False).to_numpy())
    if not is_numeric(column.type):
        return np.zeros(len(column), dtype=bool)
    zeros: Bools = np.equal(column.cast(pa.float64(), safe=False).to_numpy(), 0)
    return zeros


def fill_zeros(column: pa.ChunkedArray, is_zero: Bools) -> pa.ChunkedArray:
    """Return rewards with 0 in some rows; what holds no numbers is left as it is, and refused elsewhere."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    if not is_zero.any() or not (is_numeric(column.type) or is_text(column.type)):
        return column
    zero = pa.scalar(False if pa.types.is_boolean(column.type) else "0").cast(column.type)
    return pc.if_else(pa.array(is_zero), zero, column)


def count_labels(labels: pa.ChunkedArray, chosen: Bools) -> "Counter[str]":
    """Return how many of the chosen rows have each label."""
    counts = labels.filter(pa.array(chosen)).value_counts()
    return Counter({str(label["values"]): label["counts"].as_py() for label in counts})
