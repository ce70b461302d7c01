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
    """Two bars for each bin of the weights, on a logarithmic scale: the share of rows, and of their weight."""

    kinds = (Evaluation, Diagnostics)
    shows_answer = False
    absence = "there are no weights"

    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        facts, lines = shown.facts, shown.lines
        drawing.tidy(
            ax, "weight: how much likelier the target takes the logged action than the log did", "share, in %", "y"
        )
        for key, colour, start, end in (
            ("row_share", drawing.LOG, 0.06, 0.49),
            ("weight_share", drawing.TARGET, 0.51, 0.94),
        ):
            spans = [(line["low"], line["high"] / line["low"]) for line in lines]
            left = [low * span**start for low, span in spans]
            width = [low * (span**end - span**start) for low, span in spans]
            ax.bar(left, [100 * line[key] for line in lines], width, align="edge", color=colour, gid=key)
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
