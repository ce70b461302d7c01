"""Learnt policies: contenders and their differences to the log, and the columns that matter."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.charts import base
from counterfold.report.policy_parts import TOLD, find_policy, rank_columns, rank_contenders

CONTENDERS_COLUMNS = {
    "name": ("Contender", formats.text),
    "value": ("Difference", formats.signed),
    "low": ("From", formats.signed),
    "high": ("To", formats.signed),
    "earned": ("Reward per decision", formats.value),
    "verdict": ("Verdict on the log", formats.words),
    "folds": ("Chosen in folds", formats.count),
}

IMPORTANCE_COLUMNS = {"name": ("Column", formats.words), "share": ("Importance", formats.percent)}


def draw_contenders(found: Learned) -> Figure | None:
    """Return the differences of all contenders that the log can answer for, below the one that may be told."""
    known = rank_contenders(found)
    if not known:
        return None
    kinds = ["corrected", "by itself"]
    drawn = [*list_told(found, kinds[0]), *({**describe(line), "who": kinds[1]} for line in known)][: base.MOST]
    names = base.tell_apart([line["name"] for line in drawn], 34)
    drawn = [line | {"name": name} for line, name in zip(drawn, names, strict=True)]
    error = min((line.high - line.low) / 4 for line in known)
    colour = base.by_who(kinds, [base.TARGET, base.QUIET])
    pictured = base.draw_intervals(drawn, "difference to today, per decision", colour)
    chart = base.size(alt.layer(base.draw_rule(0.0), pictured), base.ROW * max(len(drawn), 2))
    ahead = sum(line.low > 0 for line in known)
    return Figure(
        "How much more than today each contender earns",
        "Each contender decides in rows that it was not learnt from. Of several, the one that looks best is partly "
        "lucky: its own bar is too good on average. The first bar is corrected for that: it is the one to tell others.",
        f"Differences to today: of {len(known)} contenders, {ahead} earn more by their own intervals.",
        [base.make_panel(chart)],
        tabulate("Contenders", [*list_told(found, ""), *map(describe, found.table)], CONTENDERS_COLUMNS, error),
    )


def list_told(found: Learned, kind: str) -> list[dict[str, Any]]:
    """Return the line of the difference that may be told, if the log can answer for it."""
    if not found.attempt.answerable:
        return []
    gap = found.attempt.uplift()
    low, high = gap.interval()
    numbers = {"value": gap.value, "low": low, "high": high, "earned": found.attempt.value}
    return [{"name": TOLD, **numbers, "verdict": found.attempt.verdict, "who": kind}]


def describe(line: Any) -> dict[str, Any]:
    """Return a contender; its numbers are withheld if the log cannot answer for it."""
    told = {"name": line.contender, "verdict": line.verdict, "folds": line.folds}
    if line.verdict == "not answerable":
        return told
    return told | {"value": line.gain, "low": line.low, "high": line.high, "earned": line.value}


def draw_importance(result: Learned | Policy) -> Figure | None:
    """Return a bar for each column that matters to what a policy does, if it tells."""
    ranked = rank_columns(find_policy(result))
    if not ranked:
        return None
    lines = [{"name": name, "share": share} for name, share in ranked]
    table = tabulate("Columns", lines, IMPORTANCE_COLUMNS)
    names = base.tell_apart([name for name, _ in ranked[: base.MOST]])
    drawn = [{"name": name, "share": share} for name, (_, share) in zip(names, ranked, strict=False)]
    return Figure(
        "What the policy looks at",
        "The longer the bar, the more the column tells actions apart. A column that is not here changes nothing.",
        f"Importance of {len(ranked)} columns; {ranked[0][0]} matters most, with {formats.share(ranked[0][1])}.",
        [base.make_panel(draw_bars(drawn))],
        table,
    )


def draw_bars(lines: Sequence[dict[str, Any]]) -> Any:
    """Return a bar for each line (`name`, `share`)."""
    names = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(grid=False, ticks=False, domain=False))
    across = alt.X("share:Q", title="importance", axis=alt.Axis(format="~%", tickCount=4))
    told = base.hint(name=("column", base.TEXT), share=("importance", base.SHARE))
    bars = alt.Chart(base.hold(lines)).mark_bar(color=base.TARGET, height={"band": 0.6}, tooltip=True)
    return base.size(bars.encode(names, across, tooltip=told), base.ROW * max(len(lines), 2))
