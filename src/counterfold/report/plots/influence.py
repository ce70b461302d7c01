"""Influence: the rows that move the answer most."""

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
class Influence(ExhibitPicture):
    """A bar for each of ten rows: its share in what moves the answer."""

    kinds = (Evaluation, Diagnostics)
    shows_answer = False
    absence = "every row of the target's has the usual reward, so that none moves the answer"
    is_list = True

    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        lines, shares = shown.lines, [100 * line["share"] for line in shown.lines]
        drawing.tidy(ax, "share of the row in all that moves the answer, in %", grid="x")
        drawing.name_lines(ax, [f"row {line['row']}: {line['action']}" for line in lines])
        ax.barh(range(len(lines)), shares, 0.62, color=drawing.TARGET, gid="share")
        ax.set_xlim(0, max(shares) * 1.05)
        for place, line in enumerate(lines):
            drawing.write_beside(ax, place, f"reward {line['reward']:.4g}, weight {line['weight']:.3g}")
        who = f"{len(lines)} rows make" if len(lines) > 1 else "One row makes"
        title = f"{who} {drawing.percent(shown.facts['share'])} of all that moves the answer"
        drawing.set_titles(ax, title, "" if result.verdict == "not answerable" else describe(shown))


def describe(shown: Shown) -> str:
    """Return what is said with these rows, and without them."""
    without = shown.lines[-1]["without"]
    rest = "nothing" if without is None else f"{without:.4g}"
    return f"SNIPS says {shown.facts['snips']:.4g} with all rows, and {rest} without these"
