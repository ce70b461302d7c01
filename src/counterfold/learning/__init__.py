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
from counterfold.arrays import Floats
from counterfold.balance import choose_context
from counterfold.engines import choose_engine
from counterfold.errors import DataError, ParameterError, SupportWarning
from counterfold.evaluation.assembly import evaluate_targets
from counterfold.evaluation.question import Question
from counterfold.evaluation.result import Evaluation
from counterfold.intervals.base import Interval
from counterfold.learners.base import Learner, TrainingRows
from counterfold.learners.imitation import Imitation
from counterfold.learning.choice import choose_contender, stitch
from counterfold.learning.contenders import (
    Contender,
    check_shares,
    find_allowed,
    resolve_learners,
    split_learners,
)
from counterfold.learning.large import OtherRows, draw_rows
from counterfold.learning.limits import ActionLimits, fit_within
from counterfold.learning.limits import LimitLine as LimitLine
from counterfold.learning.out_of_fold import Decided, Decisions, OutOfFold, assign_outer_folds, find_possible
from counterfold.learning.refitting import include_refitting
from counterfold.learning.result import ContenderLine as ContenderLine
from counterfold.learning.result import Learned as Learned
from counterfold.learning.some_rows import take_rows
from counterfold.log import Log
from counterfold.policies.features import Features
from counterfold.policies.policy import Policy
from counterfold.pool import Pool, limit_blas
from counterfold.progress import Progress, as_progress, show_progress
from counterfold.tables.scan import Columns, LogScan, open_log
from counterfold.unseen import Limits

SHARES = (1.0, 0.5)
"""The shares of decisions that a policy may take, where the user does not say."""

LOGGER = Imitation()
"""What policies are mixed with: the logger, as far as the context tells."""


