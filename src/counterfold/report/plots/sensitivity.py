"""Sensitivity: how wrong propensities may be before the conclusion changes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Sensitivity(ExhibitPicture):
    """The interval of the difference to the log, by how wrong the odds of actions, or densities of doses, are."""

    absence = "no row has a weight"

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        factor, low, high = ([line[key] for line in shown.lines] for key in ("factor", "low", "high"))
        across = f"factor by which all {shown.facts['of']} of what was logged may be wrong"
        drawing.tidy(ax, across, "difference to the log, per decision")
        drawing.use_logarithms(ax, 1, max(factor))
        ax.set_xticks([1, 1.25, 1.5, 2, 3, 4], ["1 (right)", "1.25", "1.5", "2", "3", "4"])
        ax.fill_between(factor, low, high, color=drawing.TARGET, alpha=0.15, linewidth=0)
        for ends, name in ((low, "low"), (high, "high")):
            ax.plot(factor, ends, color=drawing.TARGET, linewidth=1.8, gid=name)
        ax.axhline(0, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED)
        changed = shown.facts["factor"]
        if changed is not None:
            ax.axvline(changed, color=drawing.WARNING, linewidth=1.4, gid="factor")
            drawing.write_at(
                ax, "from here on, nothing can be told", (changed, 0.06), (5, 0), drawing.WARNING, drawing.DOWN
            )
        drawing.set_titles(ax, *describe(shown, result))


def describe(shown: Shown, result: Evaluation) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    changed, most = shown.facts["factor"], max(line["factor"] for line in shown.lines)
    of = f"the {shown.facts['of']} of what was logged are wrong by a factor of"
    note = f"{100 * result.level:g} % interval of the difference, each end moved outwards by what that may do to SNIPS"
    if not shown.facts["is_told"]:
        return "Even with right propensities, more or less than the log cannot be told", note
    told = "earns more than the log" if result.uplift().value > 0 else "earns less than the log"
    if changed is None:
        return f"The target {told} even if {of} {most:.2g}", note
    return f"The target {told}, unless {of} {changed:.3g}", note
