"""Tree: the conditions by which a learnt policy decides, from the left to the actions at the right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.base import messages
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import Picture
from counterfold.report.policy_parts import Place, explain_no_tree, find_policy, lay_out, name_actions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.62
"""How many inches a leaf has."""

LETTERS = 84
"""How many characters all columns of nodes have together, in a figure of the usual width."""


@dataclass(frozen=True)
class Tree(Picture):
    """A box for each condition and for each action, with the share of the rows that come there."""

    kinds = (Policy, Learned)
    shows_answer = False

    def find_gap(self, result: Policy | Learned) -> str | None:
        return explain_no_tree(find_policy(result))

    def find_height(self, result: Policy | Learned) -> float:
        return 1.1 + LINE * sum(one.is_leaf for one in list_places(result))

    def draw(self, result: Policy | Learned, ax: "Axes") -> None:
        places = list_places(result)
        actions = name_actions(places)
        colours = dict(zip(actions, drawing.SERIES, strict=False))
        deepest = max(one.depth for one in places)
        ax.set_axis_off()
        ax.set_xlim(-0.5, deepest + 0.5)
        ax.set_ylim(max(one.line for one in places) + 0.5, -0.5)
        for one in places:
            if one.above is not None:
                draw_link(ax, one)
            draw_node(ax, one, colours, LETTERS // (deepest + 1))
        count = len(places) - sum(one.is_leaf for one in places)
        title = f"{count} condition{'s' * (count != 1)} for {len(actions)} action{'s' * (len(actions) != 1)}"
        note = "percentages: how many rows of the log come there"
        drawing.set_titles(ax, title if count else f"Always {drawing.write(actions[0])}", note)


def list_places(result: Policy | Learned) -> list[Place]:
    """Return where nodes are drawn."""
    tree = find_policy(result).tree
    return [] if tree is None else lay_out(tree)


def draw_link(ax: "Axes", one: Place) -> None:
    """Draw the way to a node, with the answer that leads there."""
    above = one.line if one.above is None else one.above
    ax.plot([one.depth - 1, one.depth], [above, one.line], color=drawing.LOG, linewidth=1, zorder=1, gid="link")
    frame: Any = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1.5}
    at = one.depth - 0.5, (above + one.line) / 2
    ax.text(*at, one.answer, ha="center", va="center", bbox=frame, fontsize=drawing.TEXT - 0.5, color=drawing.LOG)


def draw_node(ax: "Axes", one: Place, colours: Mapping[str, str], letters: int) -> None:
    """Draw a condition or an action, and below it how many rows come there."""
    colour = colours.get(one.node.words, drawing.LOG) if one.is_leaf else drawing.LOG
    frame: Any = {"boxstyle": "round,pad=0.45", "facecolor": ax.get_facecolor(), "edgecolor": colour}
    frame |= {"linewidth": 2.0 if one.is_leaf else 0.8}
    words = messages.cut(one.node.words, letters).replace("$", r"\$")
    text = f"{words}\n{drawing.percent(one.node.share)}"
    weight = "bold" if one.is_leaf else "normal"
    gid = "action" if one.is_leaf else "condition"
    ax.text(
        one.depth, one.line, text, ha="center", va="center", bbox=frame, fontsize=drawing.TEXT, weight=weight, gid=gid
    )
