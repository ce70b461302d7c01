"""Weights: how many rows have which weight, and how much of all weight they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.diagnostics import Diagnostics
from counterfold.estimators.rows import Rows
from counterfold.evaluation import Evaluation
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Line, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

LEAST_POWER, LARGEST_POWER, BINS_PER_DECADE = -6, 9, 10
"""Bins lie between these powers of ten, so many for each; what is outside falls into the bins at the ends."""

BINS = (LARGEST_POWER - LEAST_POWER) * BINS_PER_DECADE

NARROW = 1 / 3
"""A bin that has less than this part of its width on a logarithmic axis cannot be seen well."""

ROUNDING = 1e-6
"""Weights that differ by less, in relation to their size, are the same."""

ROWS, WEIGHT = "share of rows", "share of weight"
"""What the two bars of a bin are called."""

SUMMED = ("rows", "row_share", "weight_share")
"""What two bins that are joined have together; what is above them is that of the lower one."""

HINT: charts.Hint = {
    "low": ("weight from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
    "rows": ("rows", charts.COUNT),
    "row_share": (ROWS, charts.SHARE),
    "weight_share": (WEIGHT, charts.SHARE),
}

COLUMNS = {
    "low": ("Weight from", formats.setting),
    "high": ("To", formats.setting),
    "rows": ("Rows", formats.count),
    "row_share": ("Share of rows", formats.percent),
    "weight_share": ("Share of weight", formats.percent),
}


@dataclass(frozen=True, eq=False)
class Binned:
    """How many rows fall into each bin, and their weight, which two summaries of different rows add up to."""

    rows: Ints
    weight: Floats
    zero_rows: int
    largest: float

    def __add__(self, other: "Binned") -> "Binned":
        return Binned(
            rows=self.rows + other.rows,
            weight=self.weight + other.weight,
            zero_rows=self.zero_rows + other.zero_rows,
            largest=max(self.largest, other.largest),
        )


@dataclass(frozen=True)
class Weights(CaseFigure):
    r"""Bins of the weights $w_i = \pi(a_i \mid x_i) / \pi_0(a_i \mid x_i)$ on a logarithmic scale.

    A line has the `low` and `high` end of a bin, the number of `rows` in it, their shares of all rows (`row_share`) and
    of all weight (`weight_share`), and both shares of these rows and all with larger weights (`rows_above`,
    `weight_above`). The chart has two bars for each bin: the share of rows, and of their weight.
    """

    needs_answer: ClassVar[bool] = False
    shows_answer: ClassVar[bool] = False
    kinds: ClassVar[tuple[type, ...]] = (Evaluation, Diagnostics)
    table_name: ClassVar[str | None] = "weights"
    absence: ClassVar[str] = "there are no weights"

    def observe(self, rows: Rows) -> Binned:
        has_weight = rows.weights > 0
        powers = np.log10(rows.weights[has_weight])
        place = np.floor((powers - LEAST_POWER) * BINS_PER_DECADE).clip(0, BINS - 1).astype(np.intp)
        return Binned(
            rows=np.bincount(place, minlength=BINS),
            weight=np.bincount(place, rows.masses[has_weight], BINS).astype(np.float64),
            zero_rows=int(len(rows) - has_weight.sum()),
            largest=float(rows.weights.max(initial=0.0)),
        )

    def show(self, evidence: Evidence, answer: Answered) -> Shown:
        binned: Binned = evidence.observed[self.name]
        row_count = evidence.row_count
        total = float(binned.weight.sum())
        rows_above = binned.rows[::-1].cumsum()[::-1]
        weight_above = binned.weight[::-1].cumsum()[::-1]
        used = np.flatnonzero(binned.rows)
        lines = [
            {
                "low": 10.0 ** (LEAST_POWER + place / BINS_PER_DECADE),
                "high": 10.0 ** (LEAST_POWER + (place + 1) / BINS_PER_DECADE),
                "rows": int(binned.rows[place]),
                "row_share": float(binned.rows[place] / row_count),
                "weight_share": float(binned.weight[place] / total),
                "rows_above": float(rows_above[place] / row_count),
                "weight_above": float(weight_above[place] / total),
            }
            for place in (range(used[0], used[-1] + 1) if len(used) else ())
        ]
        facts = {
            "rows": row_count,
            "zero_rows": binned.zero_rows,
            "largest_weight": binned.largest,
            "mean_weight": total / evidence.decision_count,
            "effective_rows": evidence.effective_rows,
            "rows_with_half": find_half(lines),
        }
        return Shown(lines, facts)

    def find_gap(self, result: Any) -> str | None:
        shown = result.exhibits.get(self.name)
        return None if shown is not None and shown.lines else self.absence

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None or not shown.lines:
            return None
        facts = shown.facts
        bins = close_last(shown.lines, facts["largest_weight"])
        first = formats.setting(bins[0]["low"])
        last = formats.setting(bins[-1]["high"])
        return Drawing(
            title="How much single rows count",
            reading=f"A row counts more than once if {case.called} likes its action more than the old policy did. "
            "Good: the two bars of a pair are about as high. Bad: on the right, few rows (low grey bars) hold most of "
            f"the weight (high blue bars).{describe_zero(case, facts)}",
            sentence=f"Histogram of the weights, from {first} to {last}.",
            panels=[charts.make_panel(charts.size(draw_pairs(bins), 220))],
            table=tabulate("Weights", bins, COLUMNS),
        )

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the histogram; where all weights are equal, a sentence says so instead."""
        drawing = self.draw_case(case)
        if drawing is None or not are_equal(facts := case.exhibits[self.name].facts):
            return drawing
        return replace(drawing, reading=f"{describe_equal(facts)}{describe_zero(case, facts)}", panels=[])


