"""Joint: how estimates on one log move together, and what follows for several differences at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.hashing import assign_folds
from counterfold.base.threads import limit_blas
from counterfold.estimators.estimates import Estimate, correlate_weights
from counterfold.intervals.base import Units, normal_quantile, student_quantile

DRAWS = 20_000
"""How many joint draws of the noise there are: the level of 95 % is then known to about 0.2 %."""

BUCKETS = 1024
"""Over how many units the noise of estimates is summed at most."""

FREEDOM = 5
"""The degrees of freedom of the factor by which the errors of all differences on one log may be wrong at once.

Errors are estimated from one log, and what it hides is hidden in all of them. By this value, which was chosen on
development problems, 50 intervals hold together as often as 2 do.
"""

LOWEST = 0.01
"""The least level of an interval."""

NEARLY_SINGULAR = 1e-9
"""What is added to the variance of standardised noise, so that equal differences have a root of their covariance."""


@dataclass(frozen=True, eq=False)
class Joint:
    r"""What several estimates on one log have in common: their moves over the same units, and what is left of biases.

    The covariance of the noise is $M M^\top + B$, where a line of `moves` (M) says how an estimate moves with each
    unit, and `biases` (B) is the covariance of what may be left of their biases and of the noise that is added to what
    units show; `source` is that of moves which are paired. To multiply the moves of each unit by a normal number and to
    sum them, which is the multiplier bootstrap, is to draw from that covariance.

    Chernozhukov, Chetverikov, Kato (2013), "Gaussian approximations and multiplier bootstrap for maxima of sums of
    high-dimensional random vectors".
    """

    moves: Floats
    biases: Floats
    source: str = ""

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> "Joint":
        """Return what is common to estimates of the same rows.

        Where their moves are not over the same units, those of contributions tell how they move together, and nothing
        cancels of what errors hold beyond that. Answers are those that differences are made of.
        """
        estimates = [one.in_differences for one in estimates]
        first = estimates[0].moves
        if len(first.values) and all(one.moves.is_paired_with(first) for one in estimates):
            roots = np.sqrt([[one.bias_variance, one.added_variance] for one in estimates])
            biases = correlate_weights([one.exposure for one in estimates]) * (roots @ roots.T)
            return cls(np.stack([one.moves.values for one in estimates]), biases, first.source)
        hidden = np.diag([one.hidden_variance for one in estimates])
        return cls(np.stack([find_moves(one) for one in estimates]), hidden)

    @classmethod
    def combine(cls, several: Sequence["Joint"]) -> "Joint":
        """Return what estimates by different rewards of one log have in common: moves over the same units alone."""
        kinds = list(dict.fromkeys((one.source, one.moves.shape[1]) for one in several))
        ends = np.cumsum([0, *(width for _, width in kinds)])
        moves = []
        for one in several:
            start = int(ends[kinds.index((one.source, one.moves.shape[1]))])
            after = int(ends[-1]) - start - one.moves.shape[1]
            moves.append(np.pad(one.moves, ((0, 0), (start, after))))
        return cls(np.concatenate(moves), join_blocks([one.biases for one in several]))

    def draw(self, contrasts: Floats, gaps: Sequence[Estimate], seed: int) -> Floats:
        """Return draws of the noise of some contrasts (contrasts x estimates), a line for each draw.

        Each reaches as far as the interval of its difference (`gaps`). What that holds because of rewards that were not
        seen has nothing in common with others, which is the worst case.
        """
        reach = np.array([measure_reach(gap) for gap in gaps])
        shown = np.array([measure_reach(replace(gap, unseen=gap.unseen.forget())) for gap in gaps])
        common = np.divide(shown, reach, out=np.zeros_like(reach), where=reach > 0)
        with limit_blas():
            correlation = self.correlate(contrasts) * np.outer(common, common)
            np.fill_diagonal(correlation, 1 + NEARLY_SINGULAR)
            drawn = np.random.default_rng(seed).standard_normal((DRAWS, len(contrasts)))
            return np.asarray(drawn @ np.linalg.cholesky(correlation).T * reach)

    def correlate(self, contrasts: Floats) -> Floats:
        """Return the correlations of some contrasts, 0 where there is no noise."""
        moves = contrasts @ self.moves
        covariance = moves @ moves.T + contrasts @ self.biases @ contrasts.T
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        scale = np.where(deviations > 0, deviations, np.inf)
        return np.asarray(covariance / np.outer(scale, scale))


def measure_reach(gap: Estimate) -> float:
    """Return how many units of reward a standard error is, by the interval of a difference."""
    low, high = gap.interval()
    return (high - low) / 2 / normal_quantile(gap.level)


def standardise(drawn: Floats, least: float = 0.0) -> Floats:
    """Return draws (draws x differences) in standard deviations, 0 where nothing moves by more than the least."""
    deviations = drawn.std(axis=0)
    return np.asarray(drawn / np.where(deviations > least, deviations, np.inf))


def join_blocks(several: Sequence[Floats]) -> Floats:
    """Return a matrix with some others on its diagonal, and else 0."""
    ends = np.cumsum([0, *map(len, several)])
    found = np.zeros((ends[-1], ends[-1]))
    for start, end, one in zip(ends, ends[1:], several, strict=False):
        found[start:end, start:end] = one
    return found


def find_moves(estimate: Estimate) -> Floats:
    """Return how a mean moves with each unit, or with each of at most 1,024 buckets of units."""
    moves = Units.of(estimate.contributions, estimate.groups, estimate.sizes).moves
    if len(moves) <= BUCKETS:
        return moves
    return np.asarray(np.bincount(assign_folds(np.arange(len(moves)), BUCKETS), moves, BUCKETS), dtype=np.float64)


def find_each_level(largest: Floats, level: float, tails: int, seed: int) -> float:
    r"""Return the level of each of several intervals, by which all of them hold together with a probability.

    If the largest of several standardised errors, in one direction or in both (`tails`), times a factor that is common
    to all, is below c with this probability, it is that of the normal interval which is as many times wider than that
    of one error alone as c is than its quantile of Student's t, with `FREEDOM` degrees of freedom. The draws of that
    factor have a seed of their own, which follows from the given one and is not that of the errors.

    Hothorn, Bretz, Westfall (2008), "Simultaneous inference in general parametric models".

    >>> import numpy as np
    >>> one = np.random.default_rng(0).standard_normal(100_000)
    >>> [round(find_each_level(errors, 0.9, tails, seed=0), 2) for errors, tails in ((np.abs(one), 2), (one, 1))]
    [0.9, 0.8]
    """
    alone = level if tails == 2 else max(2 * level - 1, LOWEST)
    factor = np.sqrt(FREEDOM / np.random.default_rng([seed, FREEDOM]).chisquare(FREEDOM, len(largest)))
    reach = float(np.quantile(largest * factor, level, method="higher"))
    wider = max(1.0, reach / student_quantile(alone, FREEDOM))
    return 2 * NormalDist().cdf(wider * normal_quantile(alone)) - 1


def stretch_noise(drawn: Floats, gaps: Sequence[Estimate]) -> Floats:
    """Return differences with noise (draws x differences) that reaches as far up and down as their intervals do."""
    values, (lows, highs) = np.array([one.value for one in gaps]), np.array([one.interval() for one in gaps]).T
    noise = standardise(drawn) / normal_quantile(gaps[0].level)
    return np.asarray(values + np.where(noise > 0, highs - values, values - lows) * noise)
