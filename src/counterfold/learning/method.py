"""The method of `learn`, step by step: choose the best contender, and value it by rows that did not choose it."""

from collections import Counter

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.evaluation.result import Evaluation
from counterfold.learning.comparison import compare_with_log
from counterfold.learning.contenders import IMITATION, Contender
from counterfold.learning.contest import Contest
from counterfold.learning.folds import FoldPolicies
from counterfold.learning.limits import LimitLine
from counterfold.learning.result import ContenderLine, Learned
from counterfold.learning.valuation import Valuation
from counterfold.policies.learned.policy import Policy


def learn_policy(contest: Contest, policies: FoldPolicies, valuation: Valuation) -> Learned:
    """Choose the contender with the largest lower bound, train it on all rows, and value it.

    - `contest`: the log, and who competes on it.
    - `policies`: every contender, trained without each of the folds.
    - `valuation`: values the winner by rows that had no part in choosing it.
    """
    comparison = compare_with_log(contest, policies.decisions)
    name = comparison.choice.name
    attempted = contest.train(contest.contenders[name])

    # The evaluation by which the winner was chosen is too good: the luckiest of several contenders wins.
    value = valuation.value_winner(name, attempted)
    attempt = value.evaluation
    beats_log = attempt.answerable and attempt.uplift().interval().low > 0

    policy = attempted
    evaluation = attempt
    if not beats_log:
        policy = contest.train(Contender(IMITATION, 1.0))
        evaluation = valuation.value_imitation(policy)
    n_folds = Counter(value.chosen_by_fold.values())
    return Learned(
        policy=policy,
        evaluation=evaluation,
        attempt=attempt,
        attempted=attempted,
        beats_log=beats_log,
        chosen=name,
        table=[
            tabulate(contender, found, n_folds=n_folds[contender], is_chosen=contender == name)
            for contender, found in comparison.evaluations.items()
        ],
        left_out=contest.left_out,
        limits=list_limits(contest, attempted, value.decisions),
        sample=valuation.sample_size,
        simpler=comparison.choice.simpler,
    )


def tabulate(name: str, evaluation: Evaluation, *, n_folds: int, is_chosen: bool) -> ContenderLine:
    """Return the line of a contender in the table."""
    gap = evaluation.uplift()
    low, high = gap.interval()
    return ContenderLine(
        contender=name,
        value=evaluation.value,
        gain=gap.value,
        low=low,
        high=high,
        verdict=evaluation.verdict,
        folds=n_folds,
        chosen=is_chosen,
    )


def list_limits(contest: Contest, policy: Policy, held_out_decisions: Floats) -> list[LimitLine]:
    """Return how a policy keeps to each limit in its training rows, and how others like it do in held-out rows."""
    limits = contest.rules.limits
    if limits is None:
        return []
    log = contest.log
    expected_decisions = policy.decide(contest.rows.context, contest.rules.possible)
    logged_decisions = np.eye(len(log.actions))[log.action]
    return limits.make_lines(
        expected=limits.take(expected_decisions, log.counts),
        out_of_fold=limits.take(held_out_decisions, log.counts),
        logged=limits.take(logged_decisions, log.counts),
    )