def find_half(lines: Sequence[Line]) -> float | None:
    """Return how large a share of the rows, those with the largest weights, has half of all weight."""
    inside = [line for line in lines if line["weight_above"] >= 0.5]
    if not inside:
        return None
    last = inside[-1]
    part = (0.5 - (last["weight_above"] - last["weight_share"])) / last["weight_share"]
    return float(last["rows_above"] - last["row_share"] + part * last["row_share"])


def draw_pairs(bins: Lines) -> Any:
    """Return two bars beside each other for each bin: its share of rows, and of weight."""
    import altair as alt

    bars = []
    for place, (who, share) in enumerate(((ROWS, "row_share"), (WEIGHT, "weight_share"))):
        for line in bins:
            left, right = split(line["low"], line["high"])[place]
            bars.append({**line, "who": who, "part": line[share], "left": left, "right": right})
    across = alt.X(
        "left:Q",
        title="weight: how much a row counts (logarithmic)",
        scale=alt.Scale(type="log", nice=False, domain=[bins[0]["low"], bins[-1]["high"]]),
        axis=alt.Axis(format="~g", grid=False, tickCount=6, labelOverlap=True),
    )
    upwards = alt.Y("part:Q", title=None, axis=alt.Axis(format="%", tickCount=4), stack=None)
    colour = charts.colour_by([ROWS, WEIGHT], [charts.LOG, charts.TARGET])
    marks = charts.make_chart(bars).mark_bar(opacity=1)
    hints = charts.list_hints(HINT)
    return marks.encode(across, upwards, colour, x2="right:Q", y2=alt.datum(0), tooltip=hints)


def split(low: float, high: float) -> list[tuple[float, float]]:
    """Return where the two bars of a bin begin and end on a logarithmic axis, with a gap between bins."""
    span = high / low
    return [(low * span**0.06, low * span**0.49), (low * span**0.51, low * span**0.94)]


def close_last(lines: Lines, largest: float) -> list[dict[str, Any]]:
    """Return bins of which the last one ends at the largest weight, and joins the one before if it is narrow then.

    >>> bins = [{"low": 1.0, "high": 2.0, "rows": 5}, {"low": 2.0, "high": 4.0, "rows": 1}]
    >>> close_last(bins, 3.0)[-1], close_last(bins, 2.0)
    ({'low': 2.0, 'high': 3.0, 'rows': 1}, [{'low': 1.0, 'high': 2.0, 'rows': 6}])
    """
    *others, last = [dict(line) for line in lines]
    if largest >= last["low"] * (last["high"] / last["low"]) ** NARROW:
        return [*others, last | {"high": largest}]
    if not others:
        return [last]
    *others, before = others
    joined = {name: before[name] + last[name] for name in SUMMED if name in last}
    return [*others, before | joined | {"high": largest}]


def are_equal(facts: Mapping[str, Any]) -> bool:
    """Say whether all weights above 0 are the same."""
    return bool(facts["effective_rows"] >= (1 - ROUNDING) * (facts["rows"] - facts["zero_rows"]))


def describe_equal(facts: Mapping[str, Any]) -> str:
    """Return how often each row counts."""
    times = facts["largest_weight"]
    often = "once" if abs(times - 1) <= ROUNDING else f"the same: {formats.setting(times)} times"
    return f"All rows that count, count {often}."


def describe_zero(case: Case, facts: Mapping[str, Any]) -> str:
    """Return how many rows do not count."""
    if not facts["zero_rows"]:
        return ""
    zero = formats.count(facts["zero_rows"])
    rows = formats.count(facts["rows"])
    return f" {zero} of {rows} rows have weight 0, as {case.called} never does what was done in them."
