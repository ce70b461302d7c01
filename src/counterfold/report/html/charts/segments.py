"""Segments: how much more the target would have earned in each segment of a column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import altair as alt

from counterfold.evidence.segments.answers import Segment
from counterfold.intervals.base import Bounds
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Writer, tabulate
from counterfold.report.html.cases import Answered, Case, quote
from counterfold.report.html.charts import base
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

KINDS = {"more": base.TARGET, "cannot tell": base.QUIET, "less": base.WARNING}
"""What the whole interval of a segment says, and its colour."""


def draw_segments(case: Case) -> Iterator[Figure]:
    """Yield a figure for each column that was cut into segments."""
    answered = case.shown_answer
    if answered is None or not answered.is_known:
        return
    for column in dict.fromkeys(line.column for line in answered.segments):
        lines = [line for line in answered.segments if line.column == column]
        if any(line.answerable for line in lines):
            yield draw_column(case, answered, column, lines)


def draw_first_column(case: Case) -> Figure | None:
    """Return the figure of the first column."""
    return next(draw_segments(case), None)


def draw_column(case: Case, answered: Answered, column: str, lines: Sequence[Segment]) -> Figure:
    """Return the differences in all segments of a column that the log can answer for."""
    known = [line for line in lines if line.answerable][: base.MOST]
    names = base.tell_apart([line.segment for line in known])
    drawn = [describe(name, line) for name, line in zip(names, known, strict=True)]
    error = min(find_error(line.difference_stderr, find_ends(line)) for line in known)
    colour = base.by_who(list(KINDS), list(KINDS.values()))
    pictured = base.draw_intervals(drawn, f"difference to {answered.baseline}, per decision", colour)
    chart = base.size(alt.layer(base.draw_rule(0.0), pictured), base.ROW * max(len(drawn), 2))
    level = 100 * answered.evaluation.level
    counts = [f"{kind} in {sum(one['who'] == kind for one in drawn)}" for kind in KINDS]
    return Figure(
        f"{case.title} by {formats.text(column)}",
        f"How much more than {answered.baseline} it would have earned in each segment. In about {level:g} of 100 such "
        "reports all bars of this picture hold the truth at once, so the worst one may be looked at.",
        f"Difference to {answered.baseline} by {quote(column)}: {', '.join(counts)} of {len(drawn)} segments.",
        [base.make_panel(chart)],
        tabulate(f"Segments by {formats.text(column)}", [withhold(line) for line in lines], COLUMNS, error),
    )


def describe(name: str, line: Segment) -> dict[str, Any]:
    """Return a dot with its interval, and what it says."""
    low, high = find_ends(line)
    who = "more" if low > 0 else "less" if high < 0 else "cannot tell"
    return {"name": name, "value": line.difference, "low": low, "high": high, "who": who}


def withhold(line: Segment) -> dict[str, Any]:
    """Return a line of the table, without numbers that the log cannot answer for."""
    found = asdict(line)
    return found if line.answerable else found | dict.fromkeys(NUMBERS)


def find_ends(line: Segment) -> Bounds:
    """Return the interval of a difference."""
    return Bounds(line.difference_low, line.difference_high)
