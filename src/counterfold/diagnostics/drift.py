"""Whether the value changes over time, and whether the last rewards are not in yet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from counterfold.arrays import Ints
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement, Number, Severity
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.dr import DR
from counterfold.estimators.kernel_dr import KernelDR
from counterfold.estimators.kernel_ips import KernelIPS
from counterfold.estimators.snips import SNIPS
from counterfold.evidence import Evidence
from counterfold.history import History, Means
from counterfold.rows import Rows

FEWEST = 20
"""Periods of fewer rows are in the table, but not tested."""

DAYS = 4
"""Late rewards are looked for by hour on logs of fewer days."""


class Change(NamedTuple):
    """How far the means of periods differ beyond their noise (a standard deviation), and how likely by chance."""

    p: float
    spread: float


class Late(NamedTuple):
    """When the last rewards seem not to be in yet, and the shares of rows with another than the usual one."""

    when: str
    rows: int
    last: float
    before: float
    usual: float


@dataclass(frozen=True)
class Drift(Diagnostic):
    r"""Warn where the value is not the same in all periods, or where the last days of the log have hardly any reward.

    $$\sum_t (\hat V_t - \bar V)^2 / \hat\sigma_t^2 \sim \chi^2_{T-1}$$

    over hours, days, weeks or longer periods of the log, if it has a `time`, or a line through them rises or falls;
    contributions are those of DR, or of SNIPS where nothing is predicted. With a p-value below `alarm` it is a caution
    if the values differ by more than `large` of the value or of the rewards' standard deviation, and a note otherwise;
    where the value is too noisy to tell, it is a note if the log's own rewards change. Rewards are late if the last
    days, at most half of them, have a reward in less than `late` of the share of rows that have one before.
    """

    alarm: float = 0.001
    large: float = 0.1
    late: float = 0.5
    label = "over time"
    measures = ("periods", "drift_p", "drift", "logged_drift_p", "late_rows")

    def observe(self, rows: Rows) -> History | None:
        return History.of(rows)

    def witnesses(self, rows: Rows) -> Sequence[Estimator]:
        if rows.groups is None or not rows.has_days:
            return []
        has_model = rows.has("model") and rows.has("target_probs")
        if rows.bandwidth is not None:
            return [(KernelDR if has_model else KernelIPS)(rows.bandwidth), LoggedValue()]
        return [DR() if has_model else SNIPS(), LoggedValue()]

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        history: History | None = evidence.observed.get(self.name)
        if history is None or not evidence.total_weight:
            return None
        history = self.include_groups(history, evidence)
        values, rewards, late = history.values, history.rewards, self.find_late(history, evidence.rows.usual_reward)
        change, logged = (compare_periods(means, history.periods.numbers) for means in (values, rewards))
        numbers: dict[str, Number] = {"periods": len(values.rows), "late_rows": 0 if late is None else late.rows}
        period, value = history.used_period, float(np.average(values.values, weights=values.rows))
        text = f"{count_periods(len(values.rows), period)} from {history.starts[0]} on"
        if change is None or logged is None:
            return Measurement(numbers, f"{text}, too few to compare", self.describe_late(late), history)
        numbers |= {"drift_p": change.p, "drift": change.spread, "logged_drift_p": logged.p}
        text += f"; how likely chance lets their values differ so: p = {change.p:.2g}"
        size = min(abs(value), math.sqrt(evidence.contents.rewards.squares / evidence.decision_count))
        is_large = change.spread >= self.large * size
        findings = self.describe_late(late) or self.describe(change, logged, history, is_large=is_large)
        return Measurement(numbers, text, findings, history)

    def include_groups(self, history: History, evidence: Evidence) -> History:
        """Return the history with errors that count a group as one observation."""
        witnesses, rewards = self.witnesses(evidence.rows), evidence.contents.rewards
        if not witnesses or not history.plain_variance:
            return history
        value, logged = (evidence.estimate("", one).shown_variance for one in witnesses)
        plain = rewards.squares / rewards.weight / rewards.effective
        return replace(history, alike=(max(1.0, value / history.plain_variance), max(1.0, logged / plain)))

    def find_late(self, history: History, usual: float) -> Late | None:
        """Return where the last rewards seem not to be in yet: the end of the log that differs most from the rest."""
        is_short = history.has_hours and len(history.by_day.numbers) < DAYS
        history = history.by("hour" if is_short else "day")
        weights, rewarded = history.weights, history.periods.sums[8]
        rows = weights.total
        most = len(rows) // 2
        if not most:
            return None
        counts, hits = rows[::-1].cumsum()[:most], rewarded[::-1].cumsum()[:most]  # of the last one, two, ...
        others, share = rows.sum() - counts, rewarded.sum() / rows.sum()
        last, before = hits / counts, (rewarded.sum() - hits) / others
        squares = weights.squares[::-1].cumsum()[:most]
        noise = squares / counts**2 + (weights.squares.sum() - squares) / others**2  # 1 over effective rows
        error = np.sqrt(history.alike[1] * share * (1 - share) * noise)
        far = np.where(last < self.late * before, before - last, 0.0) / np.maximum(error, 1e-300)
        place = int(np.argmax(far))
        if most * special.ndtr(-far[place]) >= self.alarm:
            return None
        when = f"{count_periods(place + 1, history.used_period)} (since {history.starts[-place - 1]})"
        return Late(when, int(weights.rows[-place - 1 :].sum()), float(last[place]), float(before[place]), usual)

    def describe_late(self, late: Late | None) -> list[Finding]:
        """Return what is wrong where the last rewards seem not to be in yet."""
        if late is None:
            return []
        other = f" other than {late.usual:g}" if late.usual else ""
        shares = f"{late.last:.2%} of the rows have a reward{other}, and {late.before:.2%} before"
        problem = f"rewards may not be in yet: in the last {late.when} {shares}"
        return [
            self.make_finding(
                "caution", problem, "leave out decisions whose rewards had no time to come in: `horizon` (--horizon 7d)"
            )
        ]

    def describe(self, change: Change, logged: Change, history: History, *, is_large: bool) -> list[Finding]:
        """Return what is wrong where the value changes, or where only the log's rewards do so."""
        if min(change.p, logged.p) >= self.alarm:
            return []
        if change.p < self.alarm:
            severity: Severity = "caution" if is_large else "note"
            p, means, what = change.p, history.values, f"the value by {history.estimator}"
            remedy = (
                "evaluate the rows of a time that the future will be like, as the answer is an average over all of it"
            )
        else:
            severity, p, means, what = "note", logged.p, history.rewards, "what the log earned"
            remedy = "see by the table over time whether the value may have changed with it"
        tested = means.values[means.rows >= FEWEST]
        ends = f"from {tested.min():.3g} to {tested.max():.3g} in {count_periods(len(tested), history.used_period)}"
        problem = f"{what} changes over time, {ends} (p = {p:.1g})"
        return [self.make_finding(severity, problem, remedy)]


def count_periods(number: int, period: str) -> str:
    """Return how many periods there are, in words."""
    return f"{number} {period}{'s' if number > 1 else ''}"


def compare_periods(means: Means, numbers: Ints) -> Change | None:
    """Return whether the means of all periods may be the same; nothing if there are not two with enough rows.

    The p-value is the smaller one of two, times two: that of the chi-square, and that of the slope of a line, which
    finds slow changes. The spread is that of DerSimonian and Laird (1986), 0 where noise explains all differences.
    """
    kept = (means.rows >= FEWEST) & (means.variances > 0)
    values, precision, times = means.values[kept], 1 / means.variances[kept], numbers[kept].astype(np.float64)
    freedom = len(values) - 1
    if freedom < 1:
        return None
    apart, late = (one - one @ precision / precision.sum() for one in (values, times))
    square, slope = float(precision @ apart**2), precision @ (apart * late) / math.sqrt(precision @ late**2)
    p = min(special.chdtrc(freedom, square), 2 * special.ndtr(-abs(slope)))
    beyond = (square - freedom) / (precision.sum() - precision @ precision / precision.sum())
    return Change(min(1.0, 2 * float(p)), math.sqrt(max(beyond, 0.0)))
