"""Effective rows: how many equally weighted rows would be as informative as the log."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, ratio
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import add_known
from counterfold.evidence.evidence import FEW_ROWS, TOO_FEW_ROWS, Evidence
from counterfold.log.support import CERTAIN

FEW_EXPECTED_ROWS = 50.0
"""Below this expected number of effective rows, the number that a log happens to have is doubted."""

EXPECTED_SHARE = 0.25
"""The log's number is doubted only where the expected one is below this share of it."""

NEGLIGIBLE_MASS = 0.02
"""The largest weights of so much of the target's probability are left out of the expected number.

They move the value by no more than that share of what rewards differ by, and may lower the number by orders.
"""

WEIGHT_CLASSES = 66
"""Weights are summed by their binary exponents, from 2 to the power of -1 to 2 to the power of 64."""


@dataclass(frozen=True, eq=False)
class WeightMoments:
    r"""The target's probability and its product with the weight, summed by the size of the weight; two can be added.

    Entry k of both arrays is for the weights $w = \pi / \pi_0$ with the binary exponent k - 1.
    """

    masses: Floats
    moments: Floats

    @classmethod
    def of(cls, weights: Floats, masses: Floats) -> "WeightMoments":
        """Return the sums of some weights, each of which has a mass under the target."""
        exponents = np.clip(np.frexp(weights)[1], -1, WEIGHT_CLASSES - 2) + 1
        sums = np.bincount(exponents, masses, WEIGHT_CLASSES).astype(np.float64)  # of no rows, they are integers
        return cls(sums, np.bincount(exponents, masses * weights, WEIGHT_CLASSES).astype(np.float64))

    def __add__(self, other: "WeightMoments") -> "WeightMoments":
        return WeightMoments(self.masses + other.masses, self.moments + other.moments)

    def expect_rows(self, squared_counts: float, counts: float) -> float:
        """Return the expected number of effective rows, without the largest weights of a negligible mass.

        Few, but extreme weights say nothing of the rest of the target's decisions.
        """
        total = float(self.masses.sum())
        from_here_on = np.cumsum(self.masses[::-1])[::-1]
        is_kept = from_here_on > NEGLIGIBLE_MASS * total
        mass = float(self.masses[is_kept].sum())
        moment = float(self.moments[is_kept].sum())
        if not moment:
            return 0.0
        # The moments sum c E[w²] over rows that stand for c decisions each; squared weights sum to c² E[w²].
        return mass**2 / moment * (counts / squared_counts)


@dataclass(frozen=True, eq=False)
class ActionSums:
    """For each action the target's probability and its square, summed over decisions, and its largest propensity.

    The propensity is the largest one with which the action was logged, and 0 where it never was. Two can be added.
    """

    wanted: Floats
    squares: Floats
    largest: Floats

    @classmethod
    def of(cls, rows: Rows, counts: Floats) -> "ActionSums":
        """Return what is known of the actions in some rows."""
        target = rows.target_probs
        largest = np.zeros(target.shape[1])
        np.maximum.at(largest, rows.actions, rows.propensity)
        return cls(counts @ target, counts @ np.square(target), largest)

    def __add__(self, other: "ActionSums") -> "ActionSums":
        largest = np.maximum(self.largest, other.largest)
        return ActionSums(self.wanted + other.wanted, self.squares + other.squares, largest)

    def expect_rows(self, squared_counts: float, counts: float) -> float:
        """Return how many effective rows to expect if no action is ever likelier than it was where it was logged.

        Actions that were never logged are left out: they count as not supported.
        """
        is_known = self.largest > 0
        mass = float(self.wanted[is_known].sum())
        moment = float(ratio(self.squares, self.largest)[is_known].sum())
        return mass**2 / moment * (counts / squared_counts) if moment else 0.0


@dataclass(frozen=True, eq=False)
class ExpectedSums:
    """Sums over rows from which the expected number of effective rows follows; two can be added.

    `counts` are decisions, and `squared_counts` the squares of how many each row stands for. `actions` are there where
    the target's full probabilities are known, and the logging policy's are not; the number is exact where both are.
    """

    counts: float
    squared_counts: float
    weights: WeightMoments
    actions: ActionSums | None
    is_exact: bool

    @classmethod
    def of(cls, rows: Rows) -> "ExpectedSums":
        """Return the sums of some rows."""
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        is_exact = rows.has("target_probs") and rows.has("logging_probs")
        actions = None
        if is_exact:
            weights = sum_all_actions(rows.target_probs, rows.logging_probs, counts)
        else:
            weights = sum_logged_actions(rows.weights * rows.propensity, rows.propensity, counts)
            if rows.has("target_probs"):
                actions = ActionSums.of(rows, counts)
        squares = float(np.square(counts).sum())
        return cls(float(counts.sum()), squares, weights, actions, is_exact=is_exact)

    def __add__(self, other: "ExpectedSums") -> "ExpectedSums":
        return ExpectedSums(
            counts=self.counts + other.counts,
            squared_counts=self.squared_counts + other.squared_counts,
            weights=self.weights + other.weights,
            actions=add_known(self.actions, other.actions),
            is_exact=self.is_exact,
        )

    @property
    def rows(self) -> float:
        """Return the expected number of effective rows; about the most, where logging probabilities are unknown."""
        expected = self.weights.expect_rows(squared_counts=self.squared_counts, counts=self.counts)
        if self.actions is None:
            return expected
        return min(expected, self.actions.expect_rows(squared_counts=self.squared_counts, counts=self.counts))


