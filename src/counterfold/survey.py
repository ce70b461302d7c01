"""Survey: the first pass over a large log. It fits the reward model and takes a sample that stands for all rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterfold import checks, parts, readers
from counterfold.arrays import Floats, Ints, scattered
from counterfold.engines.base import Batch
from counterfold.models._streamed import ModelStream, ModelSums
from counterfold.models.base import Examples

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.readers._layout import Layout

SAMPLE, NUMBERS = 1 << 16, 1 << 23
"""How many rows a sample has, unless that many rows hold too many numbers."""

ENOUGH = 2
"""Of how many times as many rows the sample is chosen at last."""

GROUPS = 1 << 10
"""Fewer groups are counted, and each has a bucket; more are estimated."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass found; two surveys of different rows add up."""

    rows: int
    low: float
    high: float
    seen: Ints | None
    groups: Ints | None
    sample: "pa.Table"
    numbers: Ints
    size: int
    model: ModelSums | None

    def __add__(self, other: "Survey") -> "Survey":
        """Return what is known of the rows of both; the sample keeps the rows with the least hashes."""
        import pyarrow as pa

        numbers, sample = np.concatenate([self.numbers, other.numbers]), [self.sample, other.sample]
        both = pa.concat_tables(sample)
        if len(numbers) > ENOUGH * self.size:
            kept = least(numbers, self.size)
            numbers, both = numbers[kept], both.take(kept)
        return Survey(
            rows=self.rows + other.rows,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            seen=None if self.seen is None or other.seen is None else self.seen + other.seen,
            groups=None if self.groups is None or other.groups is None else merged(self.groups, other.groups),
            sample=both,
            numbers=numbers,
            size=self.size,
            model=None if self.model is None or other.model is None else self.model + other.model,
        )

    @property
    def batch(self) -> Batch:
        """Return the sample in the order of the log."""
        kept = least(self.numbers, self.size)
        return Batch(self.sample.take(kept).combine_chunks(), self.numbers[kept])

    @property
    def group_count(self) -> int | None:
        """Return the number of groups, estimated by how densely their hashes lie if there are many."""
        if self.groups is None or len(self.groups) < GROUPS:
            return None if self.groups is None else len(self.groups)
        return int(float(f"{(GROUPS - 1) * 2.0**63 / float(self.groups[-1]):.1e}"))  # more digits would be invented


@dataclass(frozen=True, eq=False)
class Surveying:
    """What the first pass does with a batch."""

    layout: "Layout"
    size: int
    rows: int | None
    stream: ModelStream | None
    aimed: Callable[[Batch], Examples]

    def __call__(self, batch: Batch) -> Survey:
        """Return what is known of a batch."""
        table, numbers = batch
        model = None
        if self.stream is not None:
            rows = self.aimed(batch)
            rewards, units, model = rows.rewards, rows.units, self.stream.sums(rows)
            seen: Ints | None = np.bincount(rows.actions, minlength=rows.n_actions)
        else:
            rewards, units, seen = self._plain(batch)
        kept = least(numbers, self.size, ENOUGH * self.size / self.rows if self.rows else 1.0)
        groups = np.unique(scattered(units))[:GROUPS] if "group" in self.layout.roles else None
        ends = float(rewards.min()), float(rewards.max())
        return Survey(len(rewards), *ends, seen, groups, table.take(kept), numbers[kept], self.size, model)

    def _plain(self, batch: Batch) -> tuple[Floats, Ints, Ints | None]:
        """Return rewards, units and how often each action was logged, where no reward model is fitted."""
        table, numbers = batch
        with checks.part(numbers), readers.columns_named(self.layout.roles):
            rewards = parts.rewards_of(self.layout.numbers(table, "reward"))
            units = hashed(self.layout.labels(table, "group")) if "group" in self.layout.roles else numbers
            if self.layout.actions is None:
                return rewards, units, None
            actions = tuple(self.layout.actions)
            codes = parts.codes_of("action", self.layout.labels(table, "action"), actions)
            return rewards, units, np.bincount(codes, minlength=len(actions))


def least(numbers: Ints, size: int, share: float = 1.0) -> Ints:
    """Return the places of the rows whose hashes are least: a random sample, the same however rows are cut up.

    Only rows among the given share of all hashes are looked at.
    """
    keys = scattered(numbers + (1 << 40))
    places = np.flatnonzero(keys < share * 2.0**63) if share < 1 else np.arange(len(keys))
    if len(places) > size:
        places = places[np.argpartition(keys[places], size)[:size]]
    return places[np.argsort(numbers[places])]


def merged(left: Ints, right: Ints) -> Ints:
    """Return the least of the hashes of both."""
    return np.union1d(left, right)[:GROUPS]


def hashed(labels: np.ndarray) -> Ints:
    """Return a number for each label, the same for the same label anywhere."""
    from hashlib import blake2b

    if labels.dtype.kind in "iub":
        return labels.astype(np.intp)
    unique, where = np.unique(labels.astype(str), return_inverse=True)
    digests = [blake2b(label.encode(), digest_size=8).digest() for label in unique.tolist()]
    return (np.frombuffer(b"".join(digests), dtype=np.int64) >> 1)[where].astype(np.intp)


def sample_size(width: int) -> int:
    """Return the number of rows in a sample, fewer where a row has very many numbers."""
    return max(1024, min(SAMPLE, NUMBERS // max(width, 1)))
