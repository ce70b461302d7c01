"""Importance: how much each column of the context matters to what a learnt policy does."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import MOST_LINES, Picture, stack_lines
from counterfold.report.policy_parts import find_policy, rank_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Importance(Picture):
    """A bar for each column that matters, of all numbers that it became."""

    kinds = (Policy, Learned)
    shows_answer = False

    def find_gap(self, result: Policy | Learned) -> str | None:
        known = rank_columns(find_policy(result))
        return None if known else "no column matters to the policy, or it does not tell which do"

    def find_height(self, result: Policy | Learned) -> float:
        return stack_lines(rank_columns(find_policy(result))[:MOST_LINES])

    def draw(self, result: Policy | Learned, ax: "Axes") -> None:
        ranked = rank_columns(find_policy(result))
        shown = ranked[:MOST_LINES]
        drawing.tidy(ax, "share of what tells actions apart, in percent", grid="x")
        drawing.name_lines(ax, [name for name, _ in shown])
        ax.set_xlim(0, 112 * shown[0][1])
        for place, (_, share) in enumerate(shown):
            ax.barh(place, 100 * share, height=0.6, color=drawing.TARGET, gid="importance")
            drawing.write_at(ax, drawing.percent(share), (100 * share, place), (4, 0), drawing.LOG)
        rest = len(ranked) - len(shown)
        more = f", and {rest} more matter less" if rest else ""
        drawing.set_titles(ax, f"{drawing.write(shown[0][0])} matters most{more}", "a column of text is one bar")
