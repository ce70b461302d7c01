"""The noise of choosing: how much an answer varies because another log would have made another choice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.estimators.sums import Sums
from counterfold.selectors.base import Selector

REPLICATES = 40
"""On how many bootstrap samples of the units the choice is made anew."""

UNITS = 256
"""Over about how many units sums are drawn anew: more of them take longer, and tell as much of the noise."""


def include_choosing(
    answer: Estimate, selector: Selector, sums: Sums, candidates: Sequence[Estimator], rng: np.random.Generator
) -> Estimate:
    """Return the answer with an error that includes the noise of choosing it.

    The choice is repeated on bootstrap samples of the units. The standard deviation of those answers is the noise of
    choosing; the error is the larger of it and the error so far. Samples of a small log that hold too few different
    units to choose by are left out.
    """
    found, sums = [], sums.coarsen(UNITS)
    for drawn in rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=REPLICATES):
        sample = sums.resample(drawn)
        if len(sample) >= selector.least_units:
            shares = selector.select_from_sums(sample, candidates, rng).shares
            found.append(shares @ sample.overall(candidates))
    moves = Moves.by_bootstrap("choices", np.array(found))
    return replace(answer, moves=moves) if moves.variance > answer.moves.variance else answer
