"""Concentration: how few rows carry how much of the weight."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Concentration(ExhibitPicture):
    """The share of all weight against the share of rows, those with the largest weights first."""

    kinds = (Evaluation, Diagnostics)
    shows_answer = False
    exhibit = "weights"
    absence = "all weights are 0"

    def find_gap(self, result: Any) -> str | None:
        known = result.exhibits.get(self.exhibit)
        return None if known is not None and known.lines else self.absence

    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        rows = [0.0, *(100 * line["rows_above"] for line in reversed(shown.lines)), 100.0]
        weight = [0.0, *(100 * line["weight_above"] for line in reversed(shown.lines)), 100.0]
        drawing.tidy(ax, "share of rows in %, the largest weights first", "share of all weight, in %")
        ax.plot([0, 100], [0, 100], color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED)
        ax.plot(rows, weight, color=drawing.TARGET, linewidth=2.2, gid="concentration")
        ax.fill_between(rows, weight, rows, color=drawing.TARGET, alpha=0.08, linewidth=0)
        drawing.write_at(ax, "if all weights were equal", (72, 72), (6, -8), drawing.LOG)
        half = shown.facts["rows_with_half"]
        ax.plot([100 * half], [50], "o", color=drawing.WARNING, gid="half")
        ax.set(xlim=(-2, 102), ylim=(-3, 104))
        is_even = len(shown.lines) == 1 and not shown.facts["zero_rows"]
        few = f"{drawing.percent(half)} of the rows carry half of the weight"
        title = "All rows have about the same weight" if is_even else few
        drawing.set_titles(ax, title, "the further the line is from the dashed one, the fewer rows decide")
