"""What the target would have earned in each segment, for the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import ConsoleRenderable
from rich.styled import Styled

from counterfold.base import messages
from counterfold.evidence.segments.answers import Segment, SegmentedColumn
from counterfold.intervals.base import Bounds
from counterfold.report.numbers import WITHHELD, find_error, format_number, format_signed, is_rounding_error
from counterfold.report.tables import Lines, add_title

POOLED = (
    "intervals hold all segments of a column at once; pooled: the difference, drawn towards that of the whole log "
    "as far as it may be noise"
)


def list_segments(
    columns: Sequence[SegmentedColumn], lines: Sequence[Segment], baseline: str = "log", of: str = ""
) -> Iterator[ConsoleRenderable]:
    """Yield a table for each column that was cut into segments."""
    for column in columns:
        mine = [line for line in lines if line.column == column.name]
        notes = [Styled(note, "dim") for note in (column.note, *explain(mine), POOLED) if note]
        names = "segment", "rows", baseline, "value", "difference", "interval", "pooled", "verdict"
        table = Lines(names, [describe(line) for line in mine], texts=1)
        yield add_title(f"{of} by {column.name}".strip(), table, *notes)


def describe(line: Segment) -> tuple[str, ...]:
    """Return the cells of a segment; numbers that the log cannot answer for are withheld."""
    error = find_error(line.difference_stderr, Bounds(line.difference_low, line.difference_high))
    name, rows, logged = messages.show(line.segment), f"{line.rows:,}", format_number(line.logged, error)
    if not line.answerable:
        return name, rows, logged, WITHHELD, WITHHELD, "", "", line.verdict
    signed = line.difference, line.difference_low, line.difference_high, line.pooled
    gap, low, high, pooled = (format_signed(number, error) for number in signed)
    if is_rounding_error(line.difference, error, line.logged):
        gap, low, high, pooled = "0", "0", "0", "0"
    return name, rows, logged, format_number(line.value, error), gap, f"{low} to {high}", pooled, line.verdict


def explain(lines: Sequence[Segment]) -> list[str]:
    """Return why some verdicts are not good, each reason once."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if line.reason:
            reasons.setdefault(line.reason, []).append(messages.show(line.segment))
    every = len(lines)
    return [
        f"{'all' if len(names) == every else messages.list_names(names)}: {messages.clean_sentence(reason)}"
        for reason, names in reasons.items()
    ]
