"""Whether the value changes over time, and whether the last rewards are not in yet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement, Number, Severity
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.dr import DR
from counterfold.estimators.kernel_dr import KernelDR
from counterfold.estimators.kernel_ips import KernelIPS
from counterfold.estimators.rows import Rows
from counterfold.estimators.snips import SNIPS
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.history import FEWEST, Change, History, Means, compare_periods, find_end

DAYS = 4
"""Late rewards are looked for by hour on logs of fewer days."""


class Changes(NamedTuple):
    """How the value, its difference to the log and the rewards change, and whether one of the first two does much."""

    value: Change
    difference: Change
    logged: Change
    is_large: bool


SAME = Change(1.0, 0.0)
"""The change of a difference of equal policies, which is 0 in all periods."""


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
    if the values differ by more than `large` of the value or of the rewards' standard deviation, and a note otherwise.
    The same is asked of the difference to the log, paired row by row: it is a caution if its standard deviation over
    periods is more than `unsteady` of it, as it would turn round in one of forty periods then. Where both are too noisy
    to tell, it is a note if the log's own rewards change. Rewards are late if the last days, at most half of them, have
    a reward in less than `late` of the share of rows that have one before.
    """

    alarm: float = 0.001
    large: float = 0.1
    unsteady: float = 0.5
    late: float = 0.5
    label = "over time"
    measures = {
        "periods": "Periods in the table over time.",
        "drift_p": "The p-value of the differences between the periods' values, if nothing changes.",
        "drift": "The standard deviation of the periods' values beyond chance.",
        "difference_drift_p": (
            "The p-value of the differences between the periods' uplifts over the log, if nothing changes."
        ),
        "difference_drift": "The standard deviation of the periods' uplifts over the log beyond chance.",
        "logged_drift_p": "The p-value of the differences between the periods' logged rewards, if nothing changes.",
        "late_rows": "Rows at the end of the log whose rewards do not seem to be in yet.",
    }

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
        late = self.find_late(history, evidence.rows.usual_reward)
        count = len(history.starts)
        numbers: dict[str, Number] = {"periods": count, "late_rows": 0 if late is None else late.rows}
        text = f"{count_periods(count, history.used_period)} from {history.starts[0]} on"
        changes = self.find_changes(history, math.sqrt(evidence.contents.rewards.squares / evidence.decision_count))
        if changes is None:
            return Measurement(numbers, f"{text}, too few to compare", self.describe_late(late), history)
        value, gap, logged, _ = changes
        numbers |= {"drift_p": value.p, "drift": value.spread, "logged_drift_p": logged.p}
        numbers |= {"difference_drift_p": gap.p, "difference_drift": gap.spread}
        text += f"; how likely chance lets their values differ so: p = {value.p:.2g}, their differences to the log: "
        findings = self.describe_late(late) or self.describe(changes, history)
        return Measurement(numbers, f"{text}p = {gap.p:.2g}", findings, history)

    def find_changes(self, history: History, spread: float) -> Changes | None:
        """Return what changes beyond chance, given the standard deviation of rewards; nothing of too few periods."""
        several = history.values, history.differences, history.rewards
        value, gap, logged = (compare_periods(means, history.periods.numbers) for means in several)
        if value is None or logged is None:
            return None
        level, ahead = (float(np.average(one.values, weights=one.rows)) for one in several[:2])
        gap = gap or SAME
        is_large = value.p < self.alarm and value.spread >= self.large * min(abs(level), spread)
        is_unsteady = gap.p < self.alarm and gap.spread >= self.unsteady * abs(ahead)
        return Changes(value, gap, logged, is_large or is_unsteady)

    def include_groups(self, history: History, evidence: Evidence) -> History:
        """Return the history with errors that count a group as one observation."""
        witnesses, rewards = self.witnesses(evidence.rows), evidence.contents.rewards
        own, apart = history.plain_variances
        if not witnesses or not own:
            return history
        value, logged = (evidence.estimate("", one) for one in witnesses)
        several = (value, own), (logged, rewards.squares / rewards.weight / rewards.effective), (value - logged, apart)
        first, second, third = (max(1.0, one.shown_variance / plain) if plain else 1.0 for one, plain in several)
        return replace(history, alike=(first, second, third))

    def find_late(self, history: History, usual: float) -> Late | None:
        """Return where the last rewards seem not to be in yet: the end of the log that differs most from the rest."""
        is_short = history.has_hours and len(history.by_day.numbers) < DAYS
        history = history.by("hour" if is_short else "day")
        rewarded = history.periods.sums[8]
        found = find_end(history.weights, rewarded, history.weights.total, history.alike[1], self.late)
        if found is None or found.p >= self.alarm:
            return None
        place, weights = found.place, history.weights
        when = f"{count_periods(place + 1, history.used_period)} (since {history.starts[-place - 1]})"
        return Late(when, int(weights.rows[-place - 1 :].sum()), found.last, found.before, usual)

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

    def describe(self, changes: Changes, history: History) -> list[Finding]:
        """Return what is wrong where the value or its difference changes, or where only the log's rewards do so."""
        value, gap, logged, is_large = changes
        if min(value.p, gap.p, logged.p) >= self.alarm:
            return []
        severity: Severity = "caution" if is_large else "note"
        remedy = "evaluate the rows of a time that the future will be like, as the answer is an average over all of it"
        if value.p < self.alarm:
            problem = f"the value by {history.estimator} changes over time, {tell_ends(history.values, value, history)}"
            if gap.p < self.alarm:
                problem += f", and so does its difference to the log, {tell_ends(history.differences, gap)}"
        elif gap.p < self.alarm:
            ends = tell_ends(history.differences, gap, history)
            problem = f"the difference of the value by {history.estimator} to the log changes over time, {ends}"
        else:
            problem = f"what the log earned changes over time, {tell_ends(history.rewards, logged, history)}"
            remedy = "see by the table over time whether the value may have changed with it"
        return [self.make_finding(severity, problem, remedy)]


def tell_ends(means: Means, change: Change, history: History | None = None) -> str:
    """Return the least and the largest mean of periods, of how many if their history is given, and the p-value."""
    tested = means.values[means.rows >= FEWEST]
    where = "" if history is None else f" in {count_periods(len(tested), history.used_period)}"
    return f"from {tested.min():.3g} to {tested.max():.3g}{where} (p = {change.p:.1g})"


def count_periods(number: int, period: str) -> str:
    """Return how many periods there are, in words."""
    return f"{number} {period}{'s' if number > 1 else ''}"
