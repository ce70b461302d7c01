"""Tuning: what every estimator with a parameter says at each of its settings."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.estimators.base import Estimator
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Shown, find_ends
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

FEWEST_SETTINGS = 3
"""An estimator is shown if it has at least so many settings."""

HINT: charts.Hint = {
    "setting": ("setting", charts.NUMBER),
    "value": ("value", charts.NUMBER),
    "low": ("from", charts.NUMBER),
    "high": ("to", charts.NUMBER),
    "share": ("share in the answer", charts.SHARE),
}

COLUMNS = {
    "family": ("Estimator", formats.text),
    "parameter": ("Parameter", formats.text),
    "setting": ("Setting", formats.setting),
    "value": ("Value", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
    "share": ("Share in the answer", formats.percent),
}


@dataclass(frozen=True)
class Tuning(CaseFigure):
    """A line for each setting of each estimator of which several settings competed: what it says there.

    `low` and `high` are the ends of a normal interval, as if the reward model were fixed; `share` is the part in the
    answer.
    """

    table_name: ClassVar[str | None] = "tuning"
    absence: ClassVar[str] = "no estimator competed with several settings"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        families: dict[str, dict[str, Estimator]] = {}
        for name, estimator in answer.estimators.items():
            families.setdefault(type(estimator).__name__, {})[name] = estimator
        scores = dict(zip(answer.estimators, answer.selection.scores.tolist(), strict=True))
        shares = dict(zip(answer.estimators, answer.selection.shares.tolist(), strict=True))
        lines = []
        for family, members in families.items():
            parameter = find_parameter(members)
            if parameter is None:
                continue
            for name, estimator in members.items():
                value, stderr = answer.values[name]
                line = {
                    "family": family,
                    "parameter": parameter,
                    "setting": float(getattr(estimator, parameter)),
                    "value": value,
                    **find_ends(value, stderr, answer.estimate.level),
                    "score": scores[name],
                    "share": shares[name],
                }
                lines.append(line)
        lines.sort(key=lambda line: (line["family"], line["setting"]))
        return Shown(lines, {}) if lines else None

    def draw_case(self, case: Case) -> Drawing | None:
        return draw_settings(case, set())

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return the charts of estimators whose settings are not the rungs of a ladder, which the page shows as one."""
        shown = case.exhibits.get("ladder")
        ladders = set() if shown is None else {line["ladder"] for line in shown.lines}
        return draw_settings(case, ladders)


def find_parameter(members: Mapping[str, Estimator]) -> str | None:
    """Return the only field in which estimators of one class differ, if it is a finite number and they are several."""
    settings = [{name: getattr(one, name) for name in one.list_parameters()} for one in members.values()]
    if len(settings) < FEWEST_SETTINGS:
        return None
    varied = [name for name in settings[0] if len({repr(one[name]) for one in settings}) > 1]
    if len(varied) != 1:
        return None
    values = [one[varied[0]] for one in settings]
    are_numbers = all(isinstance(one, (int, float)) and np.isfinite(one) for one in values)
    return varied[0] if are_numbers else None


def draw_settings(case: Case, left_out: AbstractSet[str]) -> Drawing | None:
    """Return small charts of value against setting, with the answer in each, but for the families that are left out."""
    shown = case.exhibits.get("tuning")
    answered = case.shown_answer
    if shown is None or answered is None:
        return None
    lines = [line for line in shown.lines if line["family"] not in left_out]
    if not lines:
        return None
    result = answered.evaluation
    domain = charts.limit_domain(lines, (result.interval.low, result.interval.high)) or charts.find_span(lines)
    panels = []
    for family in dict.fromkeys(line["family"] for line in lines):
        own = [line for line in lines if line["family"] == family]
        chart = draw_family(own, domain, result.value)
        panels.append(charts.make_panel(charts.size(chart, 140), family))
    return Drawing(
        title="Value against the setting of each tuned estimator",
        reading="Flat lines are good news: the value hardly depends on the setting. The dashed line is the answer.",
        sentence=f"Value against the setting of {len(panels)} estimators.",
        panels=panels,
        table=tabulate("Settings", lines, COLUMNS, result.stderr),
    )


def draw_family(lines: Lines, domain: tuple[float, float] | None, answer: float) -> Any:
    """Return what one estimator says at each of its settings."""
    import altair as alt

    is_log = all(line["setting"] > 0 for line in lines)
    across = alt.X(**charts.number("setting", lines[0]["parameter"], is_log=is_log))
    upwards = alt.Y(**charts.number("value", "", domain=domain))
    plot = charts.make_chart(lines).encode(across)
    band = plot.mark_area(color=charts.TARGET, opacity=0.16, clip=True).encode(y="low:Q", y2="high:Q")
    curve = plot.mark_line(color=charts.TARGET, clip=True).encode(upwards)
    dots = plot.mark_point(color=charts.TARGET, filled=True, size=26, opacity=1, clip=True).encode(upwards)
    rule = charts.draw_rule(answer, is_vertical=False)
    return alt.layer(band, curve, rule, dots, charts.draw_hints(plot, HINT, y=upwards))
