"""Calibration by action: what the reward model predicts where an action was logged, and what it earned."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots._calibration import colour_lines, is_off
from counterfold.report.plots.base import MOST_LINES, ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ActionCalibration(ExhibitPicture):
    """A line for each action: the observed reward with its interval, and a ring at the predicted one."""

    shows_answer = False
    absence = "there is no reward model"
    is_list = True

    def find_gap(self, result: Evaluation) -> str | None:
        known = (
            "actions are doses; the picture `calibration` shows all of them"
            if "calibration" in result.exhibits
            else self.absence
        )
        return None if self.name in result.exhibits else known

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        lines = shown.lines[:MOST_LINES]
        drawing.tidy(ax, "reward per decision", grid="x")
        drawing.name_lines(ax, [line["name"] for line in lines])
        numbers = [line[key] for line in lines for key in ("observed", "predicted")]
        ax.set_xlim(*drawing.find_view(numbers, [line[key] for line in lines for key in ("low", "high")]))
        for place, (line, colour) in enumerate(zip(lines, colour_lines(lines), strict=True)):
            reach = drawing.Reach(line["low"], line["observed"], line["high"])
            drawing.draw_reaches(ax, [place], [reach], colour, "observed")
            ax.scatter(
                [line["predicted"]],
                [place],
                s=60,
                facecolor="none",
                edgecolor=drawing.LOG,
                linewidth=1.6,
                zorder=4,
                gid="predicted",
            )
            drawing.write_beside(ax, place, f"{drawing.count(line['rows'])} rows")
        off = sum(map(is_off, shown.lines))
        some = f"; the {len(lines)} most frequent of {len(shown.lines)}" if len(lines) < len(shown.lines) else ""
        title = f"The reward model is right on {len(shown.lines) - off} of {len(shown.lines)} actions"
        drawing.set_titles(
            ax, title, f"dot: observed, with its {100 * result.level:g} % interval; ring: predicted; orange: off{some}"
        )
