"""What JSON answers hold about the checks."""

from typing_extensions import TypedDict

from counterfold.base.records import Records
from counterfold.diagnostics import build_all
from counterfold.diagnostics.base import LOG_NUMBERS, Finding, Verdict
from counterfold.evidence.records import OverTimeRecord


class DiagnosticsRecord(TypedDict):
    """What the checks found for a target. A number is null where it does not apply."""

    verdict: Verdict
    """good, undecided (a sound log that is too small), caution or not answerable: that of the worst finding."""

    reasons: list[str]
    """What speaks against the answer, or that nothing does."""

    findings: list[Finding]
    """What is wrong, the worst first. Notes are no reason for a worse verdict."""

    over_time: OverTimeRecord | None
    """Values over time; null where the log has no time."""


class ClosedDiagnosticsRecord(DiagnosticsRecord):
    """What the checks found for a target."""


def describe_measures() -> dict[str, str]:
    """Return all numbers of `Diagnostics`, each with its description."""
    measures = dict(LOG_NUMBERS)
    for diagnostic in build_all():
        measures |= diagnostic.measures
    return measures


RECORDS = Records(
    parts={"diagnostics": DiagnosticsRecord, "closed_diagnostics": ClosedDiagnosticsRecord, "finding": Finding},
    numbers={"diagnostics": describe_measures()},
)
