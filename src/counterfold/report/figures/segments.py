"""Segments: how much more the target would have earned in each segment of a column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from counterfold.evidence.segments.answers import Segment
from counterfold.intervals.base import Bounds
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import cases, formats
from counterfold.report.html.blocks import Drawing, Writer, tabulate
from counterfold.report.html.cases import Case, quote
from counterfold.report.numbers import find_error

COLUMNS: Mapping[str, tuple[str, Writer]] = {
    "segment": ("Segment", formats.text),
    "rows": ("Rows", formats.count),
    "effective_rows": ("Effective rows", formats.count),
    "value": ("Reward per decision", formats.value),
    "difference": ("Difference", formats.signed),
    "difference_low": ("From", formats.signed),
    "difference_high": ("To", formats.signed),
    "pooled": ("Pooled difference", formats.signed),
    "verdict": ("Verdict", formats.words),
    "reason": ("Because", formats.words),
}

NUMBERS = ("value", "stderr", "low", "high", "difference", "difference_low", "difference_high", "pooled")
"""What is withheld of a segment that the log cannot answer for."""

KINDS = {"more": charts.TARGET, "cannot tell": charts.QUIET, "less": charts.WARNING}
"""What the whole interval of a segment says, and its colour."""


@dataclass(frozen=True)
class Segments(CaseFigure):
    """A line for each segment of the first column in `by`, with intervals that hold all of them at once."""

    def find_gap(self, result: Any) -> str | None:
        first = [line for line in result.segments if line.column == result.segments[0].column]
        if any(line.answerable for line in first):
            return None
        return "no column was named in `by`, or the log can answer for no segment"

    def draw_case(self, case: Case) -> Drawing | None:
        return next(self.draw_columns(case), None)

    def draw_columns(self, case: Case) -> Iterator[Drawing]:
        """Yield the charts of each column that was cut into segments."""
        answered = case.shown_answer
        if answered is None or not answered.is_known:
            return
        for column in dict.fromkeys(line.column for line in answered.segments):
            lines = [line for line in answered.segments if line.column == column]
            if any(line.answerable for line in lines):
                yield draw_column(case, answered, column, lines)


def draw_column(case: Case, answered: cases.Answered, column: str, lines: Sequence[Segment]) -> Drawing:
    """Return the differences in all segments of a column that the log can answer for."""
    import altair as alt

    known = [line for line in lines if line.answerable][: charts.MAX_NAMED_LINES]
    names = charts.tell_apart([line.segment for line in known])
    drawn = [describe(name, line) for name, line in zip(names, known, strict=True)]
    error = min(find_error(line.difference_stderr, find_bounds(line)) for line in known)
    colour = charts.colour_by(list(KINDS), list(KINDS.values()))
    intervals = charts.draw_intervals(drawn, f"difference to {answered.baseline}, per decision", colour)
    chart = charts.size(alt.layer(charts.draw_rule(0.0), intervals), charts.ROW_HEIGHT * max(len(drawn), 2))
    level = 100 * answered.evaluation.level
    counts = [f"{kind} in {sum(one['who'] == kind for one in drawn)}" for kind in KINDS]
    return Drawing(
        title=f"{case.title} by {formats.text(column)}",
        reading=f"How much more than {answered.baseline} it would have earned in each segment. In about {level:g} of "
        "100 such reports all bars of this picture hold the truth at once, so the worst one may be looked at.",
        sentence=f"Difference to {answered.baseline} by {quote(column)}: {', '.join(counts)} of {len(drawn)} segments.",
        panels=[charts.make_panel(chart)],
        table=tabulate(f"Segments by {formats.text(column)}", [withhold(line) for line in lines], COLUMNS, error),
    )


def describe(name: str, line: Segment) -> dict[str, Any]:
    """Return a dot with its interval, and what it says."""
    low, high = find_bounds(line)
    who = "cannot tell"
    if low > 0:
        who = "more"
    elif high < 0:
        who = "less"
    return {"name": name, "value": line.difference, "low": low, "high": high, "who": who}


def withhold(line: Segment) -> dict[str, Any]:
    """Return a line of the table, without numbers that the log cannot answer for."""
    numbers = asdict(line)
    return numbers if line.answerable else numbers | dict.fromkeys(NUMBERS)


def find_bounds(line: Segment) -> Bounds:
    """Return the interval of a difference."""
    return Bounds(line.difference_low, line.difference_high)
