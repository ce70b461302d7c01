"""What was done to make rows of the log that another tool wrote."""

from dataclasses import dataclass

from counterfold.diagnostics.base import Answer, Diagnostic, Measurement
from counterfold.evidence import Evidence


@dataclass(frozen=True)
class AsRead(Diagnostic):
    """Note what a reader of another tool's format did: signs that were turned, lines that were skipped, assumptions."""

    label = "as read"
    measures = ()

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        notes = evidence.contents.notes
        return Measurement({}, None, [self.make_finding("note", *note) for note in notes]) if notes else None
