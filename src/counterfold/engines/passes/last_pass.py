"""The last pass over a large log: it sums what every candidate says of every target, bucket by bucket."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from counterfold.base.arrays import Ints
from counterfold.base.hashing import assign_folds, hash_numbers
from counterfold.engines.passes.row_builder import RowBuilder
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import BUCKETS, Sums, add_known, sum_by_bucket
from counterfold.evidence.evidence import Observer, Unsupported, observe_rows, split_observers
from counterfold.evidence.segments.sums import AllSegmentSums, sum_segments
from counterfold.io.schema.batches import Batch
from counterfold.log.assignment import BalanceStream, BalanceSums
from counterfold.log.contents import Spread
from counterfold.models import Fitted


@dataclass(frozen=True, eq=False)
class TargetSums:
    """The sums of one target, where it lacks support, its squared weights, and what observers of targets saw."""

    sums: Sums
    unsupported: Unsupported | None
    squared_weight: float
    observed: Mapping[str, Any]
    segments: AllSegmentSums | None = None

    def __add__(self, other: "TargetSums") -> "TargetSums":
        return TargetSums(
            sums=self.sums + other.sums,
            unsupported=add_known(self.unsupported, other.unsupported),
            squared_weight=self.squared_weight + other.squared_weight,
            observed=add_observed(self.observed, other.observed),
            segments=add_known(self.segments, other.segments),
        )


@dataclass(frozen=True, eq=False)
class LastPassSums:
    """What the last pass found of every target and of the log; what it found of different rows can be added.

    `observed` is what observers of the log alone saw.
    """

    targets: Mapping[str, TargetSums]
    rewards: Spread
    propensities: Spread
    balance: BalanceSums | None
    kept: Spread | None
    observed: Mapping[str, Any]

    def __add__(self, other: "LastPassSums") -> "LastPassSums":
        return LastPassSums(
            targets={name: mine + other.targets[name] for name, mine in self.targets.items()},
            rewards=self.rewards + other.rewards,
            propensities=self.propensities + other.propensities,
            balance=add_known(self.balance, other.balance),
            kept=add_known(self.kept, other.kept),
            observed=add_observed(self.observed, other.observed),
        )


def add_observed(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what observers saw in all of some rows and others; an observer may have seen something in either alone."""
    shared = {name: seen + other[name] for name, seen in one.items() if name in other}
    return {**one, **other, **shared}


@dataclass(frozen=True, eq=False)
class LastPass:
    """What the last pass does with a batch.

    `segmented` are the estimators that are summed by segment. `samples` are the rows of every target that stand for the
    whole log. If there are few units, `known_units` are all of them, in order: the numbers of rows, or the hashes of
    groups; each has a bucket of its own. `balance` is there if no first pass tested the log.
    """

    builder: RowBuilder
    models: Mapping[str, Fitted]
    estimators: Mapping[str, Sequence[Estimator]]
    segmented: Mapping[str, Sequence[Estimator]]
    samples: Mapping[str, Rows]
    observers: Sequence[Observer]
    known_units: Ints | None
    balance: BalanceStream | None

    def __call__(self, batch: Batch) -> LastPassSums:
        """Return the sums of a batch over all buckets, of fewer rows at a time where there are many actions."""
        return reduce(add, map(self.sum_batch, self.builder.split(batch)))

    def sum_batch(self, batch: Batch) -> LastPassSums:
        """Return the sums of a few rows."""
        log, targets = self.builder.build(batch, self.models)
        of_log, of_targets = split_observers(self.observers)
        first = next(iter(targets))
        observed = observe_rows(self._stand_for_all(first, targets[first]), of_log)
        return LastPassSums(
            targets={name: self._sum_target(name, rows, of_targets) for name, rows in targets.items()},
            rewards=Spread.of(log.reward, log.counts),
            propensities=Spread.of(log.propensity),
            balance=None if self.balance is None else self.balance.sums(log),
            kept=None if log.kept is None else Spread.of(log.kept),
            observed=observed,
        )

    def _stand_for_all(self, name: str, rows: Rows) -> Rows:
        """Return rows of a target that know which sample stands for all of its rows."""
        return replace(rows, whole=self.samples[name])

    def _sum_target(self, name: str, rows: Rows, observers: Sequence[Observer]) -> TargetSums:
        """Return the sums of one target."""
        rows = self._stand_for_all(name, rows)
        buckets = self.assign_buckets(rows.examples.units)
        cuts = self.builder.schema.segments.cuts
        return TargetSums(
            sums=sum_by_bucket(rows, self.estimators[name], buckets, BUCKETS),
            unsupported=Unsupported.of(rows),
            squared_weight=float(np.square(rows.masses).sum()),
            observed=observe_rows(rows, observers),
            segments=sum_segments(rows, self.segmented[name], buckets, cuts) if cuts else None,
        )

    def assign_buckets(self, units: Ints) -> Ints:
        """Return the bucket of each row."""
        if self.known_units is None:
            return assign_folds(units, BUCKETS)
        return np.searchsorted(self.known_units, hash_numbers(units) if self.builder.has_groups else units)
