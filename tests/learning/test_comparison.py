"""Screening ranks contenders by the lower bounds that a loop finds, and keeps the best constant arm."""

import numpy as np

from counterfold.learning.comparison import N_FINALISTS, NORMAL_QUANTILE, pick_finalists, rank_contenders
from counterfold.learning.learners.base import TrainingRows
from learning_logs import draw_log


def find_bound_by_loop(rows, decisions):
    """Return the lower bound of the difference to the log, from sums over groups."""
    scores, rewards, units = rows.robust_scores, rows.examples.rewards, rows.examples.units
    differences = []
    for row in range(len(rewards)):
        value = sum(decisions[row, action] * scores[row, action] for action in range(3))
        differences.append(value - rewards[row])
    mean = sum(differences) / len(differences)
    totals = {}
    for unit, difference in zip(units.tolist(), differences, strict=True):
        totals[unit] = totals.get(unit, 0.0) + difference - mean
    count = len(totals)
    variance = sum(total**2 for total in totals.values()) * count / (count - 1) / len(differences) ** 2
    return mean - NORMAL_QUANTILE * variance**0.5


def test_contenders_are_ranked_by_their_lower_bounds():
    log = draw_log(rows=300, group=np.arange(300) // 3)
    rows = TrainingRows.of(log, np.ones(3, dtype=bool))
    rng = np.random.default_rng(1)
    probs = {str(number): rng.dirichlet(np.ones(3), 300) for number in range(6)}
    probs["good"] = np.eye(3)[np.where(log.context[:, 0] > 0, 1, 0)]
    expected = sorted(probs, key=lambda name: -find_bound_by_loop(rows, probs[name]))
    assert rank_contenders(rows, probs) == expected
    assert expected[0] == "good"


def test_finalists_are_the_best_and_the_best_constant():
    ranked = [*"abcdefgh"]
    assert pick_finalists(ranked, {"c", "h"}) == ranked[:N_FINALISTS]
    assert pick_finalists(ranked, {"g", "h"}) == [*ranked[:N_FINALISTS], "g"]
    assert pick_finalists(ranked[:2], set()) == ranked[:2]
