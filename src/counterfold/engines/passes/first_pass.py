"""The first pass over a large log: it fits the reward model and takes a sample that stands for all rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from counterfold.base.arrays import Ints
from counterfold.base.hashing import hash_numbers
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.engines.passes.sample import Sample
from counterfold.estimators.sums import BUCKETS, add_known
from counterfold.io.schema.batches import Batch
from counterfold.log.assignment import BalanceStream, BalanceSums
from counterfold.log.contents import Spread
from counterfold.log.segments.summaries import BySummary
from counterfold.models import ModelStream, ModelSums, Summed

GROUPS = 1 << 10
"""Fewer groups are counted, and each has a bucket; more are estimated."""


@dataclass(frozen=True, eq=False)
class FirstPassSums:
    """What the first pass found; what it found of different rows can be added.

    `seen` says how often each action was logged, and `groups` are the least hashes of groups. `balance` are sums that
    tell which columns are context, unless rows belong to groups, of which the sample then tells; `by` is what tells
    how columns are cut into segments.
    """

    rewards: Spread
    seen: Ints | None
    groups: Ints | None
    sample: Sample
    models: Mapping[str, ModelSums]
    balance: BalanceSums | None
    by: BySummary | None = None

    def __add__(self, other: "FirstPassSums") -> "FirstPassSums":
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.union1d(self.groups, other.groups)[:GROUPS]
        seen = None if self.seen is None or other.seen is None else self.seen + other.seen
        return FirstPassSums(
            rewards=self.rewards + other.rewards,
            seen=seen,
            groups=groups,
            sample=self.sample + other.sample,
            models={name: mine + other.models[name] for name, mine in self.models.items()},
            balance=add_known(self.balance, other.balance),
            by=add_known(self.by, other.by),
        )

    @property
    def batch(self) -> Batch:
        """Return the sample in the order of the log."""
        return self.sample.batch

    @property
    def group_count(self) -> int | None:
        """Return the number of groups, estimated by how densely their hashes lie if there are many."""
        if self.groups is None or len(self.groups) < GROUPS:
            return None if self.groups is None else len(self.groups)
        return int(float(f"{(GROUPS - 1) * 2.0**63 / float(self.groups[-1]):.1e}"))  # more digits would be invented

    @property
    def known_units(self) -> Ints | None:
        """Return all units of the log in order, if each can have a bucket: ranks of rows, or hashes of groups."""
        if self.groups is not None:
            return self.groups if len(self.groups) < GROUPS else None
        return np.arange(self.rewards.count) if self.rewards.count <= BUCKETS else None


@dataclass(frozen=True, eq=False)
class FirstPass:
    """What the first pass does with a batch; `row_count` is that of the log, if it is known.

    `streams` are those of the reward models of targets that need one of their own.
    """

    builder: RowBuilder
    size: int
    row_count: int | None
    streams: Mapping[str, ModelStream[Summed]]
    balance: BalanceStream

    def __call__(self, batch: Batch) -> FirstPassSums:
        """Return what is known of a batch, from fewer rows at a time where there are many actions."""
        return reduce(add, map(self.sum_batch, self.builder.split(batch)))

    def sum_batch(self, batch: Batch) -> FirstPassSums:
        """Return what is known of a few rows."""
        models: dict[str, ModelSums] = {}
        if self.streams:
            log, targets = self.builder.build(batch, {})
            models = {name: stream.sums(targets[name].examples) for name, stream in self.streams.items()}
        else:
            log = self.builder.schema.read_log(*batch)
        is_known = self.builder.schema.actions.labels is not None
        return FirstPassSums(
            rewards=Spread.of(log.reward, log.counts),
            seen=np.bincount(log.action, minlength=len(log.actions)) if is_known else None,
            groups=np.unique(hash_numbers(self.builder.units(batch)))[:GROUPS] if self.builder.has_groups else None,
            sample=Sample.of(batch, self.size, self.row_count),
            models=models,
            balance=None if self.builder.has_groups else self.balance.sums(log),
            by=self.builder.schema.segments.summarise(*batch),
        )
