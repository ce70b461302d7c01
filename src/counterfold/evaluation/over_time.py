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
    target: Evaluation, baseline: Evaluation | None, period: str | None = None
) -> DifferenceOverTime | None:
    """Return the difference of a target to another one on the same log, or to the log; None if the log has no time.

    Differences to the log are paired row by row. Those to another target are paired over 32 pieces of each period, so
    their intervals use Student's t quantiles. Both allow for groups. No interval is narrower than that of the whole log
    would be with as few rows: a reward that happens to be missing in one week must not make its interval narrower.
    """
    target_by_period = target if period is None else target.by(period)
    history = target_by_period.diagnostics.history
    if history is None:
        return None
    if baseline is None:
        means = history.differences
        quantile = normal_quantile(target.level)
    else:
        baseline_history = baseline.diagnostics.history
        if baseline_history is None:
            return None
        means = history.subtract(baseline_history)
        quantile = student_quantile(target.level, PIECES - 1)

    errors = np.sqrt(means.variances)
    least_below, least_above = spread_interval(target.uplift(baseline), means.rows)
    lows = means.values - np.maximum(quantile * errors, least_below)
    highs = means.values + np.maximum(quantile * errors, least_above)
    table = [
        PeriodDifference(start=start, rows=rows, difference=difference, stderr=stderr, low=low, high=high)
        for start, rows, difference, stderr, low, high in zip(
            history.starts,
            means.rows.astype(int).tolist(),
            means.values.tolist(),
            errors.tolist(),
            lows.tolist(),
            highs.tolist(),
            strict=True,
        )
    ]
    change = compare_periods(means, history.periods.numbers)
    return DifferenceOverTime(
        period=history.used_period,
        estimator=history.estimator,
        p=None if change is None else change.p,
        table=table,
    )


def spread_interval(uplift: Estimate, rows: Floats) -> tuple[Floats, Floats]:
    """Return how far the interval of the whole log would reach down and up with as few rows as each period has."""
    low, high = uplift.interval()
    reach = np.array([uplift.value - low, high - uplift.value])
    down, up = np.where(np.isfinite(reach), reach, 0.0)
    widening = np.sqrt(rows.sum() / rows)
    return down * widening, up * widening
