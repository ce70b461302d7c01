"""Policies that are trained without some folds, and what they decide in the rows of these folds."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.base.hashing import assign_folds
from counterfold.base.progress import Progress
from counterfold.learning.contenders import IMITATION, Contender
from counterfold.learning.contest import Contest
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.policies.learned.scorers import Scorer

MIN_FOLDS = 3
"""Policies are trained, chosen and valued on different folds."""


def assign_outer_folds(rows: TrainingRows, n_folds: int) -> Ints:
    """Return the fold of each row; rows of one group are in one fold."""
    fold = assign_folds(rows.examples.units, n_folds)
    count = len(np.unique(fold))
    if count < MIN_FOLDS:
        rule = f"rows (or groups of rows) in at least three of {n_folds} folds"
        purpose = "to learn, to choose and to value on different ones"
        raise DataError(f"`log` must have {rule} {purpose}, got {len(rows)} rows in {count}.")
    return fold


def train_without_folds(
    contest: Contest, fold: Ints, *, with_pairs: bool, progress: Progress | None = None
) -> "FoldPolicies":
    """Return the policies of all contenders, each trained without one fold, and `with_pairs` without two folds."""
    numbers = [int(number) for number in np.unique(fold)]
    subsets = [frozenset({number}) for number in numbers]
    if with_pairs:
        subsets += [frozenset(pair) for pair in combinations(numbers, 2)]
    scorers = {}
    for done, left_out in enumerate(subsets):
        if progress is not None:
            progress(done, len(subsets))
        kept = np.flatnonzero(~np.isin(fold, list(left_out)))
        rows = contest.rows.take(kept)
        rules = contest.rules.take(kept)
        learners = list(contest.learners)
        if len(left_out) == 1 and IMITATION not in learners:
            learners.append(IMITATION)  # it is valued if nothing beats the log
        scorers[left_out] = {learner.name: rules.train(learner, rows, contest.question.seed) for learner in learners}
    return FoldPolicies(contest=contest, fold=fold, numbers=numbers, scorers=scorers)


@dataclass(frozen=True, eq=False)
class FoldPolicies:
    """Policies that were trained without some folds.

    - `contest`: who competes.
    - `fold`: the fold of each row.
    - `numbers`: the numbers of the folds that have rows.
    - `scorers`: the scores that each learner found without some folds, by the numbers of these and by its name.
    """

    contest: Contest
    fold: Ints
    numbers: list[int]
    scorers: Mapping[frozenset[int], Mapping[str, Scorer]]

    @cached_property
    def decisions(self) -> dict[str, Floats]:
        """What each contender does in each row (n x A), trained without the fold of the row."""
        return self.decide()

    def decide(self, other: int | None = None) -> dict[str, Floats]:
        """Return what each contender does in each row (n x A), trained without the fold of the row.

        If another fold is named, they are trained without that one, too. They then decide nothing in its rows: all
        probabilities are 0 there.
        """
        contest = self.contest
        by_learner = {learner.name: self.decide_by(learner, other) for learner in contest.learners}
        return {name: contender.mix(by_learner) for name, contender in contest.contenders.items()}

    def decide_by(self, learner: Learner, other: int | None = None) -> Floats:
        """Return what one learner's policies do in each row (n x A)."""
        decisions = np.zeros_like(self.contest.rules.possible, dtype=np.float64)
        for number in self.numbers:
            if number != other:
                without = frozenset({number} if other is None else {number, other})
                decisions[self.fold == number] = self.decide_in_fold(learner, number, without)
        return decisions

    def decide_without_two(self, contender: Contender, number: int, other: int) -> Floats:
        """Return what a contender does in the rows of one fold, trained without that one and another."""
        without = frozenset({number, other})
        by_learner = {learner.name: self.decide_in_fold(learner, number, without) for learner in contender.learners}
        return contender.mix(by_learner)

    def decide_in_fold(self, learner: Learner, number: int, without: frozenset[int]) -> Floats:
        """Return what a learner's policy does in the rows of one fold, trained without some folds."""
        held_out = np.flatnonzero(self.fold == number)
        return self.contest.rules.take(held_out).decide(
            learner=learner,
            scorer=self.scorers[without][learner.name],
            context=self.contest.rows.context[held_out],
        )

    def stitch(self, chosen_by_fold: Mapping[int, str]) -> Floats:
        """Return in each row the decisions (n x A) of the contender that is chosen for its fold."""
        return stitch(self.decisions, chosen_by_fold, self.fold)


def stitch(decisions: Mapping[str, Floats], chosen_by_fold: Mapping[int, str], fold: Ints) -> Floats:
    """Return in each row the decisions (n x A) of the contender that is chosen for its fold."""
    stitched = np.zeros_like(next(iter(decisions.values())))
    for number, name in chosen_by_fold.items():
        is_in_fold = fold == number
        stitched[is_in_fold] = decisions[name][is_in_fold]
    return stitched
