"""Influence: the rows that carry the answer, and what it would be without them."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, ClassVar, NamedTuple

import numpy as np

from counterfold.base.arrays import Ints, bound_largest
from counterfold.diagnostics import Diagnostics
from counterfold.estimators.rows import Rows
from counterfold.evaluation import Evaluation
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import TEN, Answered, Line, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import cases, formats
from counterfold.report.html.blocks import Drawing, Lines, Table, tabulate
from counterfold.report.html.cases import Case

NOTHING_LEFT = 1e-9
"""What is left of all weight, if it is less than this share, is a rounding error."""

LEAST_REACH = 0.25
"""The axis of values reaches at least this share of the first one to both sides, so that small changes look small."""

WITHOUT_HINT: charts.Hint = {
    "place": ("rows left out", charts.COUNT),
    "without": ("value without them", charts.NUMBER),
}

SHARES_HINT: charts.Hint = {
    "name": ("row", charts.TEXT),
    "share": ("share of all influence", charts.SHARE),
    "reward": ("reward", charts.NUMBER),
    "weight": ("weight", charts.NUMBER),
    "propensity": ("propensity", charts.NUMBER),
}

WITHOUT_COLUMNS = {
    "place": ("Rows left out", formats.count),
    "without": ("Value", formats.value),
}

ROWS_COLUMNS = {
    "row": ("Row (from 0)", formats.count),
    "share": ("Share of all influence", formats.percent),
    "action": ("Action", formats.text),
    "reward": ("Reward", formats.setting),
    "weight": ("Weight", formats.setting),
    "propensity": ("Propensity", formats.setting),
}


class Mover(NamedTuple):
    """A row that moves the answer by `move`, and what is known of it.

    `place` is its number in the log, below 0, so that of equal moves the first one is the largest.
    """

    move: float
    place: int
    action: str
    reward: float
    propensity: float
    weight: float


@dataclass(frozen=True, eq=False)
class Movers:
    """The rows that move the answer most, and sums over all rows, which two summaries of different rows add up to."""

    top: tuple[Mover, ...]
    apart: float
    weight: float
    earned: float

    def __add__(self, other: "Movers") -> "Movers":
        return Movers(
            top=tuple(nlargest(TEN, self.top + other.top)),
            apart=self.apart + other.apart,
            weight=self.weight + other.weight,
            earned=self.earned + other.earned,
        )


@dataclass(frozen=True)
class Influence(CaseFigure):
    r"""The ten rows with the largest influence on SNIPS, $w_i |r_i - \hat V|$, where $\hat V$ is its value.

    So a row may be among them because it earned much, or because it earned nothing and counts for many. `share` is a
    row's share in the sum of these over all rows; `without` is what SNIPS says without that row and all above it. On a
    large log, $\hat V$ is that of a sample. The chart shows the values without one row, without two, and so on; where
    there is no answer, it shows the shares.
    """

    needs_answer: ClassVar[bool] = False
    shows_answer: ClassVar[bool] = False
    kinds: ClassVar[tuple[type, ...]] = (Evaluation, Diagnostics)
    table_name: ClassVar[str | None] = "influence"
    absence: ClassVar[str] = "every row of the target's has the usual reward, so that none moves the answer"

    def observe(self, rows: Rows) -> Movers:
        weights = rows.masses
        rewards = rows.rewards
        moves = weights * np.abs(rewards - rows.weighted_reward)
        large = np.flatnonzero((moves >= bound_largest(moves, TEN)) & (moves > 0))
        places = large[np.lexsort((rows.row_numbers[large], -moves[large]))][:TEN]
        columns = zip(
            moves[places].tolist(),
            (-rows.row_numbers[places]).tolist(),
            name_actions(rows, places),
            rewards[places].tolist(),
            rows.propensity[places].tolist(),
            weights[places].tolist(),
            strict=True,
        )
        return Movers(
            top=tuple(Mover(*one) for one in columns),
            apart=float(moves.sum()),
            weight=float(weights.sum()),
            earned=float(weights @ rewards),
        )

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        movers: Movers = evidence.observed[self.name]
        if not movers.apart:
            return None
        facts = {
            "snips": movers.earned / movers.weight,
            "share": sum(mover.move for mover in movers.top) / movers.apart,
        }
        return Shown(list_movers(movers), facts)

    def draw_case(self, case: Case) -> Drawing | None:
        """Return what SNIPS says without the first row, without two, and so on; only shares if there is no answer."""
        shown = case.exhibits.get(self.name)
        if shown is None:
            return None
        if case.shown_answer is None:
            return describe_shares(shown)
        return describe_values(shown, case.shown_answer)

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the values without rows, if there is an answer; the page has the rows themselves as a table."""
        return None if case.shown_answer is None else self.draw_case(case)

    def list_rows(self, case: Case) -> Table | None:
        """Return the rows that carry the answer."""
        shown = case.exhibits.get(self.name)
        return None if shown is None else tabulate("The rows that carry the answer", shown.lines, ROWS_COLUMNS)


