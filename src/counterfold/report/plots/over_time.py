"""Over time: what the log earned and the target would have earned, in each period."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Evaluation
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.95
"""The level of the intervals of periods, where no answer has one."""


@dataclass(frozen=True)
class OverTime(Picture):
    """Two lines over time with their intervals; `by` chooses another period before."""

    kinds = (Evaluation, Diagnostics)

    def find_gap(self, result: Any) -> str | None:
        return None if result.over_time() else "the log has no `time`"

    def draw(self, result: Evaluation | Diagnostics, ax: "Axes") -> None:
        lines = result.over_time()
        level = result.level if isinstance(result, Evaluation) else LEVEL
        history: Any = (result.diagnostics if isinstance(result, Evaluation) else result).history
        starts = np.array([line.start for line in lines], dtype="datetime64[h]")
        drawing.tidy(ax, "", "reward per decision", "y")
        several = (
            ("log", drawing.LOG, [drawing.Reach.of(line.logged, line.logged_stderr, level) for line in lines]),
            ("target", drawing.TARGET, [drawing.Reach.of(line.value, line.stderr, level) for line in lines]),
        )
        for name, colour, reaches in several:
            lows, values, highs = (list(one) for one in zip(*reaches, strict=True))
            ax.fill_between(starts, lows, highs, color=colour, alpha=0.15, linewidth=0)
            ax.plot(starts, values, "o-", color=colour, linewidth=1.8, markersize=4, gid=name)
            is_above = (lines[-1].value >= lines[-1].logged) == (name == "target")
            drawing.write_at(ax, name, (starts[-1], values[-1]), (7, 6 if is_above else -6), colour)
        set_dates(ax)
        drawing.set_titles(ax, *describe(lines, history, level))


def set_dates(ax: "Axes") -> None:
    """Write dates in as few words as they need."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def describe(lines: Any, history: Any, level: float) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    ahead = sum(line.value > line.logged for line in lines)
    title = f"The target is ahead of the log in {ahead} of {len(lines)} {history.used_period}s"
    return title, f"by {history.estimator}, with {100 * level:g} % intervals of each {history.used_period}"
