"""The first pass over a large log: it fits the reward model and takes a sample that stands for all rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from counterfold import log_checks
from counterfold.arrays import Floats, Ints
from counterfold.engines.passes.batches import Batch
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.hashing import hash_numbers, sample_least
from counterfold.labels import encode_labels
from counterfold.log import Spread
from counterfold.models import ModelStream, ModelSums
from counterfold.sums import BUCKETS, add_known
from counterfold.tables import columns

SPARE = 2
"""A sample is cut to its size when it holds more than SPARE times as many rows."""

GROUPS = 1 << 10
"""Fewer groups are counted, and each has a bucket; more are estimated."""


@dataclass(frozen=True, eq=False)
class FirstPassSums:
    """What the first pass found; what it found of different rows can be added.

    `seen` says how often each action was logged, `groups` are the least hashes of groups, and `sample` holds the rows
    whose `row_numbers` have the least hashes, at least `size` of them.
    """

    rewards: Spread
    seen: Ints | None
    groups: Ints | None
    sample: pa.Table
    row_numbers: Ints
    size: int
    model: ModelSums | None

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
        return FirstPassSums(rewards, seen, groups, sample, row_numbers, self.size, model)

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

    def __call__(self, batch: Batch) -> FirstPassSums:
        """Return what is known of a batch."""
        table, row_numbers = batch
        model = None
        if self.stream is not None:
            known = self.builder.examples(batch)
            rewards, units, model = known.rewards, known.units, self.stream.sums(known)
            seen: Ints | None = np.bincount(known.actions, minlength=known.n_actions)
        else:
            rewards, units, seen = self._read(batch)
        kept = sample_least(row_numbers, self.size, SPARE * self.size / self.row_count if self.row_count else 1.0)
        groups = np.unique(hash_numbers(units))[:GROUPS] if self.builder.has_groups else None
        return FirstPassSums(Spread.of(rewards), seen, groups, table.take(kept), row_numbers[kept], self.size, model)

    def _read(self, batch: Batch) -> tuple[Floats, Ints, Ints | None]:
        """Return rewards, units and how often each action was logged, where no reward model is fitted."""
        table, row_numbers = batch
        layout, check = self.builder.layout, self.builder.layout.checker(row_numbers)
        rewards = log_checks.check_rewards(columns.read_numbers(table, layout.roles["reward"]), check)
        units = self.builder.units(batch)
        if layout.actions is None:
            return rewards, units, None
        actions = tuple(layout.actions)
        codes = encode_labels("action", layout.read_labels(table, "action", row_numbers), actions, check)
        return rewards, units, np.bincount(codes, minlength=len(actions))
