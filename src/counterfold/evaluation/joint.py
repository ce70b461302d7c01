"""Joint: how estimates on one log move together, and the levels at which several intervals cover at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.hashing import assign_folds
from counterfold.base.threads import limit_blas
from counterfold.estimators.estimates import Estimate, correlate_weights
from counterfold.intervals.base import Units, normal_quantile, student_quantile

N_DRAWS = 20_000
"""The number of joint draws of the noise. The probability of 95 % is then accurate to about 0.2 %."""

MAX_UNITS = 1024
"""The largest number of units over which the noise of estimates is summed."""

COMMON_ERROR_FREEDOM = 5
"""The degrees of freedom of the factor by which the errors of all differences on one log may be wrong at once.

Errors are estimated from one log, and what that log does not show is missing in all of them. With this value, which was
chosen on development problems, 50 intervals cover together as often as 2 do.
"""

LOWEST_LEVEL = 0.01
"""The lowest level of an interval."""

NEARLY_SINGULAR = 1e-9
"""Added to the variance of standardised noise, so that the covariance of equal differences has a Cholesky root."""


@dataclass(frozen=True, eq=False)
class Joint:
    r"""What several estimates on one log have in common: their moves over the same units, and remaining biases.

    - `moves`: a line for each estimate says how it moves with each unit.
    - `biases`: the covariance of remaining biases, and of the noise that is added to what units show.
    - `source`: the source of moves that are paired.

    The covariance of the noise is $M M^\top + B$, where M are the moves and B the biases. The multiplier bootstrap
    draws from it: it multiplies the moves of each unit by a normal number and sums them.

    Chernozhukov, Chetverikov, Kato (2013), "Gaussian approximations and multiplier bootstrap for maxima of sums of
    high-dimensional random vectors".
    """

    moves: Floats
    biases: Floats
    source: str = ""

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> "Joint":
        """Return what estimates of the same rows have in common, by the answers that differences are computed from.

        If their moves are not over the same units, the moves of their contributions are used, and the rest of their
        errors is taken as independent, so that no part of it cancels in differences.
        """
        estimates = [estimate.in_differences for estimate in estimates]
        first = estimates[0].moves
        if len(first.values) and all(estimate.moves.is_paired_with(first) for estimate in estimates):
            roots = np.sqrt([[estimate.bias_variance, estimate.added_variance] for estimate in estimates])
            biases = correlate_weights([estimate.exposure for estimate in estimates]) * (roots @ roots.T)
            moves = np.stack([estimate.moves.values for estimate in estimates])
            return cls(moves=moves, biases=biases, source=first.source)
        return cls(
            moves=np.stack([find_moves(estimate) for estimate in estimates]),
            biases=np.diag([estimate.hidden_variance for estimate in estimates]),
        )

    @classmethod
    def combine(cls, joints: Sequence["Joint"]) -> "Joint":
        """Return what estimates by different rewards of one log have in common: only moves over the same units."""
        # Moves of the same source over as many units share their columns; all others have columns of their own.
        kinds = list(dict.fromkeys((joint.source, joint.moves.shape[1]) for joint in joints))
        ends = np.cumsum([0, *(width for _, width in kinds)])
        n_columns = int(ends[-1])
        moves = []
        for joint in joints:
            width = joint.moves.shape[1]
            start = int(ends[kinds.index((joint.source, width))])
            moves.append(np.pad(joint.moves, ((0, 0), (start, n_columns - start - width))))
        return cls(moves=np.concatenate(moves), biases=join_blocks([joint.biases for joint in joints]))

    def draw(self, contrasts: Floats, gaps: Sequence[Estimate], seed: int) -> Floats:
        """Return draws of the noise of contrasts (contrasts x estimates), a line for each draw.

        Each contrast is scaled to the interval of its difference (`gaps`). The part of an interval that is due to
        unseen rewards is drawn independently of other contrasts, which is the worst case.
        """
        reach = np.array([measure_reach(gap) for gap in gaps])
        reach_of_seen = np.array([measure_reach(replace(gap, unseen=gap.unseen.forget())) for gap in gaps])
        common = np.divide(reach_of_seen, reach, out=np.zeros_like(reach), where=reach > 0)
        with limit_blas():
            correlation = self.correlate(contrasts) * np.outer(common, common)
            np.fill_diagonal(correlation, 1 + NEARLY_SINGULAR)
            drawn = np.random.default_rng(seed).standard_normal((N_DRAWS, len(contrasts)))
            return np.asarray(drawn @ np.linalg.cholesky(correlation).T * reach)

    def correlate(self, contrasts: Floats) -> Floats:
        """Return the correlations of contrasts, 0 where there is no noise."""
        moves = contrasts @ self.moves
        covariance = moves @ moves.T + contrasts @ self.biases @ contrasts.T
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        scale = np.where(deviations > 0, deviations, np.inf)
        return np.asarray(covariance / np.outer(scale, scale))


def measure_reach(gap: Estimate) -> float:
    """Return the standard error of a difference for which a normal interval would be as wide as its interval."""
    low, high = gap.interval()
    return (high - low) / 2 / normal_quantile(gap.level)


def standardise(drawn: Floats, least_deviation: float = 0.0) -> Floats:
    """Return draws (draws x differences) in standard deviations, 0 where the deviation is not above the least one."""
    deviations = drawn.std(axis=0)
    return np.asarray(drawn / np.where(deviations > least_deviation, deviations, np.inf))


def join_blocks(blocks: Sequence[Floats]) -> Floats:
    """Return a block-diagonal matrix."""
    ends = np.cumsum([0, *map(len, blocks)])
    joined = np.zeros((ends[-1], ends[-1]))
    for start, end, block in zip(ends, ends[1:], blocks, strict=False):
        joined[start:end, start:end] = block
    return joined


def find_moves(estimate: Estimate) -> Floats:
    """Return how a mean moves with each unit, or with each of `MAX_UNITS` buckets of units if there are more."""
    moves = Units.of(estimate.contributions, estimate.groups, estimate.sizes).moves
    if len(moves) <= MAX_UNITS:
        return moves
    buckets = assign_folds(np.arange(len(moves)), MAX_UNITS)
    return np.asarray(np.bincount(buckets, moves, MAX_UNITS), dtype=np.float64)


def find_two_sided_level(level: float) -> float:
    """Return the level of the two-sided interval of which each end alone is a bound with this level."""
    return max(2 * level - 1, LOWEST_LEVEL)


def find_each_level(largest: Floats, level: float, tails: int, seed: int) -> float:
    r"""Return the level of each of several intervals at which all of them cover together with probability `level`.

    `largest` are draws of the largest standardised error, in one direction or in both (`tails`). Each draw is
    multiplied by a factor that is common to all errors, and c is the quantile of the products. A single error times
    such a factor has Student's t with `COMMON_ERROR_FREEDOM` degrees of freedom. The result is the level of the normal
    interval that is as many times wider than that of one error alone as c is than the quantile of Student's t. The
    seed of the factor's draws follows from `seed` and differs from that of the errors.

    Hothorn, Bretz, Westfall (2008), "Simultaneous inference in general parametric models".

    >>> import numpy as np
    >>> errors = np.random.default_rng(0).standard_normal(100_000)
    >>> round(find_each_level(np.abs(errors), 0.9, tails=2, seed=0), 2)
    0.9
    >>> round(find_each_level(errors, 0.9, tails=1, seed=0), 2)
    0.8
    """
    level_alone = level if tails == 2 else find_two_sided_level(level)
    rng = np.random.default_rng([seed, COMMON_ERROR_FREEDOM])
    factor = np.sqrt(COMMON_ERROR_FREEDOM / rng.chisquare(COMMON_ERROR_FREEDOM, len(largest)))
    reach = float(np.quantile(largest * factor, level, method="higher"))
    widening = max(1.0, reach / student_quantile(level_alone, COMMON_ERROR_FREEDOM))
    return 2 * NormalDist().cdf(widening * normal_quantile(level_alone)) - 1


def stretch_noise(drawn: Floats, gaps: Sequence[Estimate]) -> Floats:
    """Return differences with noise (draws x differences) that reaches as far up and down as their intervals do."""
    values = np.array([gap.value for gap in gaps])
    lows, highs = np.array([gap.interval() for gap in gaps]).T
    noise = standardise(drawn) / normal_quantile(gaps[0].level)
    return np.asarray(values + np.where(noise > 0, highs - values, values - lows) * noise)
