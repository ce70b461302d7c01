"""Reliability: how often actions were taken whose fitted propensity is so high."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots._calibration import draw_diagonal
from counterfold.report.plots.base import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Reliability(Picture):
    """A dot for each tenth of all pairs of a row and an action; on the diagonal if the propensities are right."""

    shows_answer = False

    def find_gap(self, result: Evaluation) -> str | None:
        return "propensities were logged, not fitted" if result.contents.fitted is None else None

    def draw(self, result: Evaluation, ax: "Axes") -> None:
        if result.contents.fitted is None:
            return
        bins = result.contents.fitted.quality.reliability
        predicted, observed = (
            [100 * number for number in one]
            for one in zip(*((one.predicted, one.observed) for one in bins), strict=True)
        )
        drawing.tidy(ax, "fitted propensity, in %", "how often the action was taken, in %")
        draw_diagonal(ax, [0.0, *predicted, *observed])
        errors = [100 * (one.observed * (1 - one.observed) / one.pairs) ** 0.5 for one in bins]
        reaches = [drawing.Reach.of(value, error, result.level) for value, error in zip(observed, errors, strict=True)]
        ax.vlines(
            predicted,
            [one.low for one in reaches],
            [one.high for one in reaches],
            colors=drawing.TARGET,
            linewidth=2.2,
            alpha=0.6,
        )
        ax.scatter(predicted, observed, s=40, c=drawing.TARGET, zorder=3, linewidth=0, gid="reliability")
        most = max(abs(one.predicted - one.observed) for one in bins)
        note = "a dot for each tenth of all pairs of a row and an action, on rows outside of the fit"
        drawing.set_titles(
            ax, f"Fitted propensities are at most {100 * most:.2g} points off how often actions were taken", note
        )
