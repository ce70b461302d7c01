"""Design: how the log assigned actions, and whether the target is the policy that logged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence, Observer
from counterfold.intervals.base import Bounds

SINGLE_PRECISION = 1e-6
"""Probabilities that differ by no more than this, or by this part of them, are the same.

Numbers of single precision, as many tools write them, have about seven digits.
"""


@dataclass(frozen=True, eq=False)
class Assigned:
    """How some rows were assigned to actions; two such can be added.

    `farthest_weight` is how far a weight is from 1 at most, and `farthest_probability` how far the target's probability
    of an action is from the log's, where those of all actions are known. `propensities` are the least and the largest
    propensity of each action that was taken, by its label: numbers of actions are those of a batch alone.
    """

    farthest_weight: float
    farthest_probability: float
    propensities: Mapping[Any, Bounds]

    def __add__(self, other: "Assigned") -> "Assigned":
        propensities = {**self.propensities, **other.propensities}
        for label in self.propensities.keys() & other.propensities.keys():
            one, two = self.propensities[label], other.propensities[label]
            propensities[label] = Bounds(min(one.low, two.low), max(one.high, two.high))
        return Assigned(
            farthest_weight=max(self.farthest_weight, other.farthest_weight),
            farthest_probability=max(self.farthest_probability, other.farthest_probability),
            propensities=propensities,
        )

    @property
    def is_same_policy(self) -> bool:
        """Say whether the target is the policy that logged, as far as probabilities are known."""
        return max(self.farthest_weight, self.farthest_probability) <= SINGLE_PRECISION

    @property
    def is_randomised(self) -> bool:
        """Say whether at least two actions were taken, each with the same propensity in all rows."""
        several = self.propensities.values()
        is_constant = all(one.high - one.low <= SINGLE_PRECISION * one.high for one in several)
        return len(several) > 1 and is_constant


@dataclass(frozen=True)
class AssignmentObserver(Observer):
    """Looks at how rows were assigned to actions; on a log of doses there is nothing to see."""

    def observe(self, rows: Rows) -> Assigned | None:
        if rows.kind != "labels":
            return None
        farthest_weight = float(np.abs(rows.weights - 1.0).max(initial=0.0))
        farthest_probability = 0.0
        knows_all = rows.has("target_probs") and rows.has("logging_probs")
        if knows_all and farthest_weight <= SINGLE_PRECISION:  # otherwise the weights alone tell that policies differ
            farthest_probability = float(np.abs(rows.target_probs - rows.logging_probs).max(initial=0.0))
        n_actions = len(rows.labels)
        least, largest = np.full(n_actions, np.inf), np.full(n_actions, -np.inf)
        np.minimum.at(least, rows.actions, rows.propensity)
        np.maximum.at(largest, rows.actions, rows.propensity)
        bounds = map(Bounds, least.tolist(), largest.tolist())
        propensities = {label: one for label, one in zip(rows.labels, bounds, strict=True) if one.low <= one.high}
        return Assigned(farthest_weight, farthest_probability, propensities)


@dataclass(frozen=True)
class Design:
    """How a log assigned actions, and what it is worth for one target.

    `is_same_policy` says whether the target is the policy that logged. `is_trial` says whether the log is a randomised
    trial: each action has one probability in all rows, and that was logged. `effective_rows` are how many decisions of
    the target the log is worth.
    """

    is_same_policy: bool = False
    is_trial: bool = False
    effective_rows: float = 0.0

    @classmethod
    def of(cls, evidence: Evidence) -> "Design":
        """Return what the evidence tells; fitted propensities cannot tell that actions were drawn at random."""
        assigned: Assigned | None = evidence.observed.get(AssignmentObserver().name)
        if assigned is None:
            return cls()
        return cls(
            is_same_policy=assigned.is_same_policy,
            is_trial=assigned.is_randomised and evidence.contents.fitted is None,
            effective_rows=evidence.effective_rows,
        )

    def join(self, baseline: "Design") -> "Design":
        """Return what the log is worth for the difference of two targets, of which the first one is this one."""
        return Design(
            is_same_policy=self.is_same_policy and baseline.is_same_policy,
            is_trial=self.is_trial,
            effective_rows=min(self.effective_rows, baseline.effective_rows),
        )
