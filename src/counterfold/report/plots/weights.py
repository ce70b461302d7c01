"""Weights: how many rows have which weight, and how much of all weight they have."""

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
class Weights(ExhibitPicture):
    """Two histograms over the weights, on a logarithmic scale: of rows, and of their weight."""

    kinds = (Evaluation, Diagnostics)
    shows_answer = False
    absence = "there are no weights"

    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        facts, lines = shown.facts, shown.lines
        drawing.tidy(
            ax, "weight: how much likelier the target takes the logged action than the log did", "share, in %", "y"
        )
        for key, colour, width in (("row_share", drawing.LOG, 1.0), ("weight_share", drawing.TARGET, 0.55)):
            middle = [(line["low"] * line["high"]) ** 0.5 for line in lines]
            span = [(line["high"] - line["low"]) * width * 0.92 for line in lines]
            height = [100 * line[key] for line in lines]
            ax.bar(middle, height, span, color=colour, alpha=0.45 if width == 1 else 0.9, gid=key)
        if lines:
            drawing.use_logarithms(ax, min(lines[0]["low"] / 1.2, 0.3), max(lines[-1]["high"] * 1.2, 3.0))
        drawing.set_titles(ax, *describe(facts))


def describe(facts: Any) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    effective, rows = drawing.count(facts["effective_rows"]), drawing.count(facts["rows"])
    title = f"The log is worth {effective} of its {rows} rows for this target"
    zero = facts["zero_rows"] / facts["rows"]
    empty = f"; {drawing.percent(zero)} of the rows have weight 0 and are not drawn" if zero else ""
    means = f"largest weight {facts['largest_weight']:.3g}, mean {facts['mean_weight']:.3g}, which should be 1"
    return title, f"grey: share of rows, blue: share of all weight; {means}{empty}"
