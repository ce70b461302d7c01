"""learn(): from a log to a policy that beats it safely, valued on rows that took no part in learning or choosing it.

The function lives here, because a module `learn.py` would take the place of `cf.learn` once it was imported.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Unpack

from counterfold import intervals
from counterfold.base import validation
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.progress import Progress, as_progress, show_progress
from counterfold.base.threads import Pool, limit_blas
from counterfold.engines import choose_engine
from counterfold.estimators.unseen_rewards import Limits
from counterfold.evaluation.question import Question
from counterfold.intervals.base import Interval
from counterfold.io.schema.scan import Columns, LogScan, open_log
from counterfold.learning.contenders import check_shares, count_policies, resolve_learners
from counterfold.learning.contest import Contest
from counterfold.learning.folds import assign_outer_folds, train_without_folds
from counterfold.learning.large_logs import OtherRowsValuation, draw_sample, find_groups
from counterfold.learning.limits import LimitLine as LimitLine
from counterfold.learning.method import learn_policy
from counterfold.learning.result import ContenderLine as ContenderLine
from counterfold.learning.result import Learned as Learned
from counterfold.learning.same_context import choose_grouped_context
from counterfold.learning.valuation import OutOfFoldValuation, Valuation
from counterfold.log.log import Log

SHARES = (1.0,)
"""The shares of decisions that a policy may take, where the user does not say.

A policy that takes half of the decisions gains half as much, with about half of the error. So if any contender beats
the log, hardly ever one that takes fewer decisions has the largest lower bound.
"""

MAX_FOLDS = 20
"""The largest number of folds; the rounds of training grow with its square."""

MAX_EXPLORED = 0.5
"""The largest share of decisions that are made at random."""


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
    wanted_learners = resolve_learners(learners)
    checked_shares = check_shares(shares)
    progress = as_progress(progress)
    source = require_one_reward(open_log(log, columns, learn))
    log_engine = find_groups(choose_engine(source, engine, Pool(threads)), progress=progress)

    # Each learner and the imitation of the log have two matrices of rows and actions at each share.
    n_matrices = 2 * (count_policies(wanted_learners) + 1) * len(checked_shares)
    sample = draw_sample(log_engine, n_matrices, progress=progress)
    with limit_blas():
        training_rows = require_actions(read_rows(source) if sample is None else sample.log)
        contest = Contest.of(
            choose_grouped_context(training_rows),
            learners=wanted_learners,
            shares=checked_shares,
            forbidden=forbidden,
            limits=limits,
            explore=float(explore),
            question=question,
            threads=threads,
        )
        fold = assign_outer_folds(contest.rows, folds)
        with show_progress("Learning", progress=progress) as move:
            policies = train_without_folds(contest, fold, with_pairs=sample is None, progress=move)
        valuation: Valuation
        if sample is None:
            valuation = OutOfFoldValuation(contest, policies, progress)
        else:
            valuation = OtherRowsValuation(policies, log_engine, sample, progress)
        return learn_policy(contest, policies, valuation)


def require_sizes(folds: int, explore: float) -> None:
    """Require folds that can be learnt from in reasonable time, and a share to explore that leaves room."""
    validation.whole(3, folds=folds)
    if folds > MAX_FOLDS:
        rounds = f"so many take {folds * (folds + 1) // 2} rounds of learning"
        raise ParameterError(f"`folds` must be at most {MAX_FOLDS}, got {folds}: {rounds}.")
    validation.within(0, MAX_EXPLORED, explore=explore)


def require_one_reward(source: Log | LogScan) -> Log | LogScan:
    """Return a log with one reward; refuse one with several."""
    if isinstance(source, LogScan) and len(source.rewards) > 1:
        remedy = "Weigh them in one: `click - 0.1 * cost`"
        raise ParameterError(f"`learn` must have one reward to learn from, got {len(source.rewards)}. {remedy}.")
    return source


def read_rows(source: Log | LogScan) -> Log:
    """Return all rows of a log."""
    if isinstance(source, Log):
        return source
    (scan,) = source.split().values()  # one scan for each reward, of which there is one
    return scan.read()


def require_actions(log: Log) -> Log:
    """Return a log of actions; refuse one of doses."""
    if log.dose is not None:
        remedy = "Cut doses into a few, such as three prices, and log these as actions"
        raise DataError(f"`learn` must have a log of actions to choose from, got doses. {remedy}.")
    return log
