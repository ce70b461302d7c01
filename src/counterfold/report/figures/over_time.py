"""Over time: what the target would have earned in each period, and what the log did."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Evaluation
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, Writer, tabulate
from counterfold.report.html.cases import Case

FEWEST_PERIODS = 2
"""The page has no chart of fewer periods."""

HINT: charts.Hint = {
    "start": ("from", charts.TEXT),
    "who": ("of", charts.TEXT),
    "value": ("value", charts.NUMBER),
    "low": ("from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
    "rows": ("rows", charts.COUNT),
}

COLUMNS: Mapping[str, tuple[str, Writer]] = {"start": ("From", formats.text), "rows": ("Rows", formats.count)}

DIFFERENCE_COLUMNS: Mapping[str, tuple[str, Writer]] = {
    **COLUMNS,
    "difference": ("Difference", formats.signed),
    "low": ("From", formats.signed),
    "high": ("To", formats.signed),
}


@dataclass(frozen=True)
class OverTime(CaseFigure):
    """A line for the target and one for the log, each with two standard errors to both sides.

    `result.by(PERIOD)` chooses another period before.
    """

    kinds: ClassVar[tuple[type, ...]] = (Evaluation, Diagnostics)

    def find_gap(self, result: Any) -> str | None:
        return None if result.over_time() else "the log has no `time`"

    def draw_case(self, case: Case) -> Drawing | None:
        history = case.diagnostics.history
        if history is None or not case.is_answerable:
            return None
        today, target = charts.name_both(case)
        lines = [asdict(period) for period in history.table]
        dots = [describe(line, target, line["value"], line["stderr"]) for line in lines]
        dots += [describe(line, today, line["logged"], line["logged_stderr"]) for line in lines]
        chart = charts.size(draw_lines(dots, [today, target], history.used_period), 220)
        error = min((line["stderr"] for line in lines if line["stderr"] > 0), default=0.0)
        columns = {
            **COLUMNS,
            "value": (target, formats.value),
            "logged": (today, formats.value),
            "stderr": (f"Std. error of {target}", formats.value),
            "logged_stderr": (f"Std. error of {today}", formats.value),
        }
        return Drawing(
            title="Value over time",
            reading="If the lines change their distance, an average over the whole log says little about the future. "
            f"Bands are two standard errors to both sides, of {case.called} by {history.estimator}; those of short "
            "periods are not taken for smaller than all rows together allow.",
            sentence=f"Value of {case.called} and of {today} in {len(lines)} periods, each a {history.used_period}.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Value over time", lines, columns, error),
        )

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the chart of several periods."""
        history = case.diagnostics.history
        return None if history is None or len(history.table) < FEWEST_PERIODS else self.draw_case(case)

    def draw_difference(self, case: Case) -> Drawing | None:
        """Return the difference to the baseline over time, with its intervals."""
        answered = case.shown_answer
        if answered is None or not answered.is_known or answered.is_same:
            return None
        changes = answered.compared.over_time().get(case.target)
        if changes is None or len(changes.table) < FEWEST_PERIODS:
            return None
        target = charts.name_both(case)[1]
        lines = [{**asdict(line), "who": target, "value": line.difference} for line in changes.table]
        error = min((line.stderr for line in changes.table if line.stderr > 0), default=0.0)
        level = f"{100 * answered.evaluation.level:g} %"
        chance = ""
        if changes.p is not None:
            chance = f" If nothing changed, chance would let it differ so with p = {changes.p:.2g}."
        return Drawing(
            title="Difference over time",
            reading=f"How much more {case.called} would have earned than {answered.baseline} in each {changes.period}, "
            f"by {changes.estimator}, with intervals of {level} each, of paired differences.{chance}",
            sentence=f"Difference of {case.called} to {answered.baseline} in {len(lines)} periods, each a "
            f"{changes.period}.",
            panels=[charts.make_panel(charts.size(draw_gaps(lines, changes.period), 200))],
            table=tabulate("Difference over time", lines, DIFFERENCE_COLUMNS, error),
        )


def describe(line: Mapping[str, Any], who: str, value: float, stderr: float) -> dict[str, Any]:
    """Return a dot of a line, with the ends of its band."""
    return {
        "start": line["start"],
        "rows": line["rows"],
        "who": who,
        "value": value,
        "low": value - 2 * stderr,
        "high": value + 2 * stderr,
    }


def make_time_axis(period: str) -> Any:
    """Return the axis of periods."""
    import altair as alt

    axis = alt.Axis(title=f"{period} from", labelAngle=0, labelOverlap="greedy", grid=False)
    return alt.X("start:N", axis=axis, sort=None)


def draw_lines(dots: Lines, names: Sequence[str], period: str) -> Any:
    """Return two lines with their bands."""
    import altair as alt

    colour = charts.colour_by(names, [charts.LOG, charts.TARGET])
    plot = charts.make_chart(dots).encode(make_time_axis(period), colour)
    height = alt.Y(**charts.number("value", "reward per decision"))
    band = plot.mark_area(opacity=0.16).encode(y=alt.Y("low:Q", stack=None), y2="high:Q")
    marks = plot.mark_point(filled=True, size=45, opacity=1).encode(height)
    return alt.layer(band, plot.mark_line().encode(height), marks, charts.draw_hints(plot, HINT, y=height))


def draw_gaps(lines: Lines, period: str) -> Any:
    """Return a line with its band, beside 0."""
    import altair as alt

    plot = charts.make_chart(lines).encode(make_time_axis(period))
    height = alt.Y(**charts.number("value", "difference per decision"))
    band = plot.mark_area(opacity=0.16, color=charts.TARGET).encode(y=alt.Y("low:Q", stack=None), y2="high:Q")
    line = plot.mark_line(color=charts.TARGET).encode(height)
    marks = plot.mark_point(filled=True, size=45, opacity=1, color=charts.TARGET).encode(height)
    rule = charts.draw_rule(0.0, is_vertical=False, colour=charts.LOG)
    return alt.layer(rule, band, line, marks, charts.draw_hints(plot, HINT, y=height))
