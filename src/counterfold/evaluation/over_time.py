"""Over time: how much more one target would have earned than another, or than the log, in each period."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.records import as_dictionary
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.result import Evaluation
from counterfold.evidence.history import PIECES, PeriodName, compare_periods
from counterfold.intervals.base import normal_quantile, student_quantile


@dataclass(frozen=True)
class PeriodDifference:
    """A line of a difference over time."""

    start: str
    """The first day or hour of the period."""

    rows: int
    """Its rows."""

    difference: float
    """How much more the target would have earned in it than the baseline."""

    stderr: float
    """The standard error of the difference, paired."""

    low: float
    """The lower end of its interval, at the level of the answer."""

    high: float
    """The upper end of its interval."""


@dataclass(frozen=True)
class DifferenceOverTime:
    """A difference to the baseline over time."""

    period: PeriodName
    """The length of a period."""

    estimator: str
    """The estimator of these values."""

    p: float | None
    """The p-value of the differences between the periods, if nothing changes; null where there are too few periods."""

    table: list[PeriodDifference]
    """A line for each period that has rows."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self)


def compare_over_time(
    one: Evaluation, other: Evaluation | None, period: str | None = None
) -> DifferenceOverTime | None:
    """Return the difference of a target to another one on the same log, or to the log; nothing where that has no time.

    Differences to the log are paired row by row. Those to another target are paired over 32 pieces of each period, so
    their intervals have Student's quantiles; either allows for groups. No interval is shorter than that of all rows
    would be with as few: rewards that nobody saw in a week are not known better for that.
    """
    history = (one if period is None else one.by(period)).diagnostics.history
    if history is None:
        return None
    means, reach = history.differences, normal_quantile(one.level)
    if other is not None:
        if other.diagnostics.history is None:
            return None
        means, reach = history.subtract(other.diagnostics.history), student_quantile(one.level, PIECES - 1)
    errors = np.sqrt(means.variances)
    below, above = (np.maximum(reach * errors, far) for far in spread_interval(one.uplift(other), means.rows))
    numbers = means.values, errors, means.values - below, means.values + above
    lines = zip(history.starts, means.rows.astype(int).tolist(), *(each.tolist() for each in numbers), strict=True)
    change = compare_periods(means, history.periods.numbers)
    table = [PeriodDifference(*line) for line in lines]
    return DifferenceOverTime(history.used_period, history.estimator, None if change is None else change.p, table)


def spread_interval(whole: Estimate, rows: Floats) -> tuple[Floats, Floats]:
    """Return how far the interval of all rows would reach down and up with as few rows as each period has."""
    low, high = whole.interval()
    reach = np.array([whole.value - low, high - whole.value])
    few = np.sqrt(rows.sum() / rows)
    down, up = np.where(np.isfinite(reach), reach, 0.0)
    return down * few, up * few
