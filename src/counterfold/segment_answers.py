"""SegmentedColumn: what the target would have earned in each segment of a column, and how far segments differ."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from counterfold.arrays import Floats
from counterfold.estimates import Estimate
from counterfold.evidence import FEW_GROUPS, FEW_ROWS, SOME_UNSUPPORTED, TOO_FEW_ROWS, TOO_MUCH_UNSUPPORTED
from counterfold.intervals.base import Bounds
from counterfold.intervals.skewed_t import SkewedT

DRAWS = 1 << 14
"""How many draws tell how far the farthest of several segments is from the truth."""

TAUS = np.concatenate([[0.0], np.geomspace(0.01, 1000.0, 128)])
"""By how much segments may truly differ (a standard deviation), in `USUAL` standard deviations of the rewards."""

USUAL = 0.1
"""How many standard deviations of the rewards the differences of segments usually vary by: half of a Cauchy's scale."""

ALARM = 1e-4
"""How likely it may be that segments seem to depend on what was decided, though they do not."""

ROUNDING = 1e-9
"""How far a mean weight may be from the expected one, since weights have rounding errors."""


class Kept(NamedTuple):
    """The rows of a segment, their groups, how many they are worth for the target, and how much they could not try.

    There are as many groups as rows where rows belong to none; of many, those that share a unit count as one.
    """

    rows: int
    groups: int
    effective: float
    unsupported: float


@dataclass(frozen=True, eq=False)
class SegmentAnswer:
    """What the target would have earned in one segment, what the log did, and by how much they differ.

    `weight` is the mean weight there, and `expected` what it is if the segment was known before the decision.
    """

    name: str
    kept: Kept
    estimate: Estimate
    logged: Estimate
    gap: Estimate
    weight: Estimate
    expected: float

    def judge(self) -> tuple[str, str | None]:
        """Return the verdict on the segment alone, and the reason if it is not good."""
        rows, groups, effective, missing = self.kept
        worth = f"its {rows} rows are worth only {effective:.3g} for this target"
        worth = worth if effective else "the target never takes a logged action there"
        lacking = f"{missing:.1%} of what the target does there could never be logged"
        is_unknown = effective < TOO_FEW_ROWS or not math.isfinite(self.estimate.stderr)
        reasons = (
            ("not answerable", is_unknown, worth),
            ("not answerable", missing >= TOO_MUCH_UNSUPPORTED, lacking),
            ("caution", missing >= SOME_UNSUPPORTED, lacking),
            ("caution", effective < FEW_ROWS, worth),
            ("caution", groups < FEW_GROUPS, f"its rows are of only {groups} groups"),
        )
        return next(((verdict, reason) for verdict, is_so, reason in reasons if is_so), ("good", None))


@dataclass(frozen=True)
class Segment:
    """A line of the table: a segment, what the target would have earned there and how much more than the log did.

    Intervals hold the truth of all segments of the column at once with the level of the answer. `pooled` is the
    difference drawn towards that of the whole log as far as noise alone may have made it another one; its interval is
    for this segment alone. `reason` says why the verdict is not good.
    """

    column: str
    segment: str
    rows: int
    effective_rows: float
    value: float
    stderr: float
    low: float
    high: float
    logged: float
    difference: float
    difference_stderr: float
    difference_low: float
    difference_high: float
    pooled: float
    pooled_low: float
    pooled_high: float
    verdict: str
    reason: str | None

    @property
    def answerable(self) -> bool:
        """Say whether the log can answer for the segment; otherwise its numbers are not to be relied on."""
        return self.verdict != "not answerable"


@dataclass(frozen=True, eq=False)
class SegmentedColumn:
    """The answers for all segments of one column; `note` says what was put together.

    `whole` is how much more than the log the target would have earned in all, and `scale` the standard deviation of the
    rewards. Units of rows may have rows in several segments if `shares_units`.
    """

    name: str
    answers: tuple[SegmentAnswer, ...]
    whole: Estimate
    scale: float
    shares_units: bool
    tests_weights: bool
    note: str | None = None

    @cached_property
    def intervals(self) -> tuple[list[Bounds], list[Bounds]]:
        """Return the simultaneous intervals of the values and of the differences to the log."""
        values = bound_together([one.estimate for one in self.answers], shares_units=self.shares_units)
        return values, bound_together([one.gap for one in self.answers], shares_units=self.shares_units)

    @cached_property
    def misweighed(self) -> int | None:
        """Return in how many segments the mean weight is not what it must be; nothing where that is not known."""
        known = [one for one in self.answers if one.kept.effective >= FEW_ROWS]
        if not self.tests_weights or not known:
            return None
        level = (1 - ALARM) ** (1 / len(known))
        return sum(not holds(one.weight.interval(level, SkewedT()), one.expected) for one in known)

    @property
    def is_outcome(self) -> bool:
        """Say whether the column seems to be known only after the decision."""
        return bool(self.misweighed)

    @cached_property
    def table(self) -> list[Segment]:
        """Return a line for each segment."""
        pooled = pool_differences([one.gap for one in self.answers], self.whole, USUAL * self.scale)
        several = zip(self.answers, *self.intervals, pooled, strict=True)
        return [self._describe(*one) for one in several]

    def _describe(self, one: SegmentAnswer, value: Bounds, gap: Bounds, pooled: tuple[float, float]) -> Segment:
        verdict, reason = one.judge()
        if self.is_outcome:
            verdict, reason = "not answerable", f"`{self.name}` seems to depend on what was decided"
        centre, error = pooled
        reach = NormalDist().inv_cdf((1 + self.whole.level) / 2) * error
        effective, value_at, gap_at = one.kept.effective, one.estimate, one.gap
        numbers = (value_at.value, value_at.stderr, *value, one.logged.value, gap_at.value, gap_at.stderr, *gap)
        ends = centre, centre - reach, centre + reach
        return Segment(self.name, one.name, one.kept.rows, effective, *numbers, *ends, verdict, reason)


