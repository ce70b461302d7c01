"""Candidates: what every estimator says that competed, and its part in the answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Candidate, Evaluation
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, Picture, stack_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LEAST = 0.005
"""A candidate with a smaller part in the answer is drawn like one without any."""


@dataclass(frozen=True)
class Candidates(Picture):
    """A forest plot: those with the largest part in the answer first, then the best of each other estimator.

    The band is the interval of the answer, which includes the noise of choosing and of the reward model; those of the
    candidates do not.
    """

    def find_height(self, result: Evaluation) -> float:
        return stack_lines(list_shown(result))

    def draw(self, result: Evaluation, ax: "Axes") -> None:
        shown = list_shown(result)
        reaches = [drawing.Reach.of(one.value, one.stderr, result.level) for one in shown]
        drawing.tidy(ax, "reward per decision", grid="x")
        drawing.name_lines(ax, [one.name for one in shown])
        core = [*result.interval, result.value, result.logged.value]
        ax.set_xlim(*drawing.find_view(core, [end for reach in reaches for end in reach]))
        ends = [min(max(end, ax.get_xlim()[0]), ax.get_xlim()[1]) for end in result.interval]
        ax.axvspan(*ends, color=drawing.TARGET, alpha=0.12, linewidth=0, zorder=0, gid="interval")
        ax.axvline(result.value, color=drawing.TARGET, linewidth=1.2, zorder=1, gid="value")
        ax.axvline(result.logged.value, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
        for place, (one, reach) in enumerate(zip(shown, reaches, strict=True)):
            has_part = one.share >= LEAST
            drawing.draw_reaches(ax, [place], [reach], drawing.TARGET if has_part else drawing.LOG, "candidate")
            told = f"{drawing.percent(one.share)}{'' if place else ' of the answer'}" if has_part else ""
            drawing.write_beside(ax, place, told, drawing.TARGET)
        drawing.set_titles(ax, *describe(result, len(shown)))


def list_shown(result: Evaluation) -> list[Candidate]:
    """Return the candidates with the largest parts, and the best of each other estimator while there is room."""
    ranked = sorted(result.table, key=lambda one: (-one.share, one.score))
    if len(ranked) <= MOST_LINES:
        return ranked
    best = {one.name.partition("(")[0]: one for one in reversed(ranked)}
    chosen = [one for one in ranked if one.share >= LEAST or best[one.name.partition("(")[0]] is one]
    return chosen[:MOST_LINES]


def describe(result: Evaluation, number: int) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    parts = sorted(result.table, key=lambda one: -one.share)
    named = ", ".join(f"{drawing.write(one.name)} ({drawing.percent(one.share)})" for one in parts[:2])
    is_mixed = len(parts) > 1 and parts[1].share >= LEAST
    title = (
        f"The answer is a mixture, mostly {named}"
        if is_mixed
        else f"The answer is that of {drawing.write(parts[0].name)}"
    )
    count = len(result.table)
    some = f"{number} of {count} candidates, the best of each estimator; " if number < count else ""
    return title, f"{some}blue: the answer, its band the {100 * result.level:g} % interval; dashed: the log"
