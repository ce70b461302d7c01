"""Sample size: how narrow the interval would be on a log with more rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
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
        needed = facts["rows_to_tell"]
        if needed is not None and rows[0] <= needed <= rows[-1]:
            ax.axvline(needed, color=drawing.WARNING, linewidth=1.4, gid="rows_to_tell")
            told = f"{drawing.count(needed)} rows tell\nit from 0"
            drawing.write_at(ax, told, (needed, 0.9), (5, 0), drawing.WARNING, drawing.DOWN)
        ax.set_ylim(bottom=0)
        drawing.set_titles(ax, *describe(shown, result))


def describe(shown: Shown, result: Evaluation) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    needed, rows = shown.facts["rows_to_tell"], shown.facts["rows"]
    note = f"{100 * result.level:g} % intervals; four times as many rows like these halve the width"
    if needed is None or needed > HOPELESS * rows:
        return "The estimated difference is so small that no log tells it from 0", note
    if needed <= rows:
        return f"This log has enough rows to tell the difference from 0: {drawing.count(needed)} would do", note
    return f"About {needed / rows:.2g} times as many rows would tell the estimated difference from 0", note