def holds(interval: Bounds, number: float) -> bool:
    """Say whether an interval holds a number, which has rounding errors."""
    return interval.low - ROUNDING <= number <= interval.high + ROUNDING


def bound_together(estimates: Sequence[Estimate], *, shares_units: bool) -> list[Bounds]:
    """Return intervals that hold all truths at once with the level of the estimates."""
    level = find_each_level(estimates, estimates[0].level, shares_units=shares_units)
    return [Bounds(*map(float, one.interval(level))) for one in estimates]


def find_each_level(estimates: Sequence[Estimate], level: float, *, shares_units: bool) -> float:
    r"""Return the level that each of several intervals must have so that all hold their truths at once.

    It is $\gamma^{1/k}$ where k estimates are independent (Šidák, 1967), as those of different rows are. If rows of one
    group are in several segments, the noise of these has the correlations of their moves; the level is then that of the
    quantile of the largest of k such normal variables. It is never above $\gamma^{1/k}$, which is enough for any
    correlations.
    """
    apart: float = level ** (1 / len(estimates))
    if not shares_units:
        return apart
    moves = np.stack([one.moves.values for one in estimates])
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    moves = moves[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]
    if not len(moves):
        return apart
    draws = np.random.default_rng(0).standard_normal((DRAWS, len(moves)))
    values, vectors = np.linalg.eigh(moves @ moves.T)
    farthest = np.abs(draws @ (vectors * np.sqrt(np.maximum(values, 0.0))).T).max(axis=1)
    return min(apart, max(level, 2 * NormalDist().cdf(float(np.quantile(farthest, level))) - 1))


def pool_differences(gaps: Sequence[Estimate], whole: Estimate, usual: float) -> list[tuple[float, float]]:
    r"""Return differences drawn towards that of the whole log, each with its standard error.

    $$\tilde d_s = \mathbb E_\tau \left[ \frac{\tau^2 d_s + \sigma_s^2 d}{\tau^2 + \sigma_s^2} \right]$$

    where the true differences vary around $d$ with a standard deviation $\tau$ that has half a Cauchy distribution
    before the segments are seen, times the likelihood $\prod_s N(d_s; d, \tau^2 + \sigma_s^2)$ after. $\sigma_s$ is the
    noise alone: with what may be left of a bias, segments would seem to differ less than their errors allow. The error
    holds what is left of the segment's noise, all that may be left of its bias, which others may have in common, what
    is not known of $\tau$, and the error of the whole.
    """
    noise = np.array([max(one.shown_variance, one.moves.variance) for one in gaps])
    biases = np.array([one.stderr**2 for one in gaps]) - noise
    known = np.isfinite(biases)
    apart = np.where(known, np.array([one.value for one in gaps]) - whole.value, 0.0)
    taus = np.square(TAUS * usual)[:, None]
    total = taus + noise
    there = known & (total > 0)
    safe = np.where(there, total, 1.0)
    chances = weigh_taus(-np.where(there, np.log(safe) + np.square(apart) / safe, 0.0).sum(axis=1) / 2)
    own = np.where(known, np.where(there, taus / safe, 1.0), 0.0)
    left = np.where(known, own * noise + np.where(known, biases, 0.0), taus)
    pooled = chances @ (own * apart)
    spread = chances @ (left + np.square(own * apart - pooled) + np.square((1 - own) * whole.stderr))
    return list(zip((whole.value + pooled).tolist(), np.sqrt(spread).tolist(), strict=True))


def weigh_taus(likelihoods: Floats) -> Floats:
    """Return the probability of each of the standard deviations, by the logarithms of their likelihoods."""
    widths = np.gradient(TAUS)
    logs = likelihoods + np.log(widths / (1 + np.square(TAUS)))
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


def subtract_answers(one: SegmentedColumn, other: SegmentedColumn, whole: Estimate) -> SegmentedColumn:
    """Return the answers of one target with differences to another one, segment by segment, instead of to the log."""
    pairs = zip(one.answers, other.answers, strict=True)
    answers = tuple(
        replace(mine, logged=theirs.estimate, gap=subtract(mine.estimate, theirs.estimate)) for mine, theirs in pairs
    )
    return replace(one, answers=answers, whole=whole)


def subtract(one: Estimate, other: Estimate) -> Estimate:
    """Return a difference, whose error is not known if one of both is not."""
    known = math.isfinite(one.bias_variance) and math.isfinite(other.bias_variance)
    if known:
        return one - other
    return replace(replace(one, bias_variance=0.0) - replace(other, bias_variance=0.0), bias_variance=math.inf)
