"""Whether the actions were drawn with the logged propensities."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class Propensities(Diagnostic):
    r"""Warn where chance explains the actions with a probability below `alarm`, if the logged propensities are right.

    $$\sum_i z_i (1[a_i = a] - p_0(a \mid x_i)) \text{ must be near 0}$$

    Rewards are not needed: residuals of the actions may depend neither on the action, nor on its probability, nor on
    the number of the row, nor on most columns of the context. With propensities alone, weights of each action may not
    be above 1 on average. The smallest of several p-values counts, times their number. Columns of the context are a
    family of tests of their own, which also ends here where most columns depend on the action; so clean logs are
    alarmed in less than twice `alarm` of all cases. Rows of a group may have been decided together, so one of each is
    looked at.
    """

    alarm: float = 0.005
    label = "propensities"
    measures = {
        "propensities_p": (
            "The p-value of the logged actions, if the propensities are right, corrected for multiple tests."
        ),
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        balance = evidence.balance
        if balance is None or balance.general is None:
            return None
        p, what, _ = balance.general
        is_like = "actions fall as they say" if p >= self.alarm else "actions do not fall as they say"
        numbers, text = {"propensities_p": p}, f"{is_like} (p = {p:.2g}, corrected for several tests)"
        is_throughout, columns_p = balance.is_dependent_throughout(self.alarm), balance.columns_p
        if p >= self.alarm and not is_throughout:
            return Measurement(numbers, text)
        columns = balance.find_dependent(self.alarm)
        if columns and columns_p is not None and columns_p < p:
            more = f" and on {len(columns) - 1} more columns" if len(columns) > 1 else ""
            p, what = columns_p, f"they depend on column `{columns[0]}`{more} in a way that these do not say"
        problem = f"the actions were not drawn with the logged propensities (p = {p:.1g}): {what}"
        remedy = (
            "log the probabilities of the policy that acted, with its exploration, as they were at that time; check "
            "that columns belong to the right actions and rows"
        )
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])