def name_actions(rows: Rows, places: Ints) -> list[str]:
    """Return what some rows did: the labels of their actions, or their doses."""
    if rows.kind == "doses":
        return [f"{dose:.4g}" for dose in rows.dose[places].tolist()]
    return [str(rows.labels[code]) for code in rows.actions[places].tolist()]


def list_movers(movers: Movers) -> list[Line]:
    """Return a line for each row, with what SNIPS says without it and all above it."""
    lines: list[Line] = []
    weight = movers.weight
    earned = movers.earned
    for mover in movers.top:
        weight -= mover.weight
        earned -= mover.weight * mover.reward
        is_left = weight > NOTHING_LEFT * movers.weight
        lines.append(
            {
                "row": -mover.place,
                "action": mover.action,
                "reward": mover.reward,
                "propensity": mover.propensity,
                "weight": mover.weight,
                "share": mover.move / movers.apart,
                "without": earned / weight if is_left else None,
            }
        )
    return lines


def describe_values(shown: Shown, answered: cases.Answered) -> Drawing:
    """Return the values of SNIPS without the most influential rows."""
    values = [shown.facts["snips"], *(line["without"] for line in shown.lines)]
    lines = [{"place": place, "without": value} for place, value in enumerate(values) if value is not None]
    said = tell_values(lines, answered)
    chart = charts.size(draw_values(lines, answered.evaluation.logged.value), 200)
    return Drawing(
        title="The answer without the rows that carry it",
        reading=f"{said} If a handful of rows changes the answer much, then those rows are the answer: look at them "
        f"one by one. Dots are a plain weighted mean (SNIPS); the dashed line is what {answered.earned}.",
        sentence=f"Value without up to {len(lines) - 1} rows. {said}",
        panels=[charts.make_panel(chart)],
        table=tabulate("Value without the most influential rows", lines, WITHOUT_COLUMNS, answered.error),
    )


def tell_values(lines: Lines, answered: cases.Answered) -> str:
    """Return the value with all rows, without the first one, and without all that are shown; and what today earns."""
    ends = [lines[1], lines[-1]] if len(lines) > 2 else lines[1:]
    without = [
        f"without {line['place']} row{'s' if line['place'] > 1 else ''} {answered.write(line['without'])}"
        for line in ends
    ]
    today = f"{answered.earned} {answered.write(answered.evaluation.logged.value)}"
    return f"With all rows {answered.write(lines[0]['without'])}, {', '.join(without)}; {today}."


def draw_values(lines: Lines, today: float) -> Any:
    """Return the values as dots, beside what is earned today."""
    import altair as alt

    values = [line["without"] for line in lines]
    reach = LEAST_REACH * abs(values[0])
    low = min(*values, today, values[0] - reach)
    high = max(*values, today, values[0] + reach)
    axis = alt.Axis(labelAngle=0, grid=False)
    across = alt.X("place:O", title="rows left out, the most influential first", axis=axis)
    upwards = alt.Y(**charts.number("without", "reward per decision", domain=charts.widen(low, high)))
    plot = charts.make_chart(lines).encode(across, upwards)
    dots = plot.mark_point(color=charts.TARGET, filled=True, size=70, opacity=1)
    rule = charts.draw_rule(today, is_vertical=False, colour=charts.LOG)
    return alt.layer(rule, plot.mark_line(color=charts.TARGET), dots, charts.draw_hints(plot, WITHOUT_HINT))


def describe_shares(shown: Shown) -> Drawing:
    """Return the share of each row in what would move an answer."""
    names = charts.tell_apart([f"row {line['row']}: {line['action']}" for line in shown.lines])
    lines = [{**line, "name": name} for line, name in zip(shown.lines, names, strict=True)]
    share = formats.percent(shown.facts["share"])
    chart = charts.size(draw_bars(lines), charts.ROW_HEIGHT * max(len(lines), 2))
    return Drawing(
        title="The rows with the largest influence",
        reading="The longer the bar, the larger the part of the row in all that moves a plain weighted mean (SNIPS). "
        "If a few rows make most of it, look at them one by one.",
        sentence=f"Shares of {len(lines)} rows, which make {share} of all influence.",
        panels=[charts.make_panel(chart)],
        table=tabulate("The rows that carry the answer", shown.lines, ROWS_COLUMNS),
    )


def draw_bars(lines: Sequence[Line]) -> Any:
    """Return a bar for each row."""
    import altair as alt

    axis = alt.Axis(format="~%", tickCount=4)
    across = alt.X("share:Q", title="share of all influence", axis=axis)
    bars = charts.make_chart(lines).mark_bar(color=charts.TARGET, height={"band": 0.6}, tooltip=True)
    return bars.encode(charts.name_axis("name"), across, tooltip=charts.list_hints(SHARES_HINT))
