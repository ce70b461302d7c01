"""learn(): from a log to a policy that beats it safely, valued on rows that took no part in learning or choosing it.

The function lives here, because a module `learn.py` would take the place of `cf.learn` once it was imported.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Unpack

import numpy as np

from counterfold import capacity, checks, intervals
from counterfold.arrays import Bools, Floats
from counterfold.balance import choose_context
from counterfold.errors import DataError, ParameterError, SupportWarning
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Evaluation
from counterfold.intervals.base import Interval
from counterfold.learners.base import Learner, TrainingRows, fit_learner
from counterfold.learners.imitation import Imitation
from counterfold.learning.choice import choose_contender, stitch
from counterfold.learning.contenders import (
    Contender,
    check_shares,
    find_allowed,
    resolve_learners,
    split_learners,
)
from counterfold.learning.out_of_fold import Decided, Decisions, OutOfFold, assign_outer_folds
from counterfold.learning.refitting import include_refitting
from counterfold.learning.result import ContenderLine as ContenderLine
from counterfold.learning.result import Learned as Learned
from counterfold.learning.some_rows import take_rows
from counterfold.log import Log
from counterfold.policies.features import Features
from counterfold.policies.policy import Policy
from counterfold.pool import limit_blas
from counterfold.progress import Progress, as_progress, show_progress
from counterfold.support import find_supported
from counterfold.tables.scan import Columns, LogScan, open_log
from counterfold.unseen import Limits

SHARES = (1.0, 0.5)
"""The shares of decisions that a policy may take, where the user does not say."""

SAMPLE = "Learn from a sample of them, and value the policy on the others by `evaluate` with engine 'local'"
"""What to do about a log that does not fit into memory."""

LOGGER = Imitation()
"""What policies are mixed with: the logger, as far as the context tells."""


def learn(
    log: Log | LogScan | str | PathLike[str] | Any,
    learners: Any = "default",
    *,
    shares: Sequence[float] | float = SHARES,
    forbidden: Any = (),
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    **columns: Unpack[Columns],
) -> Learned:
    """Return the best policy that a log supports, and what it is worth by rows that took no part in finding it.

    Rows fall into `folds`, groups as a whole. Each learner learns from all folds but one, and decides in that one. What
    these decisions would have earned more than the log is estimated as by `evaluate`. The contender with the largest
    lower bound of that difference is chosen; so that choosing does no harm to the answer, `Learned.evaluation` values
    in each fold what the other folds choose, by policies that were learnt without it. If that does not beat the log at
    its lower bound, the policy does as the log did. Otherwise the winner is learnt anew from all rows.

    - `log` and `columns`: as for `evaluate`; the rows must fit into memory, and actions must be labels.
    - `learners`: "default", or any mixture of learners, their names, and classifiers of scikit-learn's kind.
    - `shares`: which shares of the decisions a policy may take from the logger; each is a contender.
    - `forbidden`: labels of actions that the policy must not take. It never takes one that the log could not take.
    - `level`, `interval`, `reward_range`, `seed`, `threads` and `progress`: as for `evaluate`.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rng = np.random.default_rng(1)
    >>> x, action = rng.normal(size=(500, 2)), rng.integers(2, size=500)
    >>> reward = np.where(action == 1, x[:, 0], 0.0) + rng.normal(size=500)
    >>> log = cf.Log(context=x, action=action, reward=reward, propensity=np.full(500, 0.5))
    >>> learned = cf.learn(log, ["greedy-learner"], shares=1)
    >>> learned.beats_log, learned.policy.predict([[2.0, 0.0], [-2.0, 0.0]]).tolist()
    (True, [1, 0])
    """
    checks.whole(3, folds=folds)
    question = Question.of(seed=seed, level=level, interval=interval, reward_range=reward_range)
    wanted, parts, moved = resolve_learners(learners), check_shares(shares), as_progress(progress)
    source = open_log(log, columns, learn)
    known = require_actions(source if isinstance(source, Log) else read_rows(source))
    with limit_blas():
        chosen = choose_context(known)[0]
        allowed = find_allowed(chosen, forbidden)
        rows = TrainingRows.of(chosen, allowed)
        kept, left_out = split_learners(wanted, rows)
        capacity.require_matrix("the policies", len(chosen) * 2 * (len(kept) + 1) * len(parts), len(chosen.actions))
        contest = Contest(chosen, rows, kept, parts, folds, question, threads)
        with show_progress("Learning", progress=moved) as move:
            return contest.run(left_out, move)


def read_rows(scan: LogScan) -> Log:
    """Return all rows of a log with one reward."""
    if len(scan.rewards) > 1:
        way = "Weigh them in one: `click - 0.1 * cost`"
        raise ParameterError(f"`learn` must have one reward to learn from, got {len(scan.rewards)}. {way}.")
    need = capacity.estimate_need(scan.opened.rows, scan.opened.size)
    capacity.require_memory(f"{scan.opened.rows} rows", need, way=SAMPLE)
    (one,) = scan.split().values()
    return one.read()


def require_actions(log: Log) -> Log:
    """Return a log of actions; refuse one of doses."""
    if log.dose is not None:
        way = "Cut doses into a few, such as three prices, and log these as actions"
        raise DataError(f"`learn` must have a log of actions to choose from, got doses. {way}.")
    return log


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

    def run(self, left_out: Mapping[str, str], progress: Progress | None) -> Learned:
        """Return the winner, valued by rows that took no part in finding it."""
        fold = assign_outer_folds(self.rows, self.folds)
        known = self.rows, [*self.learners, LOGGER], self.find_possible(), fold, self.question.seed
        outside = OutOfFold(*known, progress)
        decisions, contenders = outside.decide(), self.list_contenders()
        probs = self.mix(decisions)
        evaluations = self.evaluate(probs)
        winner = choose_contender(evaluations)
        by_fold = {number: self.choose_without(number, outside) for number in outside.numbers}
        attempt = include_refitting(self.evaluate({"policy": stitch(probs, by_fold, fold)})["policy"])
        beats_log = attempt.answerable and attempt.uplift().interval().low > 0
        evaluation = attempt if beats_log else self.evaluate({"policy": decisions.probs[LOGGER.name]})["policy"]
        policy = self.refit(contenders[winner] if beats_log else Contender(LOGGER, 1.0))
        votes = list(by_fold.values())
        table = [tabulate(name, one, votes.count(name), name == winner) for name, one in evaluations.items()]
        return Learned(policy, evaluation, attempt, beats_log, winner, table, left_out)

    def list_contenders(self) -> dict[str, Contender]:
        """Return every learner at every share, by name."""
        return {one.name: one for one in (Contender(each, share) for each in self.learners for share in self.shares)}

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
        return names[0] if len(names) == 1 else choose_contender(self.evaluate_without(number, outside))

    def evaluate_without(self, number: int, outside: OutOfFold) -> dict[str, Evaluation]:
        """Return what contenders would have earned in the rows of all folds but one, as if there were no others."""
        kept = np.flatnonzero(outside.fold != number)
        probs = {name: one[kept] for name, one in self.mix(outside.decide(number)).items()}
        return replace(self, log=take_rows(self.log, kept)).evaluate(probs)

    def find_possible(self) -> Bools:
        """Return which actions policies may take in each row: those that are allowed and that the log could take.

        In a row where there are none of these, they are those that are allowed; the diagnostics then tell.
        """
        possible = find_supported(self.log) & self.rows.allowed
        return np.where(possible.any(axis=1, keepdims=True), possible, self.rows.allowed)

    def evaluate(self, probs: Mapping[str, Floats]) -> dict[str, Evaluation]:
        """Return what policies would have earned, by name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            targets = {name: Decided(one) for name, one in probs.items()}
            found = evaluate_targets(self.log, targets, self.question, threads=self.threads, progress=False)
        return next(iter(found.values())).targets

    def refit(self, winner: Contender) -> Policy:
        """Return the winner's policy, learnt from all rows."""
        seed = self.question.seed
        scorer, logger = fit_learner(winner.learner, self.rows, seed), LOGGER.fit(self.rows, seed)
        is_greedy, features = winner.learner.is_greedy, Features.of(self.log)
        return Policy(list(self.log.actions), features, scorer, is_greedy, self.rows.allowed, winner.share, logger)


def tabulate(name: str, evaluation: Evaluation, folds: int, chosen: bool) -> ContenderLine:  # noqa: FBT001 (a column)
    """Return a line of the table."""
    gap = evaluation.uplift()
    low, high = gap.interval()
    return ContenderLine(name, evaluation.value, gap.value, low, high, evaluation.verdict, folds, chosen)