def sum_all_actions(target: Floats, logging: Floats, counts: Floats) -> WeightMoments:
    """Return the moments of the weights of all actions (n x A) that the log could have taken."""
    weights = ratio(target, logging)
    masses = np.where(logging > 0, target, 0.0) * counts[:, None]
    is_small = weights <= 1.0  # one sum is enough for most, which binning each would take much longer for
    large = np.flatnonzero(~is_small)
    found = WeightMoments.of(weights.ravel()[large], masses.ravel()[large])
    small = np.where(is_small, masses, 0.0)
    found.masses[0] += small.sum()
    found.moments[0] += np.einsum("ia,ia->", small, weights)
    return found


def sum_logged_actions(target: Floats, propensity: Floats, counts: Floats) -> WeightMoments:
    r"""Return moments that are at most those of all actions, from what is known of the logged ones alone.

    $$\sum_a \frac{\pi(a)^2}{\pi_0(a)} \ge \frac{\pi(a_i)^2}{\pi_0(a_i)} + \frac{(1 - \pi(a_i))^2}{1 - \pi_0(a_i)}$$

    The other actions count as one: by the inequality of Cauchy and Schwarz, that is the best that they can be.
    """
    others = np.maximum(1 - target, 0.0)
    rest = np.where(propensity < CERTAIN, 1 - propensity, 0.0)
    masses = np.concatenate([target, np.where(rest > 0, others, 0.0)])
    weights = np.concatenate([target / propensity, ratio(others, rest)])
    return WeightMoments.of(weights, masses * np.tile(counts, 2))


@dataclass(frozen=True)
class EffectiveRows(Diagnostic):
    r"""Warn where the log is worth only a `few` rows for the target, and refuse where it is worth `too_few`.

    $$n_{\text{eff}} = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}, \qquad
      n_{\text{expected}} = n \Big/ \frac1n \sum_i \sum_a \frac{\pi(a \mid x_i)^2}{\pi_0(a \mid x_i)}$$

    Kish (1965), "Survey sampling". A log that happens to lack the rows with large weights seems to be worth many rows.
    So the expected number is computed, too, from the logging probabilities of all actions; where only propensities are
    logged, an estimate that is rarely below it. It is a caution where that is below `few_expected` and below `share` of
    the log's number.
    """

    few: float = FEW_ROWS
    too_few: float = TOO_FEW_ROWS
    few_expected: float = FEW_EXPECTED_ROWS
    share: float = EXPECTED_SHARE
    label = "effective rows"
    measures = {
        "effective_rows": (
            "The effective sample size: how many decisions of the target itself would be as informative as the log."
        ),
        "expected_rows": (
            "The effective sample size that a log like this has on average; about its maximum, where only "
            "propensities are known."
        ),
    }
    is_always_shown = True

    def observe(self, rows: Rows) -> ExpectedSums | None:
        return None if rows.kind == "doses" else ExpectedSums.of(rows)

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement:
        effective = evidence.effective_rows
        sums: ExpectedSums | None = evidence.observed.get(self.name)
        expected = None if sums is None else sums.rows
        numbers = {"effective_rows": effective, "expected_rows": expected}
        share = effective / evidence.row_count
        text = (
            f"{effective:.1f} of {evidence.row_count} ({share:.1%}): as informative as so many decisions of the target"
        )
        if effective < self.few:
            return Measurement(numbers, text, [self.describe_few(effective, evidence)])
        if sums is None or expected is None or not self.is_doubtful(effective, expected):
            return Measurement(numbers, text)
        at_most = "" if sums.is_exact else "at most about "
        text = f"{text}; {at_most}{expected:.3g} were to be expected"
        return Measurement(numbers, text, [self.describe_unexpected(effective, expected, at_most)])

    def is_doubtful(self, effective: float, expected: float) -> bool:
        """Say whether the log has more effective rows than such a log usually has."""
        return expected < self.few_expected and expected < self.share * effective

    def describe_few(self, effective: float, evidence: Evidence) -> Finding:
        """Return what is wrong where the log is worth few rows."""
        problem = f"the log is worth only {effective:.3g} rows for this target"
        remedy = "log more rows, explore more of what the target prefers, or ask about a target nearer to the log"
        if effective == 0:
            bandwidth = evidence.rows.bandwidth
            problem = "the target never takes a logged action"
            if bandwidth is not None:
                problem = f"no logged dose is within {bandwidth:.3g} of the target's"
            remedy = "check that the target names actions as the log does, or log some of what it would do"
        return self.make_finding("not answerable" if effective < self.too_few else "caution", problem, remedy)

    def describe_unexpected(self, effective: float, expected: float, at_most: str) -> Finding:
        """Return what is wrong where a log lacks the rows with large weights."""
        problem = (
            f"a log like this is worth {at_most}{expected:.3g} rows for this target, not the {effective:,.0f} that it "
            "seems to be worth: the target often takes actions that were hardly ever explored, and this log has next "
            "to no rows of them"
        )
        remedy = (
            "explore more of what the target prefers, or ask about a target that keeps to what was explored; the "
            "interval leaves out what these actions earn"
        )
        return self.make_finding("caution", problem, remedy)
