"""Over time: how much more one target would have earned than another, or than the log, in each period."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.result import Evaluation
from counterfold.evidence.history import PIECES, compare_periods
from counterfold.intervals.base import normal_quantile, student_quantile


class PeriodDifference(NamedTuple):
    """A line of the table: the period's first day or hour, its rows, and the difference there with its interval."""

    start: str
    rows: int
    difference: float
    stderr: float
    low: float
    high: float


@dataclass(frozen=True)
class DifferenceOverTime:
    """A difference in each `period`, by some `estimator`, and how likely chance lets it change so (`p`, if known)."""

    period: str
    estimator: str
    p: float | None
    table: list[PeriodDifference]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers, texts, lists and dictionaries."""
        return {**vars(self), "table": [line._asdict() for line in self.table]}


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
