"""Tree: the conditions by which a learnt policy decides, as boxes from the left to the actions at the right."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from counterfold.base import messages
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Panel, tabulate
from counterfold.report.html.charts import base
from counterfold.report.policy_parts import Place, explain_no_tree, find_policy, lay_out, name_actions

COLUMNS = {
    "where": ("Where", formats.words),
    "action": ("Take", formats.words),
    "share": ("Share of the rows", formats.percent),
}

COLOURS = (base.TARGET, base.WARNING, base.OTHER, base.LOG)
"""The colours of the boxes of actions, in turn."""

CARD, MUTED = "var(--card)", "var(--muted)"
"""The colours of what is behind texts, and of texts that matter less."""

LINE, WIDTH, HEIGHT = 62, 0.74, 0.7
"""The pixels of a leaf, and how much of its column and of its line a box takes."""

LETTERS = 24
"""How many characters of a node are shown; its middle is left out if it has more, so that thresholds are seen."""

AXES: dict[str, Any] = {"axis": None}


def draw_tree(result: Learned | Policy) -> Figure | None:
    """Return the conditions by which a policy decides, if it is a tree."""
    policy = find_policy(result)
    tree = policy.tree
    if tree is None or explain_no_tree(policy) is not None:
        return None
    places, rules = lay_out(tree), [(" and ".join(rule) or "always", leaf) for rule, leaf in tree.list_rules()]
    told = "; ".join(f"{where}: {leaf.words} ({formats.share(leaf.share)})" for where, leaf in rules)
    lines = [{"where": where, "action": leaf.words, "share": leaf.share} for where, leaf in rules]
    columns = 1 + max(one.depth for one in places)
    return Figure(
        "How the policy decides",
        "Start at the left, and follow the answers to the action that is taken. Percentages say how many rows of the "
        "log come there.",
        f"A tree of conditions and actions. {told}.",
        [Panel("", base.make_panel(draw_nodes(places, columns)).spec, columns)],
        tabulate("Rules", lines, COLUMNS),
    )


def draw_nodes(places: Sequence[Place], columns: int) -> Any:
    """Return a box for each node, its texts, and lines between them with the answers."""
    lowest = max(one.line for one in places)
    across = alt.Scale(domain=[-0.5, columns - 0.5], nice=False, zero=False)
    down = alt.Scale(domain=[-0.5, lowest + 0.5], nice=False, zero=False, reverse=True)

    def put(x: str, y: str, **others: str) -> dict[str, Any]:
        return {"x": alt.X(f"{x}:Q", scale=across, **AXES), "y": alt.Y(f"{y}:Q", scale=down, **AXES), **others}

    lines = [describe(one) for one in places]
    nodes, links = (alt.Chart(base.hold(several)) for several in (lines, [one for one in lines if one["answer"]]))
    ways = links.mark_rule(color=base.QUIET, strokeWidth=1.5).encode(
        **put("before", "above", x2="depth:Q", y2="line:Q")
    )
    boxes = draw_boxes(nodes, name_actions(places)).encode(**put("left", "top", x2="right:Q", y2="below:Q"))
    room = alt.expr(f"{0.94 * WIDTH} * width / {columns}")
    words = write(nodes, "words", base.STRONG, -8, fontWeight=600, limit=room).encode(**put("depth", "line"))
    parts = write(nodes, "part", MUTED, 9).encode(**put("depth", "line"))
    answers = write(links, "answer", MUTED, 0, stroke=CARD, strokeWidth=4, strokeJoin="round")
    texts = [one.encode(**put("middle", "between")) for one in (answers, write(links, "answer", MUTED, 0))]
    return base.size(alt.layer(ways, *texts, boxes, words, parts), LINE * (lowest + 1))


def draw_boxes(nodes: Any, actions: Sequence[str]) -> Any:
    """Return the boxes of nodes; those of actions have a colour each."""
    colours = [base.QUIET, *(COLOURS[number % len(COLOURS)] for number in range(len(actions)))]
    stroke = alt.Stroke("kind:N", scale=alt.Scale(domain=["", *actions], range=colours), legend=None)
    hints = base.hint(full=("node", base.TEXT), share=("rows", base.SHARE))
    boxes = nodes.mark_rect(cornerRadius=8, fill=CARD, fillOpacity=1, strokeWidth=2)
    return boxes.encode(stroke=stroke, tooltip=hints)


def write(chart: Any, field: str, colour: str, shift: int, **look: Any) -> Any:
    """Return texts of one field, so many pixels below the middle of their places."""
    return chart.mark_text(align="center", baseline="middle", color=colour, dy=shift, **look).encode(text=f"{field}:N")


def describe(one: Place) -> dict[str, Any]:
    """Return where a node, its box and the line that leads to it are drawn, and what stands there."""
    words, share = one.node.words, one.node.share
    told = {
        "words": messages.cut(words, LETTERS),
        "full": words,
        "share": share,
        "part": formats.share(share),
        "answer": one.answer,
    }
    box = {"left": one.depth - WIDTH / 2, "right": one.depth + WIDTH / 2}
    box |= {"top": one.line - HEIGHT / 2, "below": one.line + HEIGHT / 2}
    above = one.line if one.above is None else one.above
    link = {"before": one.depth - 1, "above": above, "middle": one.depth - 0.5, "between": (above + one.line) / 2}
    return {"depth": one.depth, "line": one.line, "kind": words if one.is_leaf else "", **told, **box, **link}
