"""What JSON answers hold about evidence: values over time and in segments."""

from typing_extensions import TypedDict

from counterfold.base.records import Records
from counterfold.evidence.history import Period, PeriodName
from counterfold.evidence.segments.answers import Segment


class OverTimeRecord(TypedDict):
    """Values over time."""

    period: PeriodName
    """The length of a period."""

    estimator: str
    """The estimator of these values."""

    table: list[Period]
    """A line for each period that has rows."""


class SegmentsRecord(TypedDict):
    """The segments of a column."""

    column: str
    """The column that was cut."""

    note: str | None
    """What was put together, if anything was."""

    table: list[Segment]
    """A line for each segment."""


RECORDS = Records(parts={"over_time": OverTimeRecord, "period": Period, "segments": SegmentsRecord, "segment": Segment})
