"""Whether a column of segments was known before the decision."""

from dataclasses import dataclass

from counterfold.base import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class OutcomeSegments(Diagnostic):
    r"""Warn where weights are not 1 on average within segments, though they are if a segment is known before.

    $$\mathbb E[w \mid s] = 1 - m_s$$

    where $m_s$ is the target's probability of what lacks support there. A segment that depends on the action, such as
    the page on which somebody landed because of it, has other weights, and what the target would have earned "there" is
    no question that a log can answer. Segments of at least 100 effective rows are looked at: by the intervals of
    `SkewedT` with a joint level of 99.99 %, as weights are skewed. Not where propensities are fitted, nor on logs of
    doses.
    """

    label = "segments known before"
    measures = {
        "outcome_segments": "The number of segments in which the mean weight differs from its expected value.",
    }
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        known = [one for one in (answer.segments if answer else ()) if one.misweighed is not None]
        if not known:
            return None
        count = sum(one.misweighed or 0 for one in known)
        text = f"the mean weight is not what it must be in {count} segments"
        bad = [f"`{messages.show(one.name)}`" for one in known if one.is_outcome]
        if not bad:
            return Measurement({"outcome_segments": 0}, text)
        problem = f"weights are not 1 on average in segments of {', '.join(bad)}, so they depend on what was decided"
        remedy = "name columns in `by` that were known before the decision"
        return Measurement({"outcome_segments": count}, text, [self.make_finding("caution", problem, remedy)])
