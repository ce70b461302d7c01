"""The noise of choosing: how much an answer varies because another log would have made another choice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.estimators.sums import Sums
from counterfold.selectors.base import Selector

N_SAMPLES = 40
"""The number of bootstrap samples on which the choice is repeated."""

MAX_UNITS_TO_RESAMPLE = 256
"""About how many units are resampled. More units take longer and estimate the noise no better."""


def include_choosing(
    answer: Estimate, selector: Selector, sums: Sums, candidates: Sequence[Estimator], rng: np.random.Generator
) -> Estimate:
    """Return the answer with an error that includes the noise of choosing it.

    The choice is repeated on bootstrap samples of the units. The standard deviation of those answers is the noise of
    choosing, and the error is the larger of it and the error so far. Samples that have too few different units for the
    selector are left out; that happens in small logs.
    """
    sums = sums.coarsen(MAX_UNITS_TO_RESAMPLE)
    n_units = len(sums)
    answers = []
    for times_drawn in rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_SAMPLES):
        sample = sums.resample(times_drawn)
        if len(sample) >= selector.least_units:
            shares = selector.select_from_sums(sample, candidates, rng).shares
            answers.append(shares @ sample.overall(candidates))
    moves = Moves.by_bootstrap("choices", np.array(answers))
    if moves.variance > answer.moves.variance:
        return replace(answer, moves=moves)
    return answer
