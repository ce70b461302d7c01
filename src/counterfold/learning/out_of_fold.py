"""Decisions out of fold: in each row, what the policies do that were learnt without its fold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.base.hashing import assign_folds
from counterfold.base.progress import Progress
from counterfold.base.validation import Checker
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.learning.limits import ActionLimits, fit_within
from counterfold.log.log import Log
from counterfold.log.support import find_supported
from counterfold.policies.given.base import Target, TargetForm
from counterfold.policies.learned.scorers import Scorer, explore_evenly


@dataclass(frozen=True, eq=False)
class Decided(TargetForm):
    """The policy whose probabilities of all actions are known in all rows (n x A), in the order of the log's."""

    probs: Floats

    @property
    def is_streamable(self) -> bool:
        return False

    def resolve(self, log: Log, check: Checker) -> Target:
        return Target.of(self.probs, log)


def find_possible(log: Log, allowed: Bools, seen: Bools | None = None) -> Bools:
    """Return which actions policies may take in each row (n x A): those that are allowed and that the log could take.

    In a row where there are none of these, they are those that are allowed; the diagnostics then tell. Actions that
    were `seen` are those of the log, unless others are given.
    """
    possible = find_supported(log, seen) & allowed
    return np.where(possible.any(axis=1, keepdims=True), possible, allowed)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What each learner's policy would do in each row (n x A), by name; it was learnt without the row's `fold`."""

    fold: Ints
    probs: Mapping[str, Floats]

    def mix(self, name: str, other: str, share: float) -> Floats:
        """Return a learner's decisions mixed with another one's."""
        return self.probs[name] if share == 1 else share * self.probs[name] + (1 - share) * self.probs[other]


def assign_outer_folds(rows: TrainingRows, folds: int) -> Ints:
    """Return the fold of each row; groups stay together."""
    fold = assign_folds(rows.examples.units, folds)
    count = len(np.unique(fold))
    if count < 3:
        rule = f"rows (or groups of rows) in at least three of {folds} folds"
        why = "to learn, to choose and to value on different ones"
        raise DataError(f"`log` must have {rule} {why}, got {len(rows)} rows in {count}.")
    return fold


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """What learns from the rows of some folds and decides in others; what was learnt once is kept.

    Actions that are not `possible` in a row have probability 0, and policies keep to `limits` in the rows that they are
    learnt from. A share `explore` of the decisions is made at random. `progress` counts rounds of learning. Learners in
    `left_out_of_pairs` are never asked for what they learn without two folds.
    """

    rows: TrainingRows
    learners: Sequence[Learner]
    possible: Bools
    fold: Ints
    seed: int
    progress: Progress | None = None
    limits: ActionLimits | None = None
    explore: float = 0.0
    left_out_of_pairs: Sequence[Learner] = ()
    fitted: dict[frozenset[int], dict[str, Scorer]] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> list[int]:
        """Return the numbers of the folds that have rows."""
        return [int(number) for number in np.unique(self.fold)]

    def decide(self, other: int | None = None) -> Decisions:
        """Return what policies do in each row that were learnt without its fold, and without another one if named.

        In the rows of that other fold nothing is decided: all probabilities are 0.
        """
        learners = self.list_learners(1 if other is None else 2)
        found = {one.name: np.zeros((len(self.rows), self.rows.examples.n_actions)) for one in learners}
        for number in self.numbers:
            if number == other:
                continue
            held = np.flatnonzero(self.fold == number)
            for one in learners:
                found[one.name][held] = self.decide_fold(one, number, number if other is None else other)
        return Decisions(self.fold, found)

    def decide_fold(self, learner: Learner, number: int, other: int) -> Floats:
        """Return what one learner's policy does in the rows of a fold, learnt without that one and another."""
        held = np.flatnonzero(self.fold == number)
        scorer = self.fit(frozenset({number, other}))[learner.name]
        probs = scorer.decide(self.rows.context[held], self.possible[held], is_greedy=learner.is_greedy)
        return explore_evenly(probs, self.possible[held], self.explore)

    def fit(self, without: frozenset[int]) -> dict[str, Scorer]:
        """Return what each learner learns from the rows of all folds but some."""
        if without not in self.fitted:
            if self.progress is not None:
                self.progress(len(self.fitted), math.comb(len(self.numbers) + 1, 2))
            kept = np.flatnonzero(~np.isin(self.fold, list(without)))
            given = self.rows.take(kept), self.possible[kept], self.seed, self.limits
            learners = self.list_learners(len(without))
            self.fitted[without] = {one.name: fit_within(one, *given) for one in learners}
        return self.fitted[without]

    def list_learners(self, n_folds: int) -> list[Learner]:
        """Return the learners that are needed without so many folds."""
        return [one for one in self.learners if n_folds == 1 or one not in self.left_out_of_pairs]
