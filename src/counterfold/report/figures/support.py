"""Support: what the log and the target do of each action, and what that earned."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.diagnostics import Diagnostics
from counterfold.estimators.rows import Rows
from counterfold.evaluation import Evaluation
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Line, Shown, find_ends
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, Panel, Writer, tabulate
from counterfold.report.html.cases import Case

MOST_ACTIONS = 1000
"""With more actions than this, none is listed."""

DOSE_RANGES = 12
"""How many ranges of doses are listed."""

PROPENSITIES_HINT: charts.Hint = {
    "action": ("action", charts.TEXT),
    "least_propensity": ("from", charts.NUMBER),
    "largest_propensity": ("to", charts.NUMBER),
}


@dataclass(frozen=True, eq=False)
class ActionSums:
    """What some rows tell of one action: how many they are, the range of its propensities, and sums over decisions.

    `sums` are those of decisions, of the target's share, of rewards, and of $w$, $w r$, $w^2$, $w^2 r$ and $w^2 r^2$.
    """

    rows: int
    low: float
    high: float
    sums: Floats

    def join(self, other: "ActionSums") -> "ActionSums":
        """Return what the rows of both tell."""
        return ActionSums(
            rows=self.rows + other.rows,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            sums=self.sums + other.sums,
        )

    def describe(self, label: str, decision_count: float) -> Line:
        """Return the line of the action, of a log of so many decisions."""
        logged, wanted, reward, weight, earned, squares, squares_reward, squares_rewards = self.sums.tolist()
        mean = stderr = None
        if weight:
            mean = earned / weight
            variance = squares_rewards - 2 * mean * squares_reward + mean**2 * squares
            stderr = math.sqrt(max(variance, 0.0)) / weight
        return {
            "action": label,
            "rows": self.rows,
            "logged_share": logged / decision_count,
            "target_share": wanted / decision_count,
            "mean_reward": reward / logged if logged else None,
            "target_reward": mean,
            "target_stderr": stderr,
            "least_propensity": self.low if self.rows else None,
            "largest_propensity": self.high if self.rows else None,
        }


@dataclass(frozen=True, eq=False)
class ByAction:
    """What some rows tell of each action; nothing if there are very many. What others tell can be added."""

    known: Mapping[Any, ActionSums] | None

    def __add__(self, other: "ByAction") -> "ByAction":
        if self.known is None or other.known is None:
            return ByAction(None)
        joined = {**self.known, **other.known}
        for label in self.known.keys() & other.known.keys():
            joined[label] = self.known[label].join(other.known[label])
        return ByAction(joined if len(joined) <= MOST_ACTIONS else None)


@dataclass(frozen=True)
class Support(CaseFigure):
    """A line for each action, or range of doses: its share in the log and in the target, and what is known of it.

    `logged_share` and `target_share` are those of decisions; `target_share` comes from weights where the target's
    probabilities are known for the logged actions alone (`is_weighted`). `rows` had the action, with propensities from
    `least_propensity` to `largest_propensity`, and earned `mean_reward`; where the target takes the action, it earns
    `target_reward`, the mean under the weights, with its standard error as if rows were independent. The chart shows
    the shares and the range of the propensities.
    """

    needs_answer: ClassVar[bool] = False
    shows_answer: ClassVar[bool] = False
    kinds: ClassVar[tuple[type, ...]] = (Evaluation, Diagnostics)
    table_name: ClassVar[str | None] = "support"
    absence: ClassVar[str] = "there are too many actions to list"

    def observe(self, rows: Rows) -> ByAction:
        if rows.kind == "doses" or len(rows.labels) > MOST_ACTIONS:
            return ByAction(None)
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        size = len(rows.labels)
        sums = np.stack([np.bincount(rows.actions, term, size) for term in list_terms(rows, counts)], axis=1)
        if rows.has("target_probs"):
            sums[:, 1] = counts @ rows.target_probs
        row_counts = np.bincount(rows.actions, minlength=size)
        low = np.full(size, np.inf)
        high = np.full(size, -np.inf)
        np.minimum.at(low, rows.actions, rows.propensity)
        np.maximum.at(high, rows.actions, rows.propensity)
        columns = zip(row_counts.tolist(), low.tolist(), high.tolist(), sums, strict=True)
        return ByAction(dict(zip(rows.labels, (ActionSums(*one) for one in columns), strict=True)))

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        by_action: ByAction = evidence.observed[self.name]
        mass = None if evidence.unsupported is None else evidence.unsupported_mass
        if evidence.rows.kind == "doses":
            return Shown(list_doses(evidence.rows), {"is_weighted": False, "unsupported_mass": mass})
        if by_action.known is None:
            return None
        count = evidence.decision_count
        lines = [sums.describe(str(label), count) for label, sums in by_action.known.items()]
        facts = {"is_weighted": not evidence.rows.has("target_probs"), "unsupported_mass": mass}
        return Shown(sorted(lines, key=lambda line: (-line["target_share"], line["action"])), facts)

    def find_gap(self, result: Any) -> str | None:
        shown = result.exhibits.get(self.name)
        return None if shown is not None and shown.lines else self.absence

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None or not shown.lines:
            return None
        lines = name_actions(shown.lines)
        drawn = lines[: charts.MAX_NAMED_LINES]
        names = charts.name_both(case)
        panels = [draw_shares(drawn, names, "how often each action is taken")]
        if any(line["rows"] for line in drawn):
            panels.append(draw_propensities(drawn, names[0]))
        rest = f" The table has all {len(lines)} actions." if len(lines) > len(drawn) else ""
        return Drawing(
            title=f"Each action {case.when} and with {case.called}",
            reading=f"Doubtful are actions that {case.called} takes often and the log hardly ever took: what they earn "
            f"is known from few rows only.{rest}",
            sentence=f"Share of {len(drawn)} actions {case.when} and with {case.called}.",
            panels=panels,
            table=tabulate("Actions", lines, list_columns(names)),
        )

    def draw_taken(self, case: Case) -> Drawing | None:
        """Return the shares of each action alone, for the page of a learned policy."""
        shown = case.exhibits.get(self.name)
        if shown is None or not shown.lines:
            return None
        lines = name_actions(shown.lines)
        names = charts.name_both(case)
        columns = list_columns(names)
        shares = {name: columns[name] for name in ("action", "logged_share", "target_share")}
        return Drawing(
            title="How often each action is taken",
            reading=f"The grey dot is {case.logged}, the blue one {case.called}. The section on support says how well "
            "actions are known.",
            sentence=f"Share of {min(len(lines), charts.MAX_NAMED_LINES)} actions {case.when} and with {case.called}.",
            panels=[draw_shares(lines[: charts.MAX_NAMED_LINES], names)],
            table=tabulate("Shares", lines, shares),
        )

    def draw_rewards(self, case: Case) -> Drawing | None:
        """Return what each action earns today, and where the target takes it."""
        shown = case.exhibits.get(self.name)
        if shown is None or case.shown_answer is None:
            return None
        known = [line for line in shown.lines if line["target_reward"] is not None]
        if len(known) < 2:
            return None
        level = case.shown_answer.evaluation.level
        names = charts.name_both(case)
        lines = []
        for line, name in zip(known, charts.tell_apart([line["action"] for line in known]), strict=True):
            value = line["target_reward"]
            lines.append({**line, "name": name, "value": value, **find_ends(value, line["target_stderr"], level)})
        drawn = lines[: charts.MAX_NAMED_LINES]
        chart = charts.size(draw_earned(drawn, names), charts.LOW_ROW_HEIGHT * len(drawn))
        return Drawing(
            title="What each action earns",
            reading=f"If the bar of {case.called} is right of the grey dot, it takes the action where that earns more. "
            "Bars are normal intervals.",
            sentence=f"Mean reward of {len(drawn)} actions {case.when}, and where {case.called} takes them.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Rewards of actions", lines, list_reward_columns(names)),
        )


def list_terms(rows: Rows, counts: Floats) -> list[Floats]:
    """Return what is summed over the rows of each action, with their weights in place of the target's share."""
    weights = rows.masses
    rewards = rows.rewards
    return [
        counts,
        weights,
        counts * rewards,
        weights,
        weights * rewards,
        weights**2,
        weights**2 * rewards,
        np.square(weights * rewards),
    ]


