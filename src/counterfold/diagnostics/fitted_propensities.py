"""Whether propensities were fitted, and whether they were fitted well."""

from dataclasses import dataclass

from counterfold.base import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement
from counterfold.evidence.evidence import Evidence
from counterfold.log.contents import Contents

MANY = 10
"""With more actions, boosting takes long."""


LATER = ("reward", "action", "decision", "kept")
"""Words that are in the reasons for leaving out columns that no policy can have looked at."""


@dataclass(frozen=True)
class FittedPropensities(Diagnostic):
    r"""Say what is assumed where nobody logged propensities, and warn where the fit is wrong.

    $$\sum_i \log \frac{\hat p_i + \tilde p_i}{2 \hat p_i} \text{ should be below 0}$$

    where $\hat p_i$ is the fitted probability of a logged action and $\tilde p_i$ that of a forest, both of rows that
    they were not fitted on. Fitted propensities are right only if the old policy looked at nothing that matters for
    the reward but the context, which no log can tell; so the verdict is caution at best. Below `alarm` the forest knows
    more of the actions than the fit.
    """

    alarm: float = 0.01
    label = "fitted propensities"
    measures = {
        "propensity_log_loss": "The log loss of fitted propensities.",
        "propensity_rival_p": "The p-value of how much better another classifier predicts the actions.",
    }

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        fitted = evidence.contents.fitted
        if fitted is None:
            return None
        quality = fitted.quality
        values = {"propensity_log_loss": quality.log_loss, "propensity_rival_p": quality.rival_p}
        text = f"{fitted.wish.name}, log loss {quality.log_loss:.3g} ({quality.plain_log_loss:.3g} without the context)"
        findings = [self.state_assumption(fitted.wish.name, evidence.contents)]
        if quality.rival_p is not None and quality.rival_p < self.alarm:
            findings.insert(0, self.doubt(fitted.wish.name, quality.rival_p, fitted.count))
        return Measurement(values, text, findings)

    def state_assumption(self, classifier: str, contents: Contents) -> Finding:
        """Return what an answer from fitted propensities rests on."""
        places = None if contents.fitted is None else contents.fitted.places
        sources = [source for _, source in contents.columns]
        seen = list(dict.fromkeys(sources if places is None else (sources[place] for place in places)))
        looked = f"at {messages.list_names(seen)} alone" if seen else "at nothing"
        problem = (
            f"the propensities are not logged but fitted by {classifier}, as if the old policy had looked {looked}"
        )
        unknown = [name for name, why in contents.left_out.items() if not any(word in why for word in LATER)]
        others = f", perhaps {messages.list_names(unknown)}" if unknown else ""
        remedy = (
            f"add every column that the old policy looked at{others}, and leave out what is known only after the "
            "decision; from now on, log the probability of each action"
        )
        return self.make_finding("caution", problem, remedy)

    def doubt(self, classifier: str, p: float, actions: int) -> Finding:
        """Return that another classifier knows more of the actions."""
        problem = f"the propensities that {classifier} fitted are wrong: a forest predicts actions better (p = {p:.1g})"
        other = "fit:forest" if classifier == "boosting" or actions > MANY else "fit:boosting"
        remedy = f"try `propensity={other!r}`, or a classifier of your own; remove rows that are there twice"
        return self.make_finding("caution", problem, remedy)
