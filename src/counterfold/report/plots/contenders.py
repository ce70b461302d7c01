"""Contenders: how much more than the log each learnt policy would have earned, and what may be told of the best."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.learning.result import Learned
from counterfold.report.numbers import format_signed
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, Picture, stack_lines
from counterfold.report.policy_parts import TOLD, rank_contenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Contenders(Picture):
    """A line for each contender, as if it were the only one, below the one that is corrected for choosing."""

    kinds = (Learned,)
    shows_answer = False

    def find_gap(self, result: Learned) -> str | None:
        return None if rank_contenders(result) else "the log cannot answer for any contender"

    def find_height(self, result: Learned) -> float:
        return stack_lines([None, *rank_contenders(result)[:MOST_LINES]])

    def draw(self, result: Learned, ax: "Axes") -> None:
        lines = list_lines(result)
        reaches = list(lines.values())
        drawing.tidy(ax, "difference to the log, per decision", grid="x")
        drawing.name_lines(ax, list(lines))
        everything = [end for reach in reaches for end in reach]
        ax.set_xlim(*drawing.find_view([0.0, *(one.value for one in reaches)], everything, 20))
        ax.axvline(0, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
        for place, (name, reach) in enumerate(lines.items()):
            colour, gid = (drawing.TARGET, "told") if name == TOLD else (drawing.LOG, "contender")
            drawing.draw_reaches(ax, [place], [reach], colour, gid)
            drawing.write_beside(ax, place, format_signed(reach.value, (reach.high - reach.low) / 4), colour)
        drawing.set_titles(ax, *describe(result))


def list_lines(result: Learned) -> dict[str, drawing.Reach]:
    """Return what is drawn, by name: first what may be told to others, if the log can answer for it."""
    gap = result.attempt.uplift()
    low, high = gap.interval()
    told = {TOLD: drawing.Reach(low, gap.value, high)} if result.attempt.answerable else {}
    known = rank_contenders(result)[:MOST_LINES]
    return told | {line.contender: drawing.Reach(line.low, line.gain, line.high) for line in known}


def describe(result: Learned) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    name = drawing.write(result.chosen)
    title = f"{name} beats the log" if result.beats_log else f"Nothing beats the log safely; {name} comes nearest"
    note = "grey: as if it were the only contender; blue: by rows that did not choose it"
    return title, f"{100 * result.attempt.level:g} % intervals; {note}"