def list_doses(rows: Rows) -> list[Line]:
    """Return a line for each of some ranges of doses, of the same width."""
    counts = np.ones(len(rows)) if rows.counts is None else rows.counts
    every_dose = np.concatenate([rows.dose, rows.target_doses.ravel()])
    ends = np.linspace(every_dose.min(), every_dose.max(), DOSE_RANGES + 1)
    logged_place = np.searchsorted(ends[1:-1], rows.dose, "right")
    target_place = np.searchsorted(ends[1:-1], rows.target_doses, "right")
    terms = list_terms(rows, counts)
    lines = []
    for place in range(DOSE_RANGES):
        is_inside = logged_place == place
        propensities = rows.propensity[is_inside]
        sums = np.array([term[is_inside].sum() for term in terms])
        sums[1] = counts @ (target_place == place).mean(axis=1)
        dose_sums = ActionSums(
            rows=int(is_inside.sum()),
            low=float(propensities.min(initial=np.inf)),
            high=float(propensities.max(initial=0.0)),
            sums=sums,
        )
        label = f"{ends[place]:.3g} to {ends[place + 1]:.3g}"
        lines.append(dose_sums.describe(label, float(counts.sum())))
    return lines


def list_columns(names: Sequence[str]) -> dict[str, tuple[str, Writer]]:
    """Return the columns of the table of actions; `names` are those of the log and of the target."""
    today, target = names
    return {
        "action": ("Action", formats.text),
        "rows": ("Rows", formats.count),
        "logged_share": (f"Share {today}", formats.percent),
        "target_share": (f"Share with {target}", formats.percent),
        "mean_reward": ("Mean logged reward", formats.setting),
        "least_propensity": ("Propensity from", formats.setting),
        "largest_propensity": ("To", formats.setting),
    }


