"""Support: what the log and the target do of each action."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Evaluation
from counterfold.exhibits import Shown
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, ExhibitPicture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RARE = 20
"""An action that the target takes needs at least so many rows not to be marked."""


@dataclass(frozen=True)
class Support(ExhibitPicture):
    """A line for each action, from its share in the log to its share in the target."""

    kinds = (Evaluation, Diagnostics)
    shows_answer = False
    absence = "there are too many actions to list"
    is_list = True

    def draw_shown(self, shown: Shown, result: Any, ax: "Axes") -> None:
        lines = shown.lines[:MOST_LINES]
        drawing.tidy(ax, "share of decisions, in %", grid="x")
        drawing.name_lines(ax, [line["action"] for line in lines])
        logged, wanted = ([100 * line[key] for line in lines] for key in ("logged_share", "target_share"))
        places, most = range(len(lines)), max(*logged, *wanted)
        ax.set_xlim(-0.03 * most, 1.03 * most)
        colours = [drawing.WARNING if is_rare(line) else drawing.TARGET for line in lines]
        ax.hlines(places, logged, wanted, colors=colours, linewidth=2.2, alpha=0.35)
        ax.scatter(logged, places, s=36, c=drawing.LOG, linewidth=0, zorder=3, gid="logged_share")
        ax.scatter(wanted, places, s=36, c=colours, linewidth=0, zorder=3, gid="target_share")
        for place, line in enumerate(lines):
            mean = "" if line["mean_reward"] is None else f", earned {line['mean_reward']:.3g}"
            drawing.write_beside(
                ax, place, f"{drawing.count(line['rows'])} rows{mean}", colours[place] if is_rare(line) else drawing.LOG
            )
        drawing.set_titles(ax, *describe(shown))


def is_rare(line: Any) -> bool:
    """Say whether the target takes an action that the log hardly has."""
    return bool(line["target_share"] > 0.001 and line["rows"] < RARE)


def describe(shown: Shown) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    most = max(shown.lines, key=lambda line: line["target_share"] - line["logged_share"])
    change = f"from {drawing.percent(most['logged_share'])} to {drawing.percent(most['target_share'])}"
    title = f"The target takes `{drawing.write(most['action'])}` more often: {change} of decisions"
    title = (
        title
        if most["target_share"] > most["logged_share"] + 0.005
        else "The target takes the actions as often as the log"
    )
    more = f"; {MOST_LINES} of {len(shown.lines)} actions" if len(shown.lines) > MOST_LINES else ""
    rare = f"; orange: fewer than {RARE} rows" if any(is_rare(line) for line in shown.lines) else ""
    return title, f"grey: the log, blue: the target{rare}{more}"
