"""Contenders: how much more than the log each learned policy would have earned, and what may be told of the best."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import PolicyFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate

if TYPE_CHECKING:
    from counterfold.learning.result import Learned

KINDS = ("corrected", "by itself")
"""What the interval of the best, corrected for choosing, and those of the contenders are called."""

LONGEST_NAME = 34
"""The characters of a contender's name beside the chart."""

COLUMNS = {
    "name": ("Contender", formats.text),
    "value": ("Difference", formats.signed),
    "low": ("From", formats.signed),
    "high": ("To", formats.signed),
    "earned": ("Reward per decision", formats.value),
    "verdict": ("Verdict on the log", formats.words),
    "folds": ("Chosen in folds", formats.count),
}


@dataclass(frozen=True)
class Contenders(PolicyFigure):
    """A line for each contender, as if it were the only one, below the one that is corrected for choosing."""

    draws_policies: ClassVar[bool] = False

    def find_gap(self, result: Any) -> str | None:
        from counterfold.report.policy_parts import rank_contenders

        return None if rank_contenders(result) else "the log cannot answer for any contender"

    def draw(self, subject: "Learned") -> Drawing | None:
        """Return the differences of all contenders that the log can answer for."""
        from counterfold.report.policy_parts import rank_contenders

        ranked = rank_contenders(subject)
        if not ranked:
            return None
        corrected = list_corrected(subject)
        alone = [{**describe(line), "who": KINDS[1]} for line in ranked]
        drawn = [*corrected, *alone][: charts.MAX_NAMED_LINES]
        names = charts.tell_apart([line["name"] for line in drawn], LONGEST_NAME)
        chart = draw_differences([{**line, "name": name} for line, name in zip(drawn, names, strict=True)])
        error = min((line.high - line.low) / 4 for line in ranked)
        ahead = sum(line.low > 0 for line in ranked)
        return Drawing(
            title="How much more than today each contender earns",
            reading="Each contender decides in rows that it was not learnt from. Of several, the one that looks best "
            "is partly lucky: its own bar is too good on average. The first bar is corrected for that: it is the one "
            "to tell others.",
            sentence=f"Differences to today: of {len(ranked)} contenders, {ahead} earn more by their own intervals.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Contenders", [*corrected, *map(describe, subject.table)], COLUMNS, error),
        )


def list_corrected(learned: "Learned") -> list[dict[str, Any]]:
    """Return the line of the difference that may be told, if the log can answer for it."""
    from counterfold.report.policy_parts import TOLD

    attempt = learned.attempt
    if not attempt.answerable:
        return []
    gap = attempt.uplift()
    low, high = gap.interval()
    line = {
        "name": TOLD,
        "value": gap.value,
        "low": low,
        "high": high,
        "earned": attempt.value,
        "verdict": attempt.verdict,
        "who": KINDS[0],
    }
    return [line]


def describe(line: Any) -> dict[str, Any]:
    """Return a contender; its numbers are withheld if the log cannot answer for it."""
    described = {"name": line.contender, "verdict": line.verdict, "folds": line.folds}
    if line.verdict == "not answerable":
        return described
    return {**described, "value": line.gain, "low": line.low, "high": line.high, "earned": line.value}


def draw_differences(lines: Lines) -> Any:
    """Return the intervals of the contenders beside 0."""
    import altair as alt

    colour = charts.colour_by(KINDS, [charts.TARGET, charts.QUIET])
    intervals = charts.draw_intervals(lines, "difference to today, per decision", colour)
    chart = alt.layer(charts.draw_rule(0.0), intervals)
    return charts.size(chart, charts.ROW_HEIGHT * max(len(lines), 2))
