"""Calibration: what the reward model predicts for rows that it was not fitted on, and what they earned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots._calibration import colour_lines, draw_diagonal, is_off
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Calibration(ExhibitPicture):
    """A dot for each tenth of the rows, by predicted reward; on the diagonal if the model is right."""

    shows_answer = False
    absence = "there is no reward model"

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        lines, colours = shown.lines, colour_lines(shown.lines)
        drawing.tidy(ax, "predicted reward", "observed reward")
        draw_diagonal(ax, [line[key] for line in lines for key in ("predicted", "low", "high")])
        predicted, low, observed, high = (
            [line[key] for line in lines] for key in ("predicted", "low", "observed", "high")
        )
        ax.vlines(predicted, low, high, colors=colours, linewidth=2.2, alpha=0.6, gid="interval")
        ax.scatter(predicted, observed, s=40, c=colours, zorder=3, linewidth=0, gid="calibration")
        drawing.set_titles(ax, *describe(shown, result.level))


def describe(shown: Shown, level: float) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    off, facts = sum(map(is_off, shown.lines)), shown.facts
    title = f"The reward model is right in {len(shown.lines) - off} of {len(shown.lines)} parts of the rows"
    notes = [f"{100 * level:g} % intervals"]
    if facts["explained"] is not None:
        notes.append(f"it explains {drawing.percent(max(facts['explained'], 0.0))} of the variance")
    if facts["correction"] is not None:
        notes.append(f"rewards of what the target does are {facts['correction']:+.2g} ± {facts['stderr']:.1g} off")
    return title, "; ".join(notes)
