"""Sample size: how narrow the interval would be on a log with more rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.evaluation.next_step import round_up
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HOPELESS = 1e6
"""Nobody logs so many times as many rows."""


@dataclass(frozen=True)
class SampleSize(ExhibitPicture):
    """The width of the interval of the difference to the log against the number of rows."""

    absence = "there is no answer"

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        facts = shown.facts
        rows, width = ([line[key] for line in shown.lines] for key in ("rows", "width"))
        drawing.tidy(ax, "rows of the log", "width of the interval of the difference")
        drawing.use_logarithms(ax, rows[0], rows[-1])
        ax.plot(rows, width, color=drawing.TARGET, linewidth=2, gid="width")
        ax.scatter([facts["rows"]], [facts["width"]], s=44, color=drawing.TARGET, zorder=3, linewidth=0, gid="now")
        now = f"this log: {drawing.count(facts['rows'])} rows"
        drawing.write_at(ax, now, (facts["rows"], facts["width"]), (8, 8), drawing.TARGET)
        times = result.next_step.times_rows
        if times is not None and rows[0] <= (needed := times * facts["rows"]) <= rows[-1]:
            ax.axvline(needed, color=drawing.WARNING, linewidth=1.4, gid="needed")
            told = f"{drawing.count(needed)} rows\nshow it"
            drawing.write_at(ax, told, (needed, 0.9), (5, 0), drawing.WARNING, drawing.DOWN)
        ax.set_ylim(bottom=0)
        note = f"{100 * result.level:g} % intervals; four times as many rows like these halve the width"
        drawing.set_titles(ax, describe(times), note)


def describe(times: float | None) -> str:
    """Return the title: how many times as many rows show the difference."""
    if times is None or times > HOPELESS:
        return "The estimated difference is so small that no log would show it"
    if times <= 1:
        return "This log has enough rows to show such a difference"
    return f"About {max(2, round_up(times)):,} times as many rows would show the estimated difference"
