"""What pictures of calibration have in common: predicted against observed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from counterfold.report.plots import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def is_off(line: Any) -> bool:
    """Say whether a prediction is outside of the interval of what was observed; equal rewards have none."""
    return bool(line["low"] < line["high"] and not line["low"] <= line["predicted"] <= line["high"])


def colour_lines(lines: Sequence[Any]) -> list[str]:
    """Return a colour for each line, another one for those that are off."""
    return [drawing.WARNING if is_off(line) else drawing.TARGET for line in lines]


def draw_diagonal(ax: "Axes", numbers: Sequence[float]) -> None:
    """Draw where observed is as predicted, over the range of some numbers, on both axes."""
    ends = drawing.find_view(numbers, numbers)
    ax.plot(ends, ends, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
    ax.set(xlim=ends, ylim=ends)
