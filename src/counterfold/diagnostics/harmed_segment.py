"""Whether a policy that helps the whole harms a segment."""

from dataclasses import dataclass

from counterfold import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import Evidence

SHOWN = 3
"""How many segments a sentence names."""

UNCLEAR = "the target cannot be told from the log in all, but earns"
"""What is said where the interval of the whole difference holds 0."""


@dataclass(frozen=True)
class HarmedSegment(Diagnostic):
    r"""Warn where the target seems to earn more than the log in all, and less in a segment: $\hat d > 0$, $u_s < 0$.

    $u_s$ is the upper end of the simultaneous interval of the segment's difference to the log, so that among all
    segments of a column one is called harmed by chance in at most as few logs as the level says. Segments that the log
    cannot answer for are not looked at.
    """

    label = "segments"
    measures = ("harmed_segments",)
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        if answer is None or not answer.segments:
            return None
        lines = [line for column in answer.segments for line in column.table if line.answerable]
        count = sum(len(column.answers) for column in answer.segments)
        harmed = sorted((one for one in lines if one.difference_high < 0), key=lambda one: one.difference_high)
        text = f"{count} segments, {len(lines)} of which the log can answer for; less than the log in {len(harmed)}"
        numbers = {"harmed_segments": len(harmed)}
        whole = answer.segments[0].whole
        if not harmed or whole.value <= 0:
            return Measurement(numbers, text)
        named = [f"`{messages.show(one.column)}` {messages.show(one.segment)}" for one in harmed[:SHOWN]]
        more = f" and {len(harmed) - SHOWN} more" if len(harmed) > SHOWN else ""
        is_clear = whole.interval().low > 0
        told = "the target earns more than the log in all, but" if is_clear else UNCLEAR
        problem = f"{told} less in {', '.join(named)}{more}"
        remedy = "keep the old policy there, or find out why before it is shipped to all"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])
