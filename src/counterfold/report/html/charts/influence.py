"""Influence: the rows that carry the answer, and what would be left without them."""

import altair as alt

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Table, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

WITHOUT_COLUMNS = {
    "place": ("Rows left out", formats.count),
    "without": ("Value", formats.value),
}

WITHOUT_HINT = base.hint(place=("rows left out", base.COUNT), without=("value without them", base.NUMBER))

ROWS_COLUMNS = {
    "row": ("Row of the log", formats.count),
    "action": ("Action", formats.text),
    "reward": ("Reward", formats.setting),
    "propensity": ("Propensity", formats.setting),
    "weight": ("Weight", formats.setting),
    "share": ("Share of all influence", formats.percent),
}


def draw_without(case: Case) -> Figure | None:
    """Return what SNIPS says without the most influential row, without two of them, and so on."""
    shown, answered = case.exhibits.get("influence"), case.shown_answer
    if shown is None or answered is None:
        return None
    result = answered.evaluation
    lines = [{"place": 0, "without": shown.facts["snips"]}]
    lines += [{"place": place, "without": line["without"]} for place, line in enumerate(shown.lines, 1)]
    plot = alt.Chart(base.hold(lines)).encode(
        alt.X("place:O", title="rows left out, the most influential first", axis=alt.Axis(labelAngle=0, grid=False)),
        alt.Y(**base.number("without", "reward per decision")),
        tooltip=WITHOUT_HINT,
    )
    ends = base.hold([{"low": result.interval.low, "high": result.interval.high}])
    band = alt.Chart(ends).mark_rect(color=base.TARGET, opacity=0.12).encode(y="low:Q", y2="high:Q")
    chart = alt.layer(band, plot.mark_line(color=base.TARGET), plot.mark_point(color=base.TARGET, filled=True, size=60))
    error = result.stderr
    return Figure(
        "The answer without the rows that carry it",
        "If leaving out a handful of rows moves the dots out of the band, which is the interval of the answer, then "
        "those rows are the answer: look at them one by one. The dots are a plain weighted mean (SNIPS).",
        f"Value without up to {len(lines) - 1} rows, from {formats.value(lines[0]['without'], error)} with all rows.",
        [base.make_panel(base.size(chart, 200))],
        tabulate("Value without the most influential rows", lines, WITHOUT_COLUMNS, error),
    )


def list_rows(case: Case) -> Table | None:
    """Return the rows that carry the answer."""
    shown = case.exhibits.get("influence")
    if shown is None:
        return None
    return tabulate("The rows that carry the answer", shown.lines, ROWS_COLUMNS)
