"""The first pass over a large log: it fits the reward model and takes a sample that stands for all rows."""

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.arrays import Ints
from counterfold.balance import BalanceStream, BalanceSums
from counterfold.contents import Spread
from counterfold.engines.passes.batches import Batch
from counterfold.engines.passes.row_builder import RowBuilder, aim_examples
from counterfold.hashing import hash_numbers, sample_least
from counterfold.models import ModelStream, ModelSums
from counterfold.sums import BUCKETS, add_known

SPARE = 2
"""A sample is cut to its size when it holds more than SPARE times as many rows."""

GROUPS = 1 << 10
"""Fewer groups are counted, and each has a bucket; more are estimated."""


@dataclass(frozen=True, eq=False)
class FirstPassSums:
    """What the first pass found; what it found of different rows can be added.

    `seen` says how often each action was logged, `groups` are the least hashes of groups, and `sample` holds the rows
    whose `row_numbers` have the least hashes, at least `size` of them. `balance` are sums that tell which columns are
    context, unless rows belong to groups, of which the sample then tells.
    """

    rewards: Spread
    seen: Ints | None
    groups: Ints | None
    sample: pa.Table
    row_numbers: Ints
    size: int
    model: ModelSums | None
    balance: BalanceSums | None

    def __add__(self, other: "FirstPassSums") -> "FirstPassSums":
        row_numbers = np.concatenate([self.row_numbers, other.row_numbers])
        sample = pa.concat_tables([self.sample, other.sample])
        if len(row_numbers) > SPARE * self.size:
            kept = sample_least(row_numbers, self.size)
            row_numbers, sample = row_numbers[kept], sample.take(kept)
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.union1d(self.groups, other.groups)[:GROUPS]
        seen = None if self.seen is None or other.seen is None else self.seen + other.seen
        rewards, model = self.rewards + other.rewards, add_known(self.model, other.model)
        balance = add_known(self.balance, other.balance)
        return FirstPassSums(rewards, seen, groups, sample, row_numbers, self.size, model, balance)

    @cached_property
    def batch(self) -> Batch:
        """Return the sample in the order of the log."""
        kept = sample_least(self.row_numbers, self.size)
        return Batch(self.sample.take(kept).combine_chunks(), self.row_numbers[kept])

    @property
    def group_count(self) -> int | None:
        """Return the number of groups, estimated by how densely their hashes lie if there are many."""
        if self.groups is None or len(self.groups) < GROUPS:
            return None if self.groups is None else len(self.groups)
        return int(float(f"{(GROUPS - 1) * 2.0**63 / float(self.groups[-1]):.1e}"))  # more digits would be invented

    @property
    def known_units(self) -> Ints | None:
        """Return all units of the log in order, if each can have a bucket: numbers of rows, or hashes of groups."""
        if self.groups is not None:
            return self.groups if len(self.groups) < GROUPS else None
        return self.batch.row_numbers if self.rewards.count <= BUCKETS else None


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What the first pass does with a batch; `row_count` is that of the log, if it is known."""

    builder: RowBuilder
    size: int
    row_count: int | None
    stream: ModelStream | None
    balance: BalanceStream

    def __call__(self, batch: Batch) -> FirstPassSums:
        """Return what is known of a batch, from fewer rows at a time where there are many actions."""
        return reduce(add, map(self.sum_batch, self.builder.split(batch)))

    def sum_batch(self, batch: Batch) -> FirstPassSums:
        """Return what is known of a few rows."""
        table, row_numbers = batch
        if self.stream is None:
            log, model = self.builder.layout.log(*batch), None
        else:
            log, targets = self.builder.build(batch, None)
            model = self.stream.sums(aim_examples(targets))
        is_known = self.builder.layout.actions is not None
        return FirstPassSums(
            rewards=Spread.of(log.reward),
            seen=np.bincount(log.action, minlength=len(log.actions)) if is_known else None,
            groups=np.unique(hash_numbers(self.builder.units(batch)))[:GROUPS] if self.builder.has_groups else None,
            **self._sample(table, row_numbers),
            size=self.size,
            model=model,
            balance=None if self.builder.has_groups else self.balance.sums(log),
        )

    def _sample(self, table: pa.Table, row_numbers: Ints) -> dict[str, Any]:
        """Return the rows of a batch that may be in the sample, and their numbers."""
        kept = sample_least(row_numbers, self.size, SPARE * self.size / self.row_count if self.row_count else 1.0)
        return {"sample": table.take(kept), "row_numbers": row_numbers[kept]}
