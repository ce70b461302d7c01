"""learn(): from a log to a policy that beats it safely, valued on rows that took no part in learning or choosing it.

The function lives here, because a module `learn.py` would take the place of `cf.learn` once it was imported.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Unpack

from counterfold import intervals
from counterfold.base import capacity, validation
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.progress import Progress, as_progress, show_progress
from counterfold.base.threads import Pool, limit_blas
from counterfold.engines import choose_engine
from counterfold.estimators.unseen_rewards import Limits
from counterfold.evaluation.question import Question
from counterfold.intervals.base import Interval
from counterfold.io.schema.scan import Columns, LogScan, open_log
from counterfold.learning.contenders import (
    check_shares,
    count_policies,
    find_allowed,
    name_constants,
    resolve_learners,
    split_learners,
)
from counterfold.learning.contest import Contest
from counterfold.learning.large import OtherRows, draw_rows, group_large
from counterfold.learning.learners.base import TrainingRows
from counterfold.learning.limits import ActionLimits
from counterfold.learning.limits import LimitLine as LimitLine
from counterfold.learning.result import ContenderLine as ContenderLine
from counterfold.learning.result import Learned as Learned
from counterfold.learning.same_context import choose_grouped_context
from counterfold.log.log import Log

SHARES = (1.0,)
"""The shares of decisions that a policy may take, where the user does not say.

A policy that takes half of the decisions gains half as much, with about half of the error. So if any contender beats
the log, hardly ever one that takes fewer decisions has the largest lower bound.
"""

MOST_FOLDS, MOST_EXPLORED = 20, 0.5
"""Rows fall into at most so many folds, and at most such a share of the decisions is made at random."""


def learn(  # noqa: PLR0913 (as `evaluate`, and what a policy may do)
    log: Log | LogScan | str | PathLike[str] | Any,
    learners: Any = "default",
    *,
    shares: Sequence[float] | float = SHARES,
    forbidden: Any = (),
    limits: Any = (),
    explore: float = 0.0,
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

    Rows fall into `folds`, groups as a whole; where nobody named groups, these are rows of the same context, unless
    most rows share theirs with many. Each learner learns from all folds but one, and decides in that one. What
    these decisions would have earned more than the log is estimated as by `evaluate`. The contender with the largest
    lower bound of that difference is chosen, or a simpler one that earns as much within noise. So that choosing does no
    harm to the answer, `Learned.evaluation` values in each fold what the other folds choose, by policies that were
    learnt without it. If that does not beat the log at its lower bound, the policy imitates the log. Otherwise the
    winner is learnt anew from all rows.

    A log that does not fit into memory is learnt from some of its rows, and the policy is valued by all others.

    - `log` and `columns`: as for `evaluate`; actions must be labels.
    - `learners`: "default", or any mixture of learners, their names, and classifiers of scikit-learn's kind. By default
      every constant arm, linear models, boosted trees and a shallow tree compete; "policy-forest" is added by name.
    - `shares`: which shares of the decisions a policy takes, an imitation of the logger the others; each competes.
      All of them, unless said otherwise.
    - `forbidden`: labels of actions that the policy must not take. It never takes one that the log could not take.
    - `limits`: how often the policy may take actions, {"discount": 0.2}, or what it may cost on average,
      `"2 * discount + gift <= 0.3"`, or how often it must, `"gift >= 5%"`; one such text or several. It keeps to them
      in the rows that it is learnt from.
    - `explore`: the share of the decisions that are made at random, so that their log can judge other policies.
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
    require_sizes(folds, explore)
    question = Question.of(seed=seed, level=level, interval=interval, reward_range=reward_range)
    wanted, parts, moved = resolve_learners(learners), check_shares(shares), as_progress(progress)
    source = open_log(log, columns, learn)
    where = group_large(choose_engine(require_one_reward(source), engine, Pool(threads)), progress=moved)
    drawn = draw_rows(where, 2 * (count_policies(wanted) + 1) * len(parts), progress=moved)
    with limit_blas():
        log = require_actions(read_rows(source) if drawn is None else drawn.log)
        chosen = choose_grouped_context(log)
        allowed = find_allowed(chosen, forbidden)
        within, rows = ActionLimits.of(limits, chosen.actions, allowed, explore), TrainingRows.of(chosen, allowed)
        kept, left_out = split_learners(name_constants(wanted, rows), rows)
        capacity.require_matrix("the policies", len(chosen) * 2 * (len(kept) + 1) * len(parts), len(chosen.actions))
        contest = Contest(chosen, rows, kept, parts, folds, question, threads, within, float(explore))
        with show_progress("Learning", progress=moved) as move:
            if drawn is None:
                return contest.run(left_out, move)
            decisions = contest.split(move).decide()
        others = OtherRows(where, drawn, question, threads, moved)
        return contest.value_winner(decisions, left_out, others)


def require_sizes(folds: int, explore: float) -> None:
    """Require folds that can be learnt from in reasonable time, and a share to explore that leaves room."""
    validation.whole(3, folds=folds)
    if folds > MOST_FOLDS:
        rounds = f"so many take {folds * (folds + 1) // 2} rounds of learning"
        raise ParameterError(f"`folds` must be at most {MOST_FOLDS}, got {folds}: {rounds}.")
    validation.within(0, MOST_EXPLORED, explore=explore)


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
