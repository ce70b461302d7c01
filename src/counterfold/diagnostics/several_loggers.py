"""Whether several loggers can stand in for each other."""

from dataclasses import dataclass

from counterfold.base import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class SeveralLoggers(Diagnostic):
    r"""Warn where rows are weighed by all loggers together though these did not decide side by side.

    $$w_i = \frac{\pi(a_i \mid x_i)}{\sum_k (n_k / n)\, \pi_k(a_i \mid x_i)}$$

    assumes that each of the loggers might have decided in any row. Where the context, or the place in the log, depends
    on who decided, that is not so: in other weeks the same action may earn something else. The smallest p-value counts,
    times the number of columns and one more; below `alarm` it is a caution.

    Agarwal, Basu, Schnabel, Joachims (2017), "Effective evaluation using logged bandit feedback from multiple loggers".
    """

    alarm: float = 0.001
    label = "several loggers"
    measures = {
        "loggers_p": (
            "The p-value of the differences between the rows of several loggers, if these decided side by side."
        ),
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        found = None if evidence.balance is None else evidence.balance.loggers
        if found is None:
            return None
        text = (
            f"their rows differ by {'no ' if found.p >= self.alarm else ''}more than chance allows (p = {found.p:.2g})"
        )
        if found.p >= self.alarm:
            return Measurement({"loggers_p": found.p}, text)
        problem = f"the loggers did not decide side by side: {messages.clean_sentence(found.what)} (p = {found.p:.1g})"
        remedy = 'weigh rows by their own logger: `logger_weights="own"` (--logger-weights own)'
        return Measurement({"loggers_p": found.p}, text, [self.make_finding("caution", problem, remedy)])
