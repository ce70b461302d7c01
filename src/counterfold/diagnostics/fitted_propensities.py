"""Whether propensities were fitted, and whether they were fitted well."""

from dataclasses import dataclass

from counterfold import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Finding, Measurement
from counterfold.evidence import Evidence


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
    measures = ("propensity_log_loss", "propensity_rival_p")

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        fitted = evidence.contents.fitted
        if fitted is None:
            return None
        quality = fitted.quality
        values = {"propensity_log_loss": quality.log_loss, "propensity_rival_p": quality.rival_p}
        text = f"{fitted.wish.name}, log loss {quality.log_loss:.3g} ({quality.plain_log_loss:.3g} without the context)"
        findings = [self.state_assumption(fitted.wish.name, evidence.contents.context)]
        if quality.rival_p is not None and quality.rival_p < self.alarm:
            findings.insert(0, self.doubt(fitted.wish.name, quality.rival_p))
        return Measurement(values, text, findings)

    def state_assumption(self, classifier: str, context: tuple[str, ...]) -> Finding:
        """Return what an answer from fitted propensities rests on."""
        seen = messages.list_names(context) if context else "nothing, as there is no context"
        problem = (
            f"no propensities were logged; {classifier} fitted them, as if the old policy had looked at {seen} alone"
        )
        remedy = (
            "add every column that the old policy looked at and leave out what is known only after the decision; from "
            "now on, log the probability of each action"
        )
        return self.make_finding("caution", problem, remedy)

    def doubt(self, classifier: str, p: float) -> Finding:
        """Return that another classifier knows more of the actions."""
        problem = (
            f"the propensities that {classifier} fitted are wrong: a forest foretells actions better (p = {p:.1g})"
        )
        other = "fit:boosting" if classifier != "boosting" else "fit:forest"
        return self.make_finding("caution", problem, f"try `propensity={other!r}`, or a classifier of your own")
