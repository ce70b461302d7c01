"""Calibration by action: what the reward model predicts where an action was logged, and what it earned."""

from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures._calibration import compare_bins, predict_rows
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

MOST_ACTIONS = 1000
"""With more actions than this, none is listed."""

KINDS = ("observed", "predicted")
"""What the dot and the diamond of an action are called."""

HINT: charts.Hint = {
    "name": ("action", charts.TEXT),
    "observed": ("observed", charts.NUMBER),
    "low": ("from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
    "predicted": ("predicted", charts.NUMBER),
    "rows": ("rows", charts.COUNT),
}

COLUMNS = {
    "name": ("Action", formats.text),
    "rows": ("Rows", formats.count),
    "predicted": ("Predicted", formats.setting),
    "observed": ("Observed", formats.setting),
    "low": ("From", formats.setting),
    "high": ("To", formats.setting),
}


@dataclass(frozen=True)
class ActionCalibration(CaseFigure):
    """A line for each action: the mean predicted and observed reward where the target takes it, by weights."""

    shows_answer: ClassVar[bool] = False
    table_name: ClassVar[str | None] = "action-calibration"
    absence: ClassVar[str] = "there is no reward model"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = predict_rows(evidence, answer)
        if rows is None or rows.kind == "doses" or len(rows.labels) > MOST_ACTIONS:
            return None
        names = [str(label) for label in rows.labels]
        lines = compare_bins(rows, rows.actions, names, answer.estimate.level)
        return Shown(sorted(lines, key=lambda line: -line["rows"]), {})

    def find_gap(self, result: Any) -> str | None:
        if self.name in result.exhibits:
            return None
        if "calibration" in result.exhibits:
            return "actions are doses; the picture `calibration` shows all of them"
        return self.absence

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None:
            return None
        names = charts.tell_apart([line["name"] for line in shown.lines])
        lines = [
            {**line, "name": name, "value": line["observed"]} for line, name in zip(shown.lines, names, strict=True)
        ]
        drawn = lines[: charts.MAX_NAMED_LINES]
        rest = f" The table has all {len(lines)} actions." if len(lines) > len(drawn) else ""
        chart = charts.size(draw_actions(drawn), charts.LOW_ROW_HEIGHT * len(drawn))
        return Drawing(
            title="Reward model by action",
            reading="The diamond should lie within the bar. Where it does not, the model is wrong about that action "
            f"where {case.called} takes it.{rest}",
            sentence=f"Predicted and observed rewards of {len(drawn)} actions.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Calibration by action", lines, COLUMNS),
        )


def draw_actions(lines: Lines) -> Any:
    """Return a dot with an interval for what was observed of each action, and a diamond for what was predicted."""
    import altair as alt

    colour = charts.colour_by(KINDS, [charts.LOG, charts.TARGET])
    shape = alt.Shape("who:N", scale=alt.Scale(domain=KINDS, range=["circle", "diamond"]), title=None)
    bars = charts.draw_intervals([{**line, "who": "observed"} for line in lines], "reward", colour)
    both = [{**line, "who": kind, "value": line[kind]} for kind in KINDS for line in lines]
    plot = charts.make_chart(both).encode(alt.Y("name:N", sort=None), alt.X("value:Q"))
    dots = plot.mark_point(filled=True, size=100, opacity=1).encode(shape, colour)
    return alt.layer(bars, dots, charts.draw_hints(plot, HINT))
