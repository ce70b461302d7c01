"""Tuning: what every estimator with a parameter says at each of its settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Tuning(ExhibitPicture):
    """A line for each estimator, over its settings from the smallest to the largest; dots have a part in the answer."""

    absence = "no estimator competed with several settings"

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        families = drawing.group_lines(shown.lines, "family")
        parameters = {line["parameter"] for line in shown.lines}
        drawing.tidy(ax, "setting, from the smallest to the largest of each", "reward per decision", "y")
        ax.axhline(result.value, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, gid="value")
        for number, lines in enumerate(families.values()):
            is_alone = len(parameters) == 1
            draw_family(ax, lines, drawing.SERIES[number % len(drawing.SERIES)], is_alone=is_alone)
        if len(parameters) == 1:
            ax.set_xlabel(next(iter(parameters)))
            settings = [line["setting"] for line in shown.lines]
            if min(settings) > 0 and max(settings) > 20 * min(settings):
                drawing.use_logarithms(ax, min(settings), max(settings))
        else:
            ax.set_xticks([0, 1], ["smallest", "largest"])
        ends = [end for line in shown.lines for end in (line["low"], line["high"])]
        values = np.quantile([line["value"] for line in shown.lines], [0.25, 0.75])
        ax.set_ylim(*drawing.find_view([*result.interval, *values], ends, 0.5))
        ax.legend(frameon=False, fontsize=drawing.TEXT - 0.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        note = "bands: normal intervals; dots: settings with a part in the answer; dashed: the answer"
        drawing.set_titles(ax, describe(shown.lines), note)


def draw_family(ax: "Axes", lines: Sequence[Any], colour: str, *, is_alone: bool) -> None:
    """Draw one estimator over its settings."""
    x = [line["setting"] if is_alone else place / (len(lines) - 1) for place, line in enumerate(lines)]
    low, value, high = ([line[key] for line in lines] for key in ("low", "value", "high"))
    first = lines[0]
    told = f"{first['family']}\n{first['parameter']} {first['setting']:.2g} to {lines[-1]['setting']:.2g}"
    ax.plot(x, value, color=colour, linewidth=1.8, gid=first["family"], label=told)
    ax.fill_between(x, low, high, color=colour, alpha=0.10, linewidth=0)
    used = [(place, line["value"]) for place, line in zip(x, lines, strict=True) if line["share"]]
    places, heights = [one[0] for one in used], [one[1] for one in used]
    ax.scatter(places, heights, s=36, color=colour, zorder=3, linewidth=0)


def describe(lines: Sequence[Any]) -> str:
    """Return how much depends on the settings."""
    values = [line["value"] for line in lines]
    return f"Whatever the setting, estimators say from {min(values):.3g} to {max(values):.3g}"
