"""SegmentedColumn: what the target would have earned in each segment of a column, and how far segments differ."""

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.estimators.estimates import Estimate
from counterfold.evidence.evidence import FEW_GROUPS, FEW_ROWS, SOME_UNSUPPORTED, TOO_FEW_ROWS, TOO_MUCH_UNSUPPORTED
from counterfold.evidence.segments.pooling import USUAL, Pooled, pool_differences
from counterfold.evidence.segments.simultaneous import bound_together
from counterfold.intervals.base import Bounds
from counterfold.intervals.skewed_t import SkewedT

ALARM = 1e-4
"""How likely it may be that segments seem to depend on what was decided, though they do not."""

ROUNDING = 1e-9
"""How far a mean weight may be from the expected one, since weights have rounding errors."""

SegmentVerdict = Literal["good", "caution", "not answerable"]

VERDICTS: tuple[SegmentVerdict, ...] = get_args(SegmentVerdict)
"""The verdicts on a segment, the worst last."""


class Kept(NamedTuple):
    """The rows of a segment, their groups, how many they are worth for the target, and how much they could not try.

    There are as many groups as rows where rows belong to none; of many, those that share a unit count as one.
    """

    rows: int
    groups: int
    effective: float
    unsupported: float


class Noise(NamedTuple):
    """How each unit of a log moves the value of the target in a segment, and its difference to the log."""

    target: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class SegmentAnswer:
    """What the target would have earned in one segment, what the log did, and by how much they differ.

    `weight` is the mean weight there, and `expected` what it is if the segment was known before the decision. Where the
    difference is to another target, a `baseline`, that is its answer.
    """

    name: str
    kept: Kept
    estimate: Estimate
    logged: Estimate
    gap: Estimate
    noise: Noise
    weight: Estimate
    expected: float
    baseline: "SegmentAnswer | None" = None

    def judge(self) -> tuple[SegmentVerdict, str | None]:
        """Return the verdict on the segment alone, and the reason if it is not good: the worse one, of two targets."""
        own, other = self.judge_target(), ("good", None) if self.baseline is None else self.baseline.judge_target()
        return own if VERDICTS.index(own[0]) >= VERDICTS.index(other[0]) else (other[0], f"of the baseline: {other[1]}")

    def judge_target(self) -> tuple[SegmentVerdict, str | None]:
        """Return the verdict on what the target would have earned there, and the reason if it is not good."""
        rows, groups, effective, missing = self.kept
        worth = f"its {rows} rows are worth only {effective:.3g} for this target"
        worth = worth if effective else "the target never takes a logged action there"
        lacking = f"{missing:.1%} of what the target does there could never be logged"
        is_unknown = effective < TOO_FEW_ROWS or not math.isfinite(self.estimate.stderr)
        reasons: tuple[tuple[SegmentVerdict, bool, str], ...] = (
            ("not answerable", is_unknown, worth),
            ("not answerable", missing >= TOO_MUCH_UNSUPPORTED, lacking),
            ("caution", missing >= SOME_UNSUPPORTED, lacking),
            ("caution", effective < FEW_ROWS, worth),
            ("caution", groups < FEW_GROUPS, f"its rows are of only {groups} groups"),
        )
        for verdict, is_so, reason in reasons:
            if is_so:
                return verdict, reason
        return "good", None


@dataclass(frozen=True)
class Segment:
    """A line of the table of segments. Its intervals cover the true values of all segments of the column at once.

    In a comparison with a baseline, the baseline takes the place of the log, and the verdict is the worse of both.
    """

    column: str
    """The column that was cut."""

    segment: str
    """The value of the column, or the range of its numbers."""

    rows: int
    """Its rows."""

    effective_rows: float
    """Its effective sample size for the target."""

    value: float
    """What the target would have earned in it."""

    stderr: float
    """The standard error of the value."""

    low: float
    """The lower end of the value's interval."""

    high: float
    """The upper end of the value's interval."""

    logged: float
    """What the log earned in it, or what the baseline would have earned."""

    difference: float
    """How much more the target would have earned in it."""

    difference_stderr: float
    """The standard error of the difference."""

    difference_low: float
    """The lower end of the difference's interval."""

    difference_high: float
    """The upper end of the difference's interval."""

    pooled: float
    """The difference, shrunk towards that of the whole log as far as noise may explain it.

    It moves by one standard error at most.
    """

    pooled_low: float
    """The lower end of the pooled difference's interval, which is for this segment alone."""

    pooled_high: float
    """The upper end of the pooled difference's interval."""

    verdict: SegmentVerdict
    """The verdict on the segment."""

    reason: str | None
    """Why the verdict is not good."""

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
        values, gaps = None, None
        if self.shares_units:
            values = np.stack([one.noise.target for one in self.answers])
            gaps = np.stack([one.noise.gap for one in self.answers])
        return (
            bound_together([one.estimate for one in self.answers], values),
            bound_together([one.gap for one in self.answers], gaps),
        )

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

    def _describe(self, one: SegmentAnswer, value: Bounds, gap: Bounds, pooled: Pooled) -> Segment:
        verdict, reason = one.judge()
        if self.is_outcome:
            verdict, reason = "not answerable", f"`{self.name}` seems to depend on what was decided"
        effective, value_at, gap_at = one.kept.effective, one.estimate, one.gap
        numbers = (value_at.value, value_at.stderr, *value, one.logged.value, gap_at.value, gap_at.stderr, *gap)
        return Segment(self.name, one.name, one.kept.rows, effective, *numbers, *pooled, verdict, reason)


def holds(interval: Bounds, number: float) -> bool:
    """Say whether an interval holds a number, which has rounding errors."""
    return interval.low - ROUNDING <= number <= interval.high + ROUNDING


def subtract_answers(one: SegmentedColumn, other: SegmentedColumn, whole: Estimate) -> SegmentedColumn:
    """Return the answers of one target with differences to another one, segment by segment, instead of to the log."""
    pairs = zip(one.answers, other.answers, strict=True)
    answers = tuple(
        replace(
            mine,
            logged=theirs.estimate,
            gap=subtract(mine.estimate, theirs.estimate),
            noise=Noise(target=mine.noise.target, gap=mine.noise.gap - theirs.noise.gap),
            baseline=theirs,
        )
        for mine, theirs in pairs
    )
    return replace(one, answers=answers, whole=whole)


def subtract(one: Estimate, other: Estimate) -> Estimate:
    """Return a difference, whose error is not known if one of both is not."""
    known = math.isfinite(one.bias_variance) and math.isfinite(other.bias_variance)
    if known:
        return one - other
    return replace(replace(one, bias_variance=0.0) - replace(other, bias_variance=0.0), bias_variance=math.inf)
