"""Whether weights are 1 on average, as right ones are."""

import math
from dataclasses import dataclass

from scipy.special import stdtr

from counterfold.base.arrays import Floats
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.intervals.base import Units

TOLERANCE = 1e-9
"""How far a mean weight may be from the expected one without a test, since weights have rounding errors."""

LARGEST_UNSEEN_WEIGHT = 50.0
"""Rows that the log happens to lack are assumed to have no larger weights than this."""

MIN_UNITS_FOR_SKEWNESS = 20
"""The skewness of fewer rows or groups is mostly noise, so their mean is judged by Student's test alone."""


@dataclass(frozen=True)
class Weight(Estimator):
    """The mean of the weights, as if every reward were 1."""

    kinds = ("labels", "doses")

    def contributions(self, rows: Rows) -> Floats:
        return rows.weights


@dataclass(frozen=True)
class MeanWeight(Diagnostic):
    r"""Warn where the mean weight is not 1, less the probability of what lacks support, by a two-sided test.

    $$h = z + \frac{k z^2}{3} + \frac{k^2 z^3}{27} + \frac{k}{6}, \qquad
      z = \frac{\bar w - (1 - m)}{\hat\sigma_{\bar w}}, \qquad k = \frac{\hat\gamma}{\sqrt n}$$

    A p-value below `surprising` says that the propensities or the target's probabilities are not what was used. Weights
    are skewed: a log that happens to lack its rare large weights has a low mean and a small error at once. The cubic in
    z takes their skewness $\hat\gamma$ out of the statistic, which is then judged by Student's distribution. It has one
    degree of freedom less than there are rows (or groups); where the mean is below the expected one, it has as many as
    there are squares that carry the estimated variance. Fewer than 20 groups are judged by Student's test alone. Where
    one decision was made for several rows at once, the error allows for it.

    Hall (1992), "On the removal of skewness by transformation".
    """

    surprising: float = 0.001
    label = "mean weight"
    measures = {
        "mean_weight": "The mean weight, which should be 1.",
        "mean_weight_p": "The p-value of the difference between the mean weight and its expected value.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        mean = evidence.total_weight / evidence.decision_count
        expected = 1 - evidence.unsupported_mass
        design_effect = 1.0 if evidence.balance is None else evidence.balance.design_effect
        p = find_p(
            units=evidence.mean_weight.units,
            expected=expected,
            design_effect=design_effect,
            added_variance=evidence.find_propensity_variance(Weight()),
            n_independent=evidence.row_count if evidence.contents.groups is None else evidence.contents.groups,
        )
        numbers = {"mean_weight": mean, "mean_weight_p": p}
        text = f"{mean:.4f}, and {expected:.4g} is expected (p = {p:.2g})"
        # Weights by fitted propensities are 1 on average only as far as the fit is right.
        is_fitted = evidence.contents.fitted is not None
        if not evidence.total_weight or p >= self.surprising or is_fitted:
            return Measurement(numbers, text)
        remedy = "check that the propensities are those that the actions were drawn with"
        if not evidence.rows.target_probs.shape[1]:  # known of the logged actions alone, from one column of numbers
            remedy += ", and that the target's numbers are its probabilities of the logged actions"
        if evidence.rows.bandwidth is not None:
            remedy = "check the densities, and that the target's doses lie well within the logged ones"
        problem = f"the mean weight is {mean:.3g} where {expected:.3g} is expected (p = {p:.1g})"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])


def find_p(
    units: Units, expected: float, design_effect: float, added_variance: float, n_independent: int | None = None
) -> float:
    """Return the two-sided p-value of the mean of units, if another one is expected.

    A design effect makes the error larger, and so does the variance of noise that the units do not show. There are
    `n_independent` rows or groups, which are more than the units of a large log. By default they are the units.

    >>> import numpy as np
    >>> find_p(Units.of(np.array([0.0, 2.0] * 20)), expected=1.0, design_effect=1.0, added_variance=0.0)
    1.0
    """
    gap = units.value - expected
    if abs(gap) <= TOLERANCE or len(units) < 2:
        return 1.0
    error = math.hypot(units.stderr * math.sqrt(design_effect), math.sqrt(added_variance))
    if not error:
        return bound_equal_weights(units.value, expected, n_independent or len(units))
    z = gap / error
    freedom: float = len(units) - 1
    if len(units) >= MIN_UNITS_FOR_SKEWNESS and not units.constant:
        # Noise that the units do not show adds to the variance, and nothing to the third moment.
        shown = design_effect * units.stderr**2 / error**2
        skewness = shown * units.slope * design_effect / error
        z = z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6
        # Rare large weights that are missing would raise the mean, and the variance as well.
        freedom = units.freedom if gap < 0 else freedom
    return 2 * float(stdtr(freedom, -abs(z)))


def bound_equal_weights(value: float, expected: float, count: int) -> float:
    """Return an upper bound on the probability that `count` units all equal `value` although their mean is `expected`.

    Weights are at least 0, so each is as large as `value` with a probability of at most `expected / value`. Where they
    are too small, the missing weight is that of rows that are not in the log. These may be as rare as their weights are
    large, which is taken to be at most `LARGEST_UNSEEN_WEIGHT`.

    >>> bound_equal_weights(2.0, 1.0, 4)
    0.0625
    """
    if value > expected:
        return float((expected / value) ** count)
    return float((1 - (expected - value) / LARGEST_UNSEEN_WEIGHT) ** count)
