"""Decisions out of fold: in each row, what the policies do that were learnt without its fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.arrays import Bools, Floats, Ints
from counterfold.checks import Checker
from counterfold.errors import DataError
from counterfold.hashing import assign_folds
from counterfold.learners.base import Learner, TrainingRows, fit_learner
from counterfold.log import Log
from counterfold.policies.policy import choose
from counterfold.progress import Progress
from counterfold.targets.base import Target, TargetForm


@dataclass(frozen=True, eq=False)
class Decided(TargetForm):
    """The policy whose probabilities of all actions are known in all rows (n x A), in the order of the log's."""

    probs: Floats

    @property
    def is_streamable(self) -> bool:
        return False

    def resolve(self, log: Log, check: Checker) -> Target:
        return Target.of(self.probs, log)


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
    if len(np.unique(fold)) < 2:
        rule = f"rows (or groups of rows) in at least two of {folds} folds"
        raise DataError(f"`log` must have {rule} to learn and to value on different ones, got {len(rows)} rows in one.")
    return fold


def decide_out_of_fold(
    rows: TrainingRows, learners: Sequence[Learner], possible: Bools, fold: Ints, seed: int, progress: Progress | None
) -> Decisions:
    """Return what all learners' policies would do; actions that are not possible in a row have probability 0."""
    found = {one.name: np.zeros((len(rows), rows.examples.n_actions)) for one in learners}
    numbers = np.unique(fold)
    for done, number in enumerate(numbers):
        known, held = rows.take(np.flatnonzero(fold != number)), np.flatnonzero(fold == number)
        for place, one in enumerate(learners):
            if progress is not None:
                progress(done * len(learners) + place, len(numbers) * len(learners))
            scores = fit_learner(one, known, seed).score(rows.context[held])
            found[one.name][held] = choose(scores, possible[held], is_greedy=one.is_greedy)
    return Decisions(fold, found)
