"""What was done to make rows of the log that another tool wrote, and numbers of its context."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence.evidence import Evidence


@dataclass(frozen=True)
class AsRead(Diagnostic):
    """Note how rows were made: signs that a reader turned, lines it skipped, and how text and gaps became numbers."""

    label = "as read"
    measures = {}

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        notes = evidence.contents.notes
        return Measurement({}, None, [self.make_finding("note", *note) for note in notes]) if notes else None