def list_reward_columns(names: Sequence[str]) -> dict[str, tuple[str, Writer]]:
    """Return the columns of the table of what actions earn; `names` are those of the log and of the target."""
    today, target = names
    return {
        "name": ("Action", formats.text),
        "mean_reward": (f"Mean reward {today}", formats.setting),
        "target_reward": (f"With {target}", formats.setting),
        "low": ("From", formats.setting),
        "high": ("To", formats.setting),
    }


def name_actions(lines: Lines) -> list[dict[str, Any]]:
    """Return lines whose actions have names that are safe to show and all different."""
    names = charts.tell_apart([line["action"] for line in lines])
    return [{**line, "action": name} for line, name in zip(lines, names, strict=True)]


def draw_shares(lines: Lines, names: Sequence[str], title: str = "") -> Panel:
    """Return two dots for each action, and a line between them."""
    import altair as alt

    dots = []
    for who, share in zip(names, ("logged_share", "target_share"), strict=True):
        dots += [{**line, "who": who, "part": line[share]} for line in lines]
    axis = alt.Axis(format="~%", tickCount=4)
    across = alt.X("part:Q", title="share of decisions", axis=axis, scale=alt.Scale(nice=True))
    down = charts.name_axis("action", grid=True)
    rule = charts.make_chart(lines).mark_rule(color=charts.QUIET, strokeWidth=3, opacity=0.6)
    between = rule.encode(down, x="logged_share:Q", x2="target_share:Q")
    plot = charts.make_chart(dots).encode(down, across)
    colour = charts.colour_by(names, [charts.LOG, charts.TARGET])
    marks = plot.mark_point(filled=True, size=90, opacity=1).encode(colour)
    hint: charts.Hint = {
        "action": ("action", charts.TEXT),
        "rows": ("rows", charts.COUNT),
        "logged_share": (names[0], charts.SHARE),
        "target_share": (names[1], charts.SHARE),
        "mean_reward": ("mean logged reward", charts.NUMBER),
    }
    chart = alt.layer(between, marks, charts.draw_hints(plot, hint))
    return charts.make_panel(charts.size(chart, charts.LOW_ROW_HEIGHT * len(lines)), title)


def draw_propensities(lines: Lines, today: str) -> Panel:
    """Return the range of the propensities with which each action was logged."""
    import altair as alt

    logged = [{**line, "who": today} for line in lines if line["rows"]]
    axis = alt.Axis(format="~g", tickCount=4, labelOverlap=True, grid=False)
    low = alt.X("least_propensity:Q", title="propensity (logarithmic)", scale=alt.Scale(type="log"), axis=axis)
    high = alt.X("largest_propensity:Q")
    colour = charts.colour_by([today], [charts.LOG])  # with a legend, so that it is as high as the chart beside it
    down = charts.name_axis("action", grid=True, domain=[line["action"] for line in lines])
    plot = charts.make_chart(logged).encode(down, colour)
    rule = plot.mark_rule(strokeWidth=3.5, opacity=0.5).encode(low, x2="largest_propensity:Q")
    dots = plot.mark_point(filled=True, size=45, opacity=1)
    hints = [charts.draw_hints(plot, PROPENSITIES_HINT, x=end) for end in (low, high)]
    chart = alt.layer(rule, dots.encode(low), dots.encode(high), *hints)
    return charts.make_panel(charts.size(chart, charts.LOW_ROW_HEIGHT * len(lines)), "propensities of its rows")


def draw_earned(lines: Lines, names: Sequence[str]) -> Any:
    """Return a dot for what each action earns today, and one with a bar for what it earns with the target."""
    import altair as alt

    colour = charts.colour_by(names, [charts.LOG, charts.TARGET])
    with_target = [{**line, "who": names[1]} for line in lines]
    bars = charts.draw_intervals(with_target, "reward per decision", colour)
    today = [{**line, "who": names[0], "value": line["mean_reward"]} for line in lines]
    plot = charts.make_chart(today).encode(alt.Y("name:N", sort=None), alt.X("value:Q"))
    dots = plot.mark_point(filled=True, size=100, opacity=1).encode(colour)
    hint: charts.Hint = {
        "name": ("action", charts.TEXT),
        "mean_reward": (names[0], charts.NUMBER),
        "target_reward": (names[1], charts.NUMBER),
        "low": ("from", charts.NUMBER),
        "high": ("to", charts.NUMBER),
    }
    return alt.layer(bars, dots, charts.draw_hints(plot, hint))
