"""Quality: how well fitted propensities tell the actions of rows that they were not fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.log.propensities.calibration import log_loss

BINS = 10
"""How many lines a table of reliability has."""


@dataclass(frozen=True)
class Bin:
    """Pairs of a row and an action with similar predicted probabilities."""

    pairs: int
    """The number of pairs."""

    predicted: float
    """Their mean predicted probability."""

    observed: float
    """The share of the pairs whose action was taken."""


@dataclass(frozen=True)
class Quality:
    """What rows outside of the fit tell of fitted propensities.

    `log_loss` and `plain_log_loss` are those of the fit, and of the frequencies of actions alone. `rival_p` says how
    likely chance is to let another classifier, a forest, add as much to the fit as it does: where it adds anything, the
    propensities depend on the context in another way. `reliability` compares probabilities with frequencies.
    """

    rows: int
    log_loss: float
    plain_log_loss: float
    rival_p: float | None
    reliability: tuple[Bin, ...]

    @classmethod
    def of(cls, probs: Floats, codes: Ints, rival_p: float | None) -> "Quality":
        """Return the quality of predictions of rows that they were not fitted on."""
        frequencies = np.bincount(codes, minlength=probs.shape[1]) / len(codes)
        plain = log_loss(np.broadcast_to(frequencies, probs.shape), codes)
        return cls(len(codes), log_loss(probs, codes), plain, rival_p, tuple(compare_frequencies(probs, codes)))


def compare_frequencies(probs: Floats, codes: Ints) -> Sequence[Bin]:
    """Return bins of equally many pairs of a row and an action, from the least likely to the likeliest ones.

    >>> compare_frequencies(np.tile([0.75, 0.25], (20, 1)), np.array([0, 0, 0, 1] * 5))[0]
    Bin(pairs=4, predicted=0.25, observed=0.25)
    """
    taken = (np.arange(probs.shape[1]) == codes[:, None]).ravel()
    order = np.argsort(probs.ravel(), kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    flat = probs.ravel()
    return [Bin(len(part), float(flat[part].mean()), float(taken[part].mean())) for part in parts]


def compare_losses(probs: Floats, rival: Floats, codes: Ints, units: Ints) -> float:
    """Return how likely chance is to make a mixture with a rival's predictions so much better; a unit counts once.

    Where the fit is right, the rival only adds noise and the mixture is worse on average.
    """
    from scipy.stats import norm

    place = np.arange(len(codes)), codes
    gains = np.log((probs[place] + rival[place]) / (2 * probs[place]))
    _, where = np.unique(units, return_inverse=True)
    sums = np.bincount(where, gains)
    error = sums.std() * np.sqrt(len(sums))
    return float(norm.sf(sums.sum() / error)) if error > 0 else 1.0
