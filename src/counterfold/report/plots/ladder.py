"""Ladder: the climb from capped weights to full ones, and how far it went."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Ladder(ExhibitPicture):
    """What each ladder says at each cap on the weights; dots are filled as far as the step was taken."""

    absence = "the selector is no ladder"

    def draw_shown(self, shown: Shown, result: Evaluation, ax: "Axes") -> None:
        ladders = drawing.group_lines(shown.lines, "ladder")
        drawing.tidy(ax, "cap on the weights, from strong to none", "reward per decision", "y")
        ax.axhline(result.value, color=drawing.TARGET, linewidth=1.2, zorder=1, gid="value")
        drawing.write_beside(ax, result.value, "answer", drawing.TARGET)
        highest = max(lines[0]["value"] for lines in ladders.values())
        caps = sorted({line["cap"] for line in shown.lines if line["cap"] is not None})
        for number, (name, lines) in enumerate(ladders.items()):
            colour, apart = drawing.SERIES[1 + number % 6], 0.07 * (number - (len(ladders) - 1) / 2)
            places = [apart + (len(caps) if line["cap"] is None else caps.index(line["cap"])) for line in lines]
            draw_ladder(ax, lines, places, colour)
            first = lines[0]["value"]
            drawing.write_at(ax, drawing.write(name), (places[0], first), (9, 7 if first == highest else -7), colour)
        ax.set_xticks(range(len(caps) + 1), [*map(name_cap, caps), "none"])
        ax.set_xlim(-0.3, len(caps) + 0.4)
        ends = [end for line in shown.lines for end in (line["low"], line["high"])]
        ax.set_ylim(*drawing.find_view([*result.interval, *(line["value"] for line in shown.lines)], ends, 1.0))
        edges = [min(max(end, ax.get_ylim()[0]), ax.get_ylim()[1]) for end in result.interval]
        ax.axhspan(*edges, color=drawing.TARGET, alpha=0.10, linewidth=0, zorder=0)
        note = "filled: the step to this cap was taken; hollow: it would add noise, not news; bars: intervals"
        drawing.set_titles(ax, describe(shown.lines), note)


def draw_ladder(ax: "Axes", lines: Sequence[Any], places: Sequence[float], colour: str) -> None:
    """Draw the rungs of one ladder."""
    low, values, high = ([line[key] for line in lines] for key in ("low", "value", "high"))
    name = lines[0]["ladder"]
    ax.vlines(places, low, high, colors=colour, alpha=0.45, linewidth=2, gid=f"{name} interval")
    ax.plot(places, values, color=colour, linewidth=1.4, zorder=2, gid=name)
    for place, line in zip(places, lines, strict=True):
        taken = 1.0 if line["taken"] is None else min(max(line["taken"], 0.0), 1.0)  # but for rounding errors
        ax.scatter([place], [line["value"]], s=44, color="white", zorder=3, linewidth=0)
        ax.scatter([place], [line["value"]], s=44, color=colour, alpha=taken, zorder=4, linewidth=0)
        ax.scatter([place], [line["value"]], s=44, facecolor="none", edgecolor=colour, zorder=5, linewidth=1.3)


def name_cap(cap: float) -> str:
    """Return a cap as a short text; where no weight is left, nothing but the reward model is."""
    return f"{cap:.2g}" if cap else "model alone"


def describe(lines: Sequence[Any]) -> str:
    """Return how high the climb went."""
    taken = [line for line in lines if line["taken"] is None or line["taken"] >= 0.5]
    if any(line["cap"] is None for line in taken):
        return "The climb went all the way: weights need no cap here"
    highest = max(line["cap"] for line in taken)
    return (
        f"The climb stopped at a cap of {highest:.3g} on the weights" if highest else "The climb hardly left the model"
    )
