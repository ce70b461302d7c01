"""Contest: what is learnt from one log, who wins, and what the winner is worth."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import SupportWarning
from counterfold.base.progress import Progress
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Evaluation
from counterfold.learning.choice import choose_contender, stitch
from counterfold.learning.choosing import include_choosing, measure_choosing
from counterfold.learning.contenders import Contender, list_contenders
from counterfold.learning.large import OtherRows
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.learning.learners.imitation import Imitation
from counterfold.learning.limits import ActionLimits, LimitLine, fit_within
from counterfold.learning.out_of_fold import Decided, Decisions, OutOfFold, assign_outer_folds, find_possible
from counterfold.learning.refitting import include_refitting
from counterfold.learning.result import ContenderLine, Learned
from counterfold.learning.screening import find_differences, pick_finalists, rank_contenders
from counterfold.log.log import Log
from counterfold.policies.learned.features import Features
from counterfold.policies.learned.policy import Policy
from counterfold.policies.training_rows import LearntRows

SHOWN_CONSTANTS = 3
"""How many constant arms the table has at most."""

LOGGER = Imitation()
"""What policies are mixed with: the logger, as far as the context tells."""


@dataclass(frozen=True, eq=False)
class Contest:
    """What is learnt from one log, and how the winner is found."""

    log: Log
    rows: TrainingRows
    learners: Sequence[Learner]
    shares: Sequence[float]
    folds: int
    question: Question
    threads: int | None
    limits: ActionLimits | None = None
    explore: float = 0.0

    def run(self, left_out: Mapping[str, str], progress: Progress | None) -> Learned:
        """Return the winner, valued by rows that took no part in finding it."""
        outside = self.split(progress)
        fold, decisions, contenders = outside.fold, outside.decide(), self.list_contenders()
        probs = self.mix(decisions)
        evaluations = self.evaluate(self.list_shown(probs), with_exhibits=False)
        choice = choose_contender(evaluations, self.list_complexity())
        by_fold = {number: self.choose_without(number, outside) for number in outside.numbers}
        stitched, imitated = stitch(probs, by_fold, fold), decisions.probs[LOGGER.name]
        choosing = self.measure_choosing(probs, fold, choice.name)
        attempt = self.value_attempt(stitched, by_fold, choice.name, outside, choosing)
        beats_log = attempt.answerable and attempt.uplift().interval().low > 0
        evaluation = attempt if beats_log else self.evaluate({"policy": imitated})["policy"]
        attempted = self.refit(contenders[choice.name])
        policy = attempted if beats_log else self.refit(Contender(LOGGER, 1.0))
        votes = list(by_fold.values())
        return Learned(
            policy=policy,
            evaluation=evaluation,
            attempt=attempt,
            attempted=attempted,
            beats_log=beats_log,
            chosen=choice.name,
            table=[tabulate(name, one, votes.count(name), name == choice.name) for name, one in evaluations.items()],
            left_out=left_out,
            limits=self.list_limits(attempted, stitched),
            simpler=choice.simpler,
        )

    def value_attempt(
        self, stitched: Floats, by_fold: Mapping[int, str], winner: str, outside: OutOfFold, choosing: float
    ) -> Evaluation:
        """Return what the folds' policies earn, with the doubt about the policy that is learnt from all rows.

        The error is larger by choosing. Where every fold and all rows choose the same constant arm, the policy that is
        saved is the one that was valued, and there is no other doubt.
        """
        is_same = (
            self.limits is None and self.list_contenders()[winner].is_constant and set(by_fold.values()) == {winner}
        )
        if is_same:
            return include_choosing(self.evaluate({"policy": stitched})["policy"], choosing)
        valued = self.evaluate({"policy": stitched, "fewer": self.decide_by_fewer(by_fold, outside)})
        return include_refitting(valued["policy"], valued["fewer"], len(outside.numbers), choosing)

    def measure_choosing(self, probs: Mapping[str, Floats], fold: Ints, winner: str) -> float:
        """Return how many times as large the error of what the folds' policies earn is, because rows choose."""
        examples = self.rows.examples
        differences = find_differences(self.rows, probs)
        return measure_choosing(differences, examples.units, examples.counts, fold, list(probs).index(winner))

    def list_shown(self, probs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the contenders that the table shows: all but constant arms, of which it has the best ones."""
        contenders = self.list_contenders()
        constants = [name for name in rank_contenders(self.rows, probs) if contenders[name].is_constant]
        dropped = set(constants[SHOWN_CONSTANTS:])
        return {name: one for name, one in probs.items() if name not in dropped}

    def list_complexity(self) -> dict[str, int]:
        """Return how hard each contender is to read."""
        return {name: one.complexity for name, one in self.list_contenders().items()}

    def split(self, progress: Progress | None) -> OutOfFold:
        """Return what learns from the rows of some folds and decides in others."""
        fold, possible = assign_outer_folds(self.rows, self.folds), find_possible(self.log, self.rows.allowed)
        known = self.rows, [*self.learners, LOGGER], possible, fold, self.question.seed
        needs_logger = LOGGER in self.learners or any(share < 1 for share in self.shares)
        left_out = () if needs_logger else (LOGGER,)
        return OutOfFold(*known, progress, self.limits, self.explore, left_out_of_pairs=left_out)

    def value_winner(self, decisions: Decisions, left_out: Mapping[str, str], others: OtherRows) -> Learned:
        """Return the winner by these rows, learnt from all of them, and valued by the other rows of a large log."""
        probs = self.mix(decisions)
        evaluations = self.evaluate(self.list_shown(probs), with_exhibits=False)
        choice = choose_contender(evaluations, self.list_complexity())
        policy = attempted = self.refit(self.list_contenders()[choice.name])
        attempt = evaluation = others.value(policy)
        beats_log = attempt.answerable and attempt.uplift().interval().low > 0
        if not beats_log:
            policy = self.refit(Contender(LOGGER, 1.0))
            evaluation = others.value(policy)
        return Learned(
            policy=policy,
            evaluation=evaluation,
            attempt=attempt,
            attempted=attempted,
            beats_log=beats_log,
            chosen=choice.name,
            table=[tabulate(name, one, 0, name == choice.name) for name, one in evaluations.items()],
            left_out=left_out,
            limits=self.list_limits(attempted, probs[choice.name]),
            sample=len(self.log),
            simpler=choice.simpler,
        )

    def list_contenders(self) -> dict[str, Contender]:
        """Return every learner at every share, by name."""
        return list_contenders(self.learners, self.shares)

    def mix(self, decisions: Decisions) -> dict[str, Floats]:
        """Return what each contender does in each row (n x A)."""
        return {
            name: decisions.mix(one.learner.name, LOGGER.name, one.share)
            for name, one in self.list_contenders().items()
        }

    def choose_without(self, number: int, outside: OutOfFold) -> str:
        """Return the contender that the rows of all folds but one choose, which know nothing of that one.

        Neither had the policies learnt from it, nor the reward model that values them, nor was it asked which
        estimators to trust. Otherwise choosing would know what its rewards have in common with those of the others,
        which is what the policies earn there.
        """
        names = list(self.list_contenders())
        if len(names) == 1:
            return names[0]
        return choose_contender(self.evaluate_without(number, outside), self.list_complexity()).name

    def evaluate_without(self, number: int, outside: OutOfFold) -> dict[str, Evaluation]:
        """Return what the finalists would have earned in the rows of all folds but one, as if there were no others.

        They are picked by these rows, too.
        """
        kept = np.flatnonzero(outside.fold != number)
        probs = {name: one[kept] for name, one in self.mix(outside.decide(number)).items()}
        constants = {name for name, one in self.list_contenders().items() if one.is_constant}
        finalists = pick_finalists(rank_contenders(self.rows.take(kept), probs), constants)
        within = replace(self, log=self.log.take(kept))
        return within.evaluate({name: one for name, one in probs.items() if name in finalists}, with_exhibits=False)

    def decide_by_fewer(self, chosen: Mapping[int, str], outside: OutOfFold) -> Floats:
        """Return what the contender that each fold takes would do (n x A), if it were learnt without another fold, too.

        It is the mean over all other folds.
        """
        contenders, numbers = self.list_contenders(), outside.numbers
        found = np.zeros((len(self.log), len(self.log.actions)))
        for number in numbers:
            winner, others = contenders[chosen[number]], [one for one in numbers if one != number]
            for other in others:
                probs = outside.decide_fold(winner.learner, number, other)
                if winner.share < 1:
                    imitated = outside.decide_fold(LOGGER, number, other)
                    probs = winner.share * probs + (1 - winner.share) * imitated
                found[outside.fold == number] += probs / len(others)
        return found

    def evaluate(self, probs: Mapping[str, Floats], *, with_exhibits: bool = True) -> dict[str, Evaluation]:
        """Return what policies would have earned, by name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            targets = {name: Decided(one) for name, one in probs.items()}
            found = evaluate_targets(
                self.log,
                targets,
                self.question,
                threads=self.threads,
                progress=False,
                with_exhibits=with_exhibits,
            )
        return next(iter(found.values())).targets

    def list_limits(self, policy: Policy, probs: Floats) -> list[LimitLine]:
        """Return how a policy keeps to each limit, and those of the folds, whose decisions (n x A) are known."""
        if self.limits is None:
            return []
        counts, possible = self.log.counts, find_possible(self.log, self.rows.allowed)
        logged = np.eye(len(self.log.actions))[self.log.action]
        several = policy.decide(self.rows.context, possible), probs, logged
        return self.limits.tell(*(self.limits.take(one, counts) for one in several))

    def refit(self, winner: Contender) -> Policy:
        """Return the winner's policy, learnt from all rows."""
        given = self.rows, find_possible(self.log, self.rows.allowed), self.question.seed, self.limits
        scorer, logger = (fit_within(one, *given) for one in (winner.learner, LOGGER))
        learnt = LearntRows.of(self.rows.context, self.log) if winner.learner.sees_rewards else None
        parts = Features.of(self.log), scorer, winner.learner.is_greedy, self.rows.allowed, winner.share, logger
        return Policy(list(self.log.actions), *parts, learnt, self.explore)


def tabulate(name: str, evaluation: Evaluation, folds: int, chosen: bool) -> ContenderLine:  # noqa: FBT001 (a column)
    """Return a line of the table."""
    gap = evaluation.uplift()
    low, high = gap.interval()
    return ContenderLine(name, evaluation.value, gap.value, low, high, evaluation.verdict, folds, chosen)
