"""Segments: how much more than the log the target would have earned in each segment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.evidence.segments.answers import Segment
from counterfold.report.numbers import format_signed
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, Picture, stack_lines
from counterfold.report.plots.compare import choose_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Segments(Picture):
    """A line for each segment of the first column in `by`, with intervals that hold all of them at once."""

    def find_gap(self, result: Evaluation) -> str | None:
        return None if list_lines(result) else "no column was named in `by`, or the log can answer for no segment"

    def find_height(self, result: Evaluation) -> float:
        return stack_lines(list_lines(result))

    def draw(self, result: Evaluation, ax: "Axes") -> None:
        lines = list_lines(result)
        reaches = [drawing.Reach(one.difference_low, one.difference, one.difference_high) for one in lines]
        drawing.tidy(ax, "difference to the log, per decision", grid="x")
        drawing.name_lines(ax, [one.segment for one in lines])
        everything = [end for reach in reaches for end in reach]
        ax.set_xlim(*drawing.find_view([0.0, *(one.value for one in reaches)], everything, 20))
        ax.axvline(0, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
        for place, (one, reach) in enumerate(zip(lines, reaches, strict=True)):
            drawing.draw_reaches(ax, [place], [reach], choose_colour(reach), "difference")
            told = format_signed(one.difference, one.difference_stderr)
            drawing.write_beside(ax, place, told, choose_colour(reach))
        drawing.set_titles(ax, *describe(lines, result.level))


def list_lines(result: Evaluation) -> list[Segment]:
    """Return the segments of the first column that the log can answer for."""
    first = [one for one in result.segments if one.column == result.segments[0].column]
    return [one for one in first if one.answerable][:MOST_LINES]


def describe(lines: Sequence[Segment], level: float) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    more, less = sum(one.difference_low > 0 for one in lines), sum(one.difference_high < 0 for one in lines)
    title = (
        f"By {drawing.write(lines[0].column)}: more than the log in {more} of {len(lines)}, less in {less or 'none'}"
    )
    return title, f"intervals hold all segments at once with {100 * level:g} %; more: blue, less: orange, unclear: grey"
