"""Screening: which contenders are worth a whole evaluation, by doubly robust scores of all actions."""

from collections.abc import Mapping

import numpy as np

from counterfold.base.arrays import Floats, row_sums
from counterfold.estimators.estimates import standard_error
from counterfold.learning.learners.base import TrainingRows

FINALISTS = 3
"""How many contenders are evaluated to choose among them, besides the best constant arm; all where there are fewer."""

NORMAL_QUANTILE = 1.96
"""How many standard errors lie between a difference and its lower bound of 95 %."""


def rank_contenders(rows: TrainingRows, probs: Mapping[str, Floats]) -> list[str]:
    r"""Return the names of contenders, those with the largest lower bound of their difference to the log first.

    $$\hat\Delta - 1.96 \, \hat\sigma_\Delta, \qquad \Delta_i = \sum_a \pi(a \mid x_i)\, \Gamma_{ia} - r_i$$

    with doubly robust scores $\Gamma$. All contenders take but a matrix product each, where an evaluation takes a
    hundred times as long. What is shown and decided rests on evaluations; this only says of which.
    """
    examples = rows.examples
    bounds = {}
    for name, differences in zip(probs, find_differences(rows, probs).T, strict=True):
        stderr = standard_error(differences, examples.units, examples.counts)
        mean = float(np.average(differences, weights=examples.counts))
        bounds[name] = mean - NORMAL_QUANTILE * stderr
    return sorted(bounds, key=lambda name: -bounds[name])


def find_differences(rows: TrainingRows, probs: Mapping[str, Floats]) -> Floats:
    """Return how much more than the log each contender earns in each row (n x contenders), by doubly robust scores."""
    values = [row_sums(decisions, rows.robust_scores) for decisions in probs.values()]
    return np.column_stack(values) - rows.examples.rewards[:, None]


def pick_finalists(ranked: list[str], constants: set[str]) -> list[str]:
    """Return the contenders to be evaluated: the best ones, and the best constant arm.

    >>> pick_finalists(["a", "b", "c", "d", "e", "always x", "always y"], {"always x", "always y"})
    ['a', 'b', 'c', 'always x']
    """
    finalists = ranked[:FINALISTS]
    best_constant = [name for name in ranked if name in constants][:1]
    return finalists + [name for name in best_constant if name not in finalists]
