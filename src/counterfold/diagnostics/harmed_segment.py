"""Whether a policy that helps the whole harms a segment."""

from collections.abc import Sequence
from dataclasses import dataclass

from counterfold.base import messages
from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.segments.answers import SegmentedColumn

SHOWN = 3
"""How many segments a sentence names."""


@dataclass(frozen=True)
class HarmedSegment(Diagnostic):
    r"""Warn where the target seems to earn more than the log in all, and less in a segment: $\hat d > 0$, $u_s < 0$.

    $u_s$ is the upper end of the simultaneous interval of the segment's difference to the log, so that among all
    segments of a column one is called harmed by chance in at most as few logs as the level says. Segments that the log
    cannot answer for are not looked at. In a comparison with a baseline, all differences are to that instead.
    """

    label = "segments"
    measures = {
        "harmed_segments": (
            "The number of segments in which the target earns less than the log, or than the baseline of a "
            "comparison; null unless columns were named in `by`."
        ),
    }
    needs_answer = True

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        return None if answer is None or not answer.segments else self.find_harm(answer.segments)

    def find_harm(self, columns: Sequence[SegmentedColumn], baseline: str | None = None) -> Measurement:
        """Return in which segments the target earns less than the log, or than the baseline of that name.

        The differences of the columns must be to the one that is meant.
        """
        other, kept = ("the log", "the old policy") if baseline is None else [f"`{messages.show(baseline)}`"] * 2
        lines = [line for column in columns for line in column.table if line.answerable]
        count = sum(len(column.answers) for column in columns)
        harmed = sorted((one for one in lines if one.difference_high < 0), key=lambda one: one.difference_high)
        text = f"{count} segments, {len(lines)} of which the log can answer for; less than {other} in {len(harmed)}"
        numbers = {"harmed_segments": len(harmed)}
        whole = columns[0].whole
        if not harmed or whole.value <= 0:
            return Measurement(numbers, text)
        named = [f"`{messages.show(one.column)}` {messages.show(one.segment)}" for one in harmed[:SHOWN]]
        more = f" and {len(harmed) - SHOWN} more" if len(harmed) > SHOWN else ""
        is_clear = whole.interval().low > 0
        told = f"earns more than {other} in all, but" if is_clear else f"cannot be told from {other} in all, but earns"
        problem = f"the target {told} less in {', '.join(named)}{more}"
        remedy = f"keep {kept} there, or find out why before it is shipped to all"
        return Measurement(numbers, text, [self.make_finding("caution", problem, remedy)])
