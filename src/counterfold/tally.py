"""Tally: the second pass over a large log. It sums what every candidate says of every target, bucket by bucket."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfold import checks, readers
from counterfold.arrays import Floats, Ints, scattered
from counterfold.contents import Spread
from counterfold.engines.base import Batch
from counterfold.estimators.base import Estimator
from counterfold.log import Log
from counterfold.models import as_model
from counterfold.models.base import Examples, RewardModel
from counterfold.rows import Rows
from counterfold.sums import BUCKETS, NUMBERS, Sums, summed
from counterfold.survey import hashed
from counterfold.target import Target, as_target

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.readers._layout import Layout

Aim = str | Callable[[Floats], Any]
"""A target of a log that is not in memory: a column, or a function of the context."""


@dataclass(frozen=True, eq=False)
class Weights:
    """What diagnostics must know of the weights of one target."""

    squares: float
    largest: float
    unsupported_rows: int | None
    unsupported_mass: float | None

    @classmethod
    def of(cls, rows: Rows, missing: Floats | None) -> "Weights":
        """Return what is known of some rows, and the target's probability there of actions that lack support."""
        return cls(
            float(np.square(rows.weights).sum()),
            float(rows.weights.max()),
            None if missing is None else int((missing > 0).sum()),
            None if missing is None else float(missing.sum()),
        )

    def __add__(self, other: "Weights") -> "Weights":
        """Return what is known of the rows of both."""
        return Weights(
            self.squares + other.squares,
            max(self.largest, other.largest),
            None if self.unsupported_rows is None else self.unsupported_rows + (other.unsupported_rows or 0),
            None if self.unsupported_mass is None else self.unsupported_mass + (other.unsupported_mass or 0.0),
        )


@dataclass(frozen=True, eq=False)
class Tally:
    """The sums of every target, what its weights are like, and what the rewards are; tallies add up."""

    sums: Mapping[str, Sums]
    weights: Mapping[str, Weights]
    rewards: Spread
    propensities: Spread

    def __add__(self, other: "Tally") -> "Tally":
        """Return the sums over the rows of both."""
        return Tally(
            {name: mine + other.sums[name] for name, mine in self.sums.items()},
            {name: mine + other.weights[name] for name, mine in self.weights.items()},
            self.rewards + other.rewards,
            self.propensities + other.propensities,
        )


@dataclass(frozen=True, eq=False)
class Looking:
    """From a batch to rows of every target, the same way for the sample and for each batch of the second pass."""

    layout: "Layout"
    aims: Mapping[str, Aim]
    seen: Ints | None = None
    predictions: str | None = None

    def rows(self, batch: Batch, model: RewardModel | None) -> "tuple[Log, dict[str, tuple[Target, Rows]]]":
        """Return the log of a batch and, for every target, its rows."""
        table, numbers = batch
        with checks.part(numbers):
            log = self.layout.log(table)
            if self.seen is not None and log.logging_probs is None and log.available is None:
                log.supported = np.broadcast_to(self.seen > 0, (len(log), len(self.seen)))
            if self.predictions is not None:
                with readers.columns_named({"reward_model": self.predictions}):
                    model = as_model(readers.read_target(table, self.predictions), log)
            units = numbers
            if "group" in self.layout.roles:
                units = hashed(self.layout.labels(table, "group"))
            return log, dict(self._targets(table, log, units, model))

    def examples(self, batch: Batch) -> Examples:
        """Return what a reward model learns from, aimed at where the targets go on average."""
        several = [rows for _, rows in self.rows(batch, None)[1].values()]
        return replace(several[0].examples, importance=np.mean([rows.weights for rows in several], axis=0))

    def _targets(
        self, table: "pa.Table", log: Log, units: Ints, model: RewardModel | None
    ) -> Iterator[tuple[str, tuple[Target, Rows]]]:
        shared: Rows | None = None
        for name, aim in self.aims.items():
            with readers.columns_named({"target": aim} if isinstance(aim, str) else {}):
                target = as_target(readers.read_target(table, aim) if isinstance(aim, str) else aim, log)
            rows = Rows.of(log, target, model)
            rows = replace(rows, examples=replace(rows.examples, units=units))
            if model is not None:
                shared = shared or rows
                rows = replace(rows, refit=partial(getattr, shared, "q"))
            yield name, (target, rows)


@dataclass(frozen=True, eq=False)
class Tallying:
    """What the second pass does with a batch.

    If there are few, `known` are all units, in order: the numbers of rows, or the hashes of groups; each is a bucket.
    """

    looking: Looking
    model: RewardModel | None
    estimators: Mapping[str, Sequence[Estimator]]
    wholes: Mapping[str, Rows]
    known: Ints | None

    def __call__(self, batch: Batch) -> Tally:
        """Return the sums of a batch over all buckets, of fewer rows at a time where there are many actions."""
        step = max(1024, NUMBERS // max(len(self.looking.layout.actions or ()), 1))
        starts = range(0, len(batch.numbers), step)
        several = [Batch(batch.table.slice(at, step), batch.numbers[at : at + step]) for at in starts]
        found = self.of(several[0])
        for some in several[1:]:
            found += self.of(some)
        return found

    def of(self, batch: Batch) -> Tally:
        """Return the sums of a few rows."""
        log, targets = self.looking.rows(batch, self.model)
        sums, weights = {}, {}
        for name, (target, rows) in targets.items():
            bucket = self.bucket_of(rows.examples.units)
            examples = replace(rows.examples, context=np.empty((len(rows), 0)))
            light = replace(rows, examples=examples, whole=self.wholes[name])
            sums[name] = summed(light, self.estimators[name], bucket, BUCKETS)
            weights[name] = Weights.of(rows, target.unsupported(log))
        return Tally(sums, weights, Spread.of(log.reward), Spread.of(log.propensity))

    def bucket_of(self, units: Ints) -> Ints:
        """Return the bucket of each row."""
        if self.known is None:
            return scattered(units) % BUCKETS
        return np.searchsorted(self.known, scattered(units) if "group" in self.looking.layout.roles else units)
