"""Losses: how far each candidate was from the validator, on rows that it did not see."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Losses(ExhibitPicture):
    """A line for each candidate, the best one first: its loss, and the score by which it is ranked."""

    absence = 'candidates were not cross-validated; `selector="ocv"` does that'
    is_list = True

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        lines = shown.lines[:MOST_LINES]
        drawing.tidy(ax, "mean squared distance from the validator", grid="x")
        drawing.name_lines(ax, [line["name"] for line in lines])
        losses, scores = ([line[key] for line in lines] for key in ("loss", "score"))
        if min(losses) > 0 and max(scores) > 20 * min(losses):
            drawing.use_logarithms(ax, min(losses) / 1.2, max(scores) * 1.2)
        colours = [drawing.TARGET if line["share"] else drawing.LOG for line in lines]
        ax.hlines(range(len(lines)), losses, scores, colors=colours, alpha=0.5, linewidth=2.2)
        ax.scatter(losses, range(len(lines)), s=36, c=colours, zorder=3, linewidth=0, gid="loss")
        ax.scatter(scores, range(len(lines)), s=70, c=colours, zorder=3, marker="|", gid="score")
        best = lines[0]["name"]
        some = f"; the best {len(lines)} of {len(shown.lines)}" if len(lines) < len(shown.lines) else ""
        note = (
            f"dot: mean of {shown.facts['splits']} splits; bar at the end of the line: the score, which decides{some}"
        )
        drawing.set_titles(ax, f"{drawing.write(best)} is closest to the validator on rows it did not see", note)
