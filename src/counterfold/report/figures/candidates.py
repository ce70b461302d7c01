"""Candidates: what each estimator says, the ones that made the answer first."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.evidence.figure_tables import find_ends
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case

COLUMNS = {
    "name": ("Candidate", formats.text),
    "value": ("Value", formats.value),
    "stderr": ("Std. error", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
    "score": ("Score (lower is better)", formats.setting),
    "share": ("Share in the answer", formats.percent),
}

ANSWER = "the answer"
"""What the line of the answer is called."""

MANY, FEW = "1 % of it or more", "under 1 %"
"""What candidates are called that have a share in the answer, and all others."""

LEAST_SHARE = 0.01
"""The share from which on a candidate is shown to have one."""

SAME_WITHIN = 0.01
"""Candidates whose values and errors differ by at most so many standard errors are shown as one."""

LONGEST_NAME = 34
"""The characters of a candidate's name beside the chart."""


@dataclass(frozen=True)
class Candidates(CaseFigure):
    """A forest plot: the answer, and below it what each candidate says, those with a part in the answer first."""

    def draw_case(self, case: Case) -> Drawing | None:
        answered = case.shown_answer
        if answered is None:
            return None
        result = answered.evaluation
        lines = [describe(candidate, result) for candidate in rank(result.table)]
        merged = merge(lines)
        drawn = merged[: charts.MAX_NAMED_LINES]
        first = {"name": ANSWER, "who": ANSWER, "value": result.value, **result.interval._asdict()}
        rest = f" The table has all {len(lines)}." if len(merged) > len(drawn) else ""
        error = min((line["stderr"] for line in lines if line["stderr"] > 0), default=0.0)
        chart = charts.size(draw_forest(first, drawn), charts.LOW_ROW_HEIGHT * (len(drawn) + 1))
        return Drawing(
            title=f"What {len(lines)} estimators say",
            reading="If estimators that have little in common agree, the answer does not hang on the choice among "
            "them. Their bars are normal intervals that take the reward model as given. The bar of the answer is wider "
            "where it counts in the noise of the choice, of the model and of rewards not seen; an arrow says that a "
            f"bar goes on.{rest}",
            sentence=f"Values and intervals of {len(drawn)} candidates, beside the answer "
            f"{formats.value(result.value, error)}.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Candidates", lines, COLUMNS, error),
        )


def draw_forest(first: dict[str, Any], lines: Lines) -> Any:
    """Return the answer and the candidates below each other, on an axis for the candidates."""
    import altair as alt

    colour = charts.colour_by([ANSWER, MANY, FEW], [charts.TARGET, charts.OTHER, charts.QUIET])
    widths = sorted((line["high"] - line["low"], line["low"], line["high"]) for line in lines)
    _, centre_low, centre_high = widths[len(widths) // 2]
    low, high = charts.limit_domain(lines, (centre_low, centre_high)) or charts.find_span(lines) or (0.0, 1.0)
    domain = charts.widen(min(low, first["value"]), max(high, first["value"]))
    intervals = charts.draw_intervals([first, *lines], "reward per decision", colour, domain)
    return alt.layer(charts.draw_rule(first["value"]), intervals)


def merge(lines: Lines) -> list[dict[str, Any]]:
    """Return candidates with short names; those of one estimator that say the same, as low caps do, are one line."""
    groups: list[list[Mapping[str, Any]]] = []
    for line in lines:
        alike = next((group for group in groups if are_alike(group[0], line)), None)
        if alike is None:
            groups.append([line])
        else:
            alike.append(line)
    names = []
    for group in groups:
        more = f" and {len(group) - 1} more" if len(group) > 1 else ""
        names.append(f"{shorten_name(group[0]['name'])}{more}")
    different = charts.tell_apart(names, LONGEST_NAME)
    return [{**group[0], "name": name} for group, name in zip(groups, different, strict=True)]


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two candidates of one estimator cannot be told apart in the picture."""
    if name_estimator(one["name"]) != name_estimator(other["name"]) or one["who"] != other["who"]:
        return False
    least = SAME_WITHIN * one["stderr"]
    return all(abs(one[name] - other[name]) <= least for name in ("value", "stderr"))


def name_estimator(name: str) -> str:
    """Return the name of a candidate without its parameters."""
    return name.partition("(")[0]


def shorten_name(name: str) -> str:
    """Return the name of a candidate without that of its only parameter.

    >>> shorten_name("SwitchDR(threshold=5.0)"), shorten_name("TruncatedSNIPS(max_weight=4.0)"), shorten_name("DR")
    ('SwitchDR 5.0', 'SNIPS, cap 4', 'DR')
    """
    capped = re.sub(r"^Truncated(\w+)\(max_weight=([\d.e+-]+)\)$", write_cap, name)
    return re.sub(r"\(\w+=([^,()]+)\)$", r" \1", capped)


def write_cap(found: re.Match[str]) -> str:
    """Return the name of an estimator whose weights are capped."""
    return f"{found[1]}, cap {float(found[2]):.3g}"


def rank(table: list[Candidate]) -> list[Candidate]:
    """Return those with a share first, then the best of each estimator, then all others by their scores."""
    ranked = sorted(table, key=lambda one: (-one.share, one.score))
    best: dict[str, Candidate] = {}
    for one in ranked:
        best.setdefault(name_estimator(one.name), one)
    first = [one for one in ranked if one.share or one in best.values()]
    return [*first, *(one for one in ranked if one not in first)]


def describe(one: Candidate, result: Evaluation) -> dict[str, Any]:
    """Return the line of a candidate."""
    who = MANY if one.share >= LEAST_SHARE else FEW
    return {**asdict(one), **find_ends(one.value, one.stderr, result.level), "who": who}
