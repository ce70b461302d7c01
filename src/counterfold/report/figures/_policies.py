"""What charts with a line for each policy have in common."""

from collections.abc import Callable, Sequence

from counterfold.report.figures import _charts as charts
from counterfold.report.html.blocks import Lines
from counterfold.report.html.cases import Case

HEIGHT = 1.4 * charts.ROW_HEIGHT
"""How many pixels a policy has; of many, each has but a line."""

MANY_POLICIES = 10
"""So many policies are many."""


def find_height(lines: Lines) -> float:
    """Return how high a chart with a line for each policy is."""
    return (charts.ROW_HEIGHT * 0.7 if len(lines) > MANY_POLICIES else HEIGHT) * len(lines)


def tell_rest(lines: Lines) -> str:
    """Return that a chart has only the first lines, if so."""
    return f" The table has all {len(lines)}." if len(lines) > charts.MAX_NAMED_LINES else ""


def spell_out(lines: Lines, write: Callable[[float, float], str], error: float) -> str:
    """Return values and intervals as a sentence."""
    spelled = []
    for line in lines:
        value, low, high = (write(line[end], error) for end in ("value", "low", "high"))
        spelled.append(f"{line['name']}: {value}, from {low} to {high}")
    return "; ".join(spelled) + "."


def name_withheld(cases: Sequence[Case]) -> str:
    """Return which targets are not drawn because the log cannot answer for them."""
    if not cases:
        return ""
    names = ", ".join(charts.tell_apart([case.target for case in cases]))
    return f"Withheld, because the log cannot answer: {names}."
