"""Contents: what is in a log, whether it is in memory or not; `Spread`, how some of its numbers vary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.records import as_dictionary
from counterfold.log.encoding import ColumnEncoding, note_encodings
from counterfold.log.log import Log
from counterfold.log.missing_rewards import MissingRewards
from counterfold.log.propensities import FittedPropensities
from counterfold.log.segments.cuts import Cut

if TYPE_CHECKING:
    from counterfold.log.records import EncodingRecord, EndsRecord, LogRecord

ROUNDING = 1e-9
"""How small a part of a variance is taken for a rounding error."""


@dataclass(frozen=True)
class Spread:
    """The least and the largest of some numbers, their sum and their count; two such can be added.

    `squares` and `cubes` are the sums of the second and third powers of how far each number is from the mean. Where
    numbers count differently, all sums are weighted; `weight` and `weight_squares` are the sums of how much they count,
    and of its squares.
    """

    low: float
    high: float
    total: float
    count: int
    squares: float
    cubes: float
    weight: float
    weight_squares: float

    @classmethod
    def of(cls, values: Floats, counts: Floats | None = None) -> "Spread":
        """Return the spread of an array, each number of which may count several times."""
        ends, number = (float(values.min()), float(values.max())), len(values)
        if counts is None:
            total = float(values.sum())
            apart = values - total / number
            return cls(*ends, total, number, float(apart @ apart), float((apart * apart) @ apart), number, number)
        total, weight = float(values @ counts), float(counts.sum())
        apart = values - total / weight
        squares = apart * apart
        powers = float(squares @ counts), float(squares * apart @ counts)
        return cls(*ends, total, number, *powers, weight, float(counts @ counts))

    def __add__(self, other: "Spread") -> "Spread":
        ends, weight = (min(self.low, other.low), max(self.high, other.high)), self.weight + other.weight
        gap, mine, theirs = other.mean - self.mean, self.weight / weight, other.weight / weight
        squares = self.squares + other.squares + gap**2 * mine * other.weight
        cubes = self.cubes + other.cubes + 3 * gap * (mine * other.squares - theirs * self.squares)
        cubes += gap**3 * mine * other.weight * (mine - theirs)
        total, count = self.total + other.total, self.count + other.count
        return Spread(*ends, total, count, squares, cubes, weight, self.weight_squares + other.weight_squares)

    @property
    def ends(self) -> "EndsRecord":
        """Return the smallest and the largest number."""
        return {"low": self.low, "high": self.high}

    @property
    def mean(self) -> float:
        """Return the mean."""
        return self.total / self.weight

    @property
    def effective(self) -> float:
        """Return how many numbers that all count the same would tell as much."""
        return self.weight**2 / self.weight_squares

    @property
    def is_two_valued(self) -> bool:
        """Say whether there are only two different numbers: no others between these ends vary so much."""
        most = (self.high - self.mean) * (self.mean - self.low) * self.weight
        return self.high > self.low and self.squares >= (1 - ROUNDING) * most


@dataclass(frozen=True)
class Contents:
    """What is in a log, whether it is in memory or not.

    `context` are the columns that were taken for context, and `left_out` says which others might have been and why they
    were not. `notes` say how its rows were made, where that matters, and what to do about it. `fitted` are the
    propensities, if nobody logged any, `kept` the probabilities with which rows were kept, if these differ, and
    `missing_rewards` those that were dropped or taken as 0, if any were. `columns` are the columns of numbers that
    models see, each with that of the context which it comes from, and `encoded` says how those that are text or have
    gaps became numbers. `taken` are columns that have a role because of their names alone, by role, and `identifiers`
    columns without a role that are called like users or sessions, or whose values are `repeated`, which says of each
    whether these are numbers. `cuts` are how columns become segments. `by_context`
    says that nobody named groups, and that they are the rows of one context each.
    """

    rewards: Spread
    propensities: Spread
    doses: Spread | None
    actions: tuple[Any, ...]
    context: tuple[str, ...]
    full_probabilities: bool
    groups: int | None
    loggers: tuple[Any, ...] | None
    action_features: int | None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[tuple[str, str], ...] = ()
    fitted: FittedPropensities | None = None
    kept: Spread | None = None
    missing_rewards: MissingRewards | None = None
    columns: tuple[tuple[str, str], ...] = ()
    encoded: Mapping[str, "EncodingRecord"] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)
    identifiers: tuple[str, ...] = ()
    repeated: Mapping[str, bool] = field(default_factory=dict)
    cuts: tuple[Cut, ...] = ()
    by_context: bool = False

    @classmethod
    def of(cls, log: Log) -> "Contents":
        """Return what is in a log."""
        return cls(
            rewards=Spread.of(log.reward, log.counts),
            propensities=Spread.of(log.propensity),
            doses=None if log.dose is None else Spread.of(log.dose),
            actions=log.actions,
            context=tuple(dict.fromkeys(log.context_sources)),
            full_probabilities=log.logging_probs is not None,
            groups=None if log.group is None else len(np.unique(log.group)),
            loggers=None if log.loggers is None else log.loggers.labels,
            action_features=None if log.action_features is None else log.action_features.shape[1],
            left_out=dict(log.left_out),
            notes=(*log.notes, *note_encodings(list_encodings(log))),
            fitted=log.fitted,
            kept=None if log.kept is None else Spread.of(log.kept),
            missing_rewards=log.missing_rewards,
            columns=tuple(zip(log.context_names, log.context_sources, strict=True)),
            encoded={one.name: one.to_dict() for one in list_encodings(log)},
            taken=dict(log.taken),
            identifiers=tuple(log.identifiers),
            repeated=dict(log.repeated),
            cuts=tuple(one.cut for one in log.segments),
            by_context=log.by_context,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the log holds as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "LogRecord":
        """Return what JSON answers say about the log."""
        return {
            "rows": self.rewards.count,
            "kept": None if self.kept is None else self.kept.ends,
            "decisions": self.rewards.weight,
            "kind": "labels" if self.doses is None else "doses",
            "actions": [str(action) for action in self.actions],
            "dose": None if self.doses is None else self.doses.ends,
            "context": list(self.context),
            "left_out": dict(self.left_out),
            "encoded": dict(self.encoded),
            "groups": self.groups,
            "loggers": None if self.loggers is None else [str(label) for label in self.loggers],
            "action_features": self.action_features,
            "fitted_propensities": None if self.fitted is None else self.fitted.to_record(),
        }


def list_encodings(log: Log) -> list[ColumnEncoding]:
    """Return how columns of the context became numbers, if they did not stay as they were."""
    return [one for name, one in log.encodings.items() if name in log.context_sources or not one.outputs]