def learn(  # noqa: PLR0913 (as `evaluate`, and what a policy may do)
    log: Log | LogScan | str | PathLike[str] | Any,
    learners: Any = "default",
    *,
    shares: Sequence[float] | float = SHARES,
    forbidden: Any = (),
    limits: Any = (),
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    interval: Interval | str = intervals.DEFAULT,
    reward_range: Limits | None = None,
    threads: int | None = None,
    progress: Progress | bool = True,
    engine: str = "auto",
    **columns: Unpack[Columns],
) -> Learned:
    """Return the best policy that a log supports, and what it is worth by rows that took no part in finding it.

    Rows fall into `folds`, groups as a whole. Each learner learns from all folds but one, and decides in that one. What
    these decisions would have earned more than the log is estimated as by `evaluate`. The contender with the largest
    lower bound of that difference is chosen; so that choosing does no harm to the answer, `Learned.evaluation` values
    in each fold what the other folds choose, by policies that were learnt without it. If that does not beat the log at
    its lower bound, the policy does as the log did. Otherwise the winner is learnt anew from all rows.

    A log that does not fit into memory is learnt from some of its rows, and the policy is valued by all others.

    - `log` and `columns`: as for `evaluate`; actions must be labels.
    - `learners`: "default", or any mixture of learners, their names, and classifiers of scikit-learn's kind.
    - `shares`: which shares of the decisions a policy may take from the logger; each is a contender.
    - `forbidden`: labels of actions that the policy must not take. It never takes one that the log could not take.
    - `limits`: how often the policy may take actions, {"discount": 0.2}, or what it may cost on average,
      `"2 * discount + gift <= 0.3"`; one such text or several. It keeps to them in the rows that it is learnt from.
    - `level`, `interval`, `reward_range`, `seed`, `threads`, `progress` and `engine`: as for `evaluate`. By "local" and
      "spark", the policy is learnt from 65,536 rows (fewer where there are very many actions), or from half of them.

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
    where = choose_engine(require_one_reward(source), engine, Pool(threads))
    drawn = draw_rows(where, 2 * (len(wanted) + 1) * len(parts), progress=moved)
    with limit_blas():
        chosen = choose_context(require_actions(read_rows(source) if drawn is None else drawn.log))[0]
        allowed = find_allowed(chosen, forbidden)
        within, rows = ActionLimits.of(limits, chosen.actions, allowed), TrainingRows.of(chosen, allowed)
        kept, left_out = split_learners(wanted, rows)
        capacity.require_matrix("the policies", len(chosen) * 2 * (len(kept) + 1) * len(parts), len(chosen.actions))
        contest = Contest(chosen, rows, kept, parts, folds, question, threads, within)
        with show_progress("Learning", progress=moved) as move:
            if drawn is None:
                return contest.run(left_out, move)
            decisions = contest.split(move).decide()
        others = OtherRows(where, drawn, question, threads, moved)
        return contest.value_winner(decisions, left_out, others)


def require_one_reward(source: Log | LogScan) -> Log | LogScan:
    """Return a log with one reward; refuse one with several."""
    if isinstance(source, LogScan) and len(source.rewards) > 1:
        way = "Weigh them in one: `click - 0.1 * cost`"
        raise ParameterError(f"`learn` must have one reward to learn from, got {len(source.rewards)}. {way}.")
    return source


def read_rows(source: Log | LogScan) -> Log:
    """Return all rows of a log."""
    return source if isinstance(source, Log) else next(iter(source.split().values())).read()


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
    limits: ActionLimits | None = None

    def run(self, left_out: Mapping[str, str], progress: Progress | None) -> Learned:
        """Return the winner, valued by rows that took no part in finding it."""
        outside = self.split(progress)
        fold, decisions, contenders = outside.fold, outside.decide(), self.list_contenders()
        probs = self.mix(decisions)
        evaluations = self.evaluate(probs)
        winner = choose_contender(evaluations)
        by_fold = {number: self.choose_without(number, outside) for number in outside.numbers}
        stitched, imitated = stitch(probs, by_fold, fold), decisions.probs[LOGGER.name]
        attempt = include_refitting(self.evaluate({"policy": stitched})["policy"])
        beats_log = attempt.answerable and attempt.uplift().interval().low > 0
        evaluation = attempt if beats_log else self.evaluate({"policy": imitated})["policy"]
        policy = self.refit(contenders[winner] if beats_log else Contender(LOGGER, 1.0))
        votes = list(by_fold.values())
        table = [tabulate(name, one, votes.count(name), name == winner) for name, one in evaluations.items()]
        lines = self.list_limits(policy, stitched if beats_log else imitated)
        return Learned(policy, evaluation, attempt, beats_log, winner, table, left_out, lines)

    def split(self, progress: Progress | None) -> OutOfFold:
        """Return what learns from the rows of some folds and decides in others."""
        fold, possible = assign_outer_folds(self.rows, self.folds), find_possible(self.log, self.rows.allowed)
        known = self.rows, [*self.learners, LOGGER], possible, fold, self.question.seed
        return OutOfFold(*known, progress, self.limits)

    def value_winner(self, decisions: Decisions, left_out: Mapping[str, str], others: OtherRows) -> Learned:
        """Return the winner by these rows, learnt from all of them, and valued by the other rows of a large log."""
        probs = self.mix(decisions)
        evaluations = self.evaluate(probs)
        winner = choose_contender(evaluations)
        policy = self.refit(self.list_contenders()[winner])
        attempt = evaluation = others.value(policy)
        beats_log = attempt.answerable and attempt.uplift().interval().low > 0
        if not beats_log:
            policy = self.refit(Contender(LOGGER, 1.0))
            evaluation = others.value(policy)
        table = [tabulate(name, one, 0, name == winner) for name, one in evaluations.items()]
        lines = self.list_limits(policy, probs[winner] if beats_log else decisions.probs[LOGGER.name])
        return Learned(policy, evaluation, attempt, beats_log, winner, table, left_out, lines, len(self.log))

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

    def evaluate(self, probs: Mapping[str, Floats]) -> dict[str, Evaluation]:
        """Return what policies would have earned, by name."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            targets = {name: Decided(one) for name, one in probs.items()}
            found = evaluate_targets(self.log, targets, self.question, threads=self.threads, progress=False)
        return next(iter(found.values())).targets

    def list_limits(self, policy: Policy, probs: Floats) -> list[LimitLine]:
        """Return how a policy keeps to each limit, and those of the folds, whose decisions (n x A) are known."""
        if self.limits is None:
            return []
        counts, possible = self.log.counts, find_possible(self.log, self.rows.allowed)
        logged = np.eye(len(self.log.actions))[self.log.action]
        several = policy.decide(self.rows.context, possible), probs, logged
        taken = (self.limits.take(one, counts).tolist() for one in several)
        return list(map(LimitLine, self.limits.texts, self.limits.most.tolist(), *taken))

    def refit(self, winner: Contender) -> Policy:
        """Return the winner's policy, learnt from all rows."""
        given = self.rows, find_possible(self.log, self.rows.allowed), self.question.seed, self.limits
        scorer, logger = (fit_within(one, *given) for one in (winner.learner, LOGGER))
        is_greedy, features = winner.learner.is_greedy, Features.of(self.log)
        return Policy(list(self.log.actions), features, scorer, is_greedy, self.rows.allowed, winner.share, logger)


def tabulate(name: str, evaluation: Evaluation, folds: int, chosen: bool) -> ContenderLine:  # noqa: FBT001 (a column)
    """Return a line of the table."""
    gap = evaluation.uplift()
    low, high = gap.interval()
    return ContenderLine(name, evaluation.value, gap.value, low, high, evaluation.verdict, folds, chosen)
