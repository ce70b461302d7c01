"""Tree: the conditions by which a learned policy decides, as boxes from the left to the actions at the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.base import messages
from counterfold.policies.learned.policy import Policy
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import PolicyFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate

if TYPE_CHECKING:
    from counterfold.learning.result import Learned
    from counterfold.report.policy_parts import Place

COLOURS = (charts.TARGET, charts.WARNING, charts.OTHER, charts.LOG)
"""The colours of the boxes of actions, in turn."""

LEAF_HEIGHT = 62
"""The pixels of a leaf."""

BOX_WIDTH, BOX_HEIGHT = 0.74, 0.7
"""How much of its column and of its line a box takes."""

LONGEST_WORDS = 24
"""How many characters of a node are shown; its middle is left out if it has more, so that thresholds are seen."""

HINT: charts.Hint = {"full": ("node", charts.TEXT), "share": ("rows", charts.SHARE)}

COLUMNS = {
    "where": ("Where", formats.words),
    "action": ("Take", formats.words),
    "share": ("Share of the rows", formats.percent),
}


@dataclass(frozen=True)
class Tree(PolicyFigure):
    """A box for each condition and for each action, with the share of the rows that come there."""

    def find_gap(self, result: Any) -> str | None:
        from counterfold.report.policy_parts import explain_no_tree, find_policy

        return explain_no_tree(find_policy(result))

    def draw(self, subject: "Learned | Policy") -> Drawing | None:
        """Return the conditions by which a policy decides, if it is a tree."""
        from counterfold.report.policy_parts import explain_no_tree, find_policy, lay_out

        policy = find_policy(subject)
        tree = policy.tree
        if tree is None or explain_no_tree(policy) is not None:
            return None
        places = lay_out(tree)
        rules: list[dict[str, Any]] = [
            {"where": " and ".join(rule) or "always", "action": leaf.words, "share": leaf.share}
            for rule, leaf in tree.list_rules()
        ]
        spelled = "; ".join(f"{rule['where']}: {rule['action']} ({formats.share(rule['share'])})" for rule in rules)
        columns = 1 + max(place.depth for place in places)
        return Drawing(
            title="How the policy decides",
            reading="Start at the left, and follow the answers to the action that is taken. Percentages say how many "
            "rows of the log come there.",
            sentence=f"A tree of conditions and actions. {spelled}.",
            panels=[charts.make_panel(draw_nodes(places, columns), columns=columns)],
            table=tabulate("Rules", rules, COLUMNS),
        )


def draw_nodes(places: "Sequence[Place]", columns: int) -> Any:
    """Return a box for each node, its texts, and lines between them with the answers."""
    import altair as alt

    from counterfold.report.policy_parts import name_actions

    lowest = max(place.line for place in places)
    across = alt.Scale(domain=[-0.5, columns - 0.5], nice=False, zero=False)
    down = alt.Scale(domain=[-0.5, lowest + 0.5], nice=False, zero=False, reverse=True)
    no_axis: Any = {"axis": None}

    def put(x: str, y: str, **others: str) -> dict[str, Any]:
        return {"x": alt.X(f"{x}:Q", scale=across, **no_axis), "y": alt.Y(f"{y}:Q", scale=down, **no_axis), **others}

    lines = [describe(place) for place in places]
    nodes = charts.make_chart(lines)
    links = charts.make_chart([line for line in lines if line["answer"]])
    rules = links.mark_rule(color=charts.QUIET, strokeWidth=1.5)
    ways = rules.encode(**put("before", "above", x2="depth:Q", y2="line:Q"))
    boxes = draw_boxes(nodes, name_actions(places)).encode(**put("left", "top", x2="right:Q", y2="below:Q"))
    room = alt.expr(f"{0.94 * BOX_WIDTH} * width / {columns}")
    words = write(nodes, "words", charts.STRONG, -8, fontWeight=600, limit=room).encode(**put("depth", "line"))
    parts = write(nodes, "part", charts.MUTED, 9).encode(**put("depth", "line"))
    # Behind each answer is the same text with a thick outline, so that the line does not cross it.
    outline: Any = {"stroke": charts.CARD, "strokeWidth": 4, "strokeJoin": "round"}
    behind = write(links, "answer", charts.MUTED, 0, **outline).encode(**put("middle", "between"))
    answers = write(links, "answer", charts.MUTED, 0).encode(**put("middle", "between"))
    chart = alt.layer(ways, behind, answers, boxes, words, parts)
    return charts.size(chart, LEAF_HEIGHT * (lowest + 1))


def draw_boxes(nodes: Any, actions: Sequence[str]) -> Any:
    """Return the boxes of nodes; those of actions have a colour each."""
    import altair as alt

    colours = [charts.QUIET, *(COLOURS[number % len(COLOURS)] for number in range(len(actions)))]
    stroke = alt.Stroke("kind:N", scale=alt.Scale(domain=["", *actions], range=colours), legend=None)
    boxes = nodes.mark_rect(cornerRadius=8, fill=charts.CARD, fillOpacity=1, strokeWidth=2)
    return boxes.encode(stroke=stroke, tooltip=charts.list_hints(HINT))


def write(chart: Any, field: str, colour: str, shift: int, **look: Any) -> Any:
    """Return texts of one field, so many pixels below the middle of their places."""
    return chart.mark_text(align="center", baseline="middle", color=colour, dy=shift, **look).encode(text=f"{field}:N")


def describe(place: "Place") -> dict[str, Any]:
    """Return where a node, its box and the line that leads to it are drawn, and what stands there."""
    words = place.node.words
    share = place.node.share
    above = place.line if place.above is None else place.above
    return {
        "depth": place.depth,
        "line": place.line,
        "kind": words if place.is_leaf else "",
        "words": messages.cut(words, LONGEST_WORDS),
        "full": words,
        "share": share,
        "part": formats.share(share),
        "answer": place.answer,
        "left": place.depth - BOX_WIDTH / 2,
        "right": place.depth + BOX_WIDTH / 2,
        "top": place.line - BOX_HEIGHT / 2,
        "below": place.line + BOX_HEIGHT / 2,
        "before": place.depth - 1,
        "above": above,
        "middle": place.depth - 0.5,
        "between": (above + place.line) / 2,
    }
