"""Whether the context holds what is known only after the decision."""

from collections.abc import Mapping
from dataclasses import dataclass

from counterfold.base import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement, Severity
from counterfold.evidence.evidence import Evidence
from counterfold.log.assignment import Balance
from counterfold.log.assignment.columns import Reason

SHOWN = 5
"""So many columns are named in a sentence."""


@dataclass(frozen=True)
class OutcomeContext(Diagnostic):
    r"""Warn where a column depends on the action though the propensities are given, which no context does.

    $$\sum_i z_i (1[a_i = a] - p_0(a \mid x_i)) \text{ must be near 0 for a column } z$$

    A reward model that sees an outcome, such as a visit that the action caused, explains the action's effect away. The
    smallest p-value of a column counts, times the number of columns; below `alarm` it is a caution, whether the column
    was left out or named by the user. So is a named column that is a copy of the reward; one without which there never
    is a reward is a note, unless it depends on the action. A column above 0 and at most 1 that tells the reward, or is
    called so, may be the rate at which rows were sampled. Outcomes that were left out of the context are a note. Where
    most columns depend on the action, that is a finding on the propensities instead.
    """

    alarm: float = 0.005
    label = "context"
    measures = {
        "context_p": (
            "The p-value of the dependence of the context on the action, if there is none, corrected for "
            "multiple tests."
        ),
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        balance = evidence.balance
        if balance is None:
            return None
        named = [name for name in evidence.contents.context if name in balance.reasons]
        findings = [self.describe(name, balance) for name in named if not balance.reasons[name].is_rate]
        left_out = evidence.contents.left_out
        rates = {name: reason for name, reason in balance.reasons.items() if reason.is_rate}
        findings += [self.describe_rate(name, reason, left_out) for name, reason in rates.items()]
        findings += [] if balance.is_dependent_throughout(self.alarm) else self.find_dependent(balance, left_out)
        findings += self.note_outcomes(balance, left_out)
        p = balance.columns_p
        much = "no column depends" if p is None or p >= self.alarm else "some depend"
        known = f"{much} on the action beyond what the propensities say"
        text = None if p is None else f"{known} (p = {p:.2g}, corrected for several tests)"
        return Measurement({"context_p": p}, text, findings)

    def note_outcomes(self, balance: Balance, left_out: Mapping[str, str]) -> list[Finding]:
        """Return that columns were left out because they tell of the reward what nothing that was known before does."""
        reasons = {name: one for name, one in balance.reasons.items() if name in left_out and not one.is_rate}
        outcomes = [(name, one) for name, one in reasons.items() if one.is_outcome]
        if not outcomes:
            return []
        listed = "; ".join(f"`{messages.show(name)}`: {one.what}" for name, one in outcomes[:SHOWN])
        more = f"; and {len(outcomes) - SHOWN} more" if len(outcomes) > SHOWN else ""
        columns = "a column was" if len(outcomes) == 1 else f"{len(outcomes)} columns were"
        problem = f"{columns} left out of the context: {listed}{more}"
        remedy = "name in `context` whatever was known before the decision, as the answer is more precise with it"
        return [self.make_finding("note", problem, remedy)]

    def find_dependent(self, balance: Balance, left_out: Mapping[str, str]) -> list[Finding]:
        """Return what is wrong with the columns that depend on the action, if there are any."""
        columns = balance.find_dependent(self.alarm)
        if not columns:
            return []
        names = ", ".join(f"`{messages.show(name)}`" for name in columns[:SHOWN])
        names += ", ..." if len(columns) > SHOWN else ""
        which = f"column {names} depends" if len(columns) == 1 else f"columns {names} depend"
        problem = (
            f"{which} on the action (p = {balance.columns_p:.1g}): known only after the decision, or the propensities "
            "are wrong"
        )
        dropped = [name for name in columns if name in left_out]
        if dropped:
            who = ", ".join(f"`{messages.show(name)}`" for name in dropped[:SHOWN])
            problem += f"; the answer does without {who}"
        if len(dropped) == len(columns):
            each = "it is" if len(columns) == 1 else "they are"
            remedy = f"nothing if known only after the decision, as {each} left out; otherwise check the propensities"
        else:
            remedy = f"put {names} into `ignore` if known only after the decision; otherwise check the propensities"
        return [self.make_finding("caution", problem, remedy)]

    def describe_rate(self, name: str, reason: Reason, left_out: Mapping[str, str]) -> Finding:
        """Return that rows may have been sampled; a caution if it goes with the reward, as a rate that matters does."""
        goes = ", and goes with the reward" if reason.is_outcome else ""
        problem = f"column `{messages.show(name)}` looks like the probability with which a row was kept{goes}"
        otherwise = "it is left out otherwise" if name in left_out else "put it into `ignore`"
        remedy = f"name it as `kept` (--kept) if rows were sampled; {otherwise}"
        return self.make_finding("caution" if reason.is_outcome else "note", problem, remedy)

    def describe(self, name: str, balance: Balance) -> Finding:
        """Return what may be wrong with a column that the user named; a caution if it cannot have been known before."""
        reason, p = balance.reasons[name], balance.others.get(name, 1.0)
        severity: Severity = "caution" if reason.is_copy or (reason.is_outcome and p < self.alarm) else "note"
        called = messages.show(name)
        remedy = f"leave `{called}` out of `context`, unless it was known before the decision"
        return self.make_finding(severity, f"column `{called}` may be no context: {reason.what}", remedy)
