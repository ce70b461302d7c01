"""Candidates: what each estimator says, the ones that made the answer first."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import altair as alt

from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.exhibits.base import find_ends
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, Lines, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base

CANDIDATES_COLUMNS = {
    "name": ("Candidate", formats.text),
    "value": ("Value", formats.value),
    "stderr": ("Std. error", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
    "score": ("Score (lower is better)", formats.setting),
    "share": ("Share in the answer", formats.percent),
}


ANSWER = "the answer"

MANY, FEW = "1 % of it or more", "under 1 %"
"""What candidates are called that have a share in the answer, and all others."""

LEAST = 0.01
"""The share from which on a candidate is shown to have one."""

SAME = 0.01
"""Candidates whose values and errors differ by at most so many standard errors are shown as one."""

LONGEST = 34
"""The characters of a candidate's name beside the chart."""


def draw_candidates(case: Case) -> Figure | None:
    """Return a forest plot of the candidates; the table has those that are too many for it."""
    answered = case.shown_answer
    if answered is None:
        return None
    result = answered.evaluation
    lines = [describe(one, result) for one in rank(result.table)]
    merged = merge(lines)
    shown = merged[: base.MOST]
    first = {"name": ANSWER, "who": ANSWER, "value": result.value, **result.interval._asdict()}
    rest = f" The table has all {len(lines)}." if len(merged) > len(shown) else ""
    error = min((line["stderr"] for line in lines if line["stderr"] > 0), default=0.0)
    return Figure(
        f"What {len(lines)} estimators say",
        "If estimators that have little in common agree, the answer does not hang on the choice among them. Their bars "
        "are normal intervals that take the reward model as given. The bar of the answer is wider where it counts in "
        f"the noise of the choice, of the model and of rewards not seen; an arrow says that a bar goes on.{rest}",
        f"Values and intervals of {len(shown)} candidates, beside the answer {formats.value(result.value, error)}.",
        [base.make_panel(base.size(draw_forest(first, shown), 24 * (len(shown) + 1)))],
        tabulate("Candidates", lines, CANDIDATES_COLUMNS, error),
    )


def draw_forest(first: dict[str, Any], lines: Lines) -> Any:
    """Return the answer and the candidates below each other, on an axis for the candidates."""
    colour = base.by_who([ANSWER, MANY, FEW], [base.TARGET, base.OTHER, base.QUIET])
    widths = sorted((line["high"] - line["low"], line["low"], line["high"]) for line in lines)
    centre = widths[len(widths) // 2][1:]
    low, high = base.limit_domain(lines, (centre[0], centre[1])) or base.find_span(lines) or (0.0, 1.0)
    ends = base.widen(min(low, first["value"]), max(high, first["value"]))
    pictured = base.draw_intervals([first, *lines], "reward per decision", colour, ends)
    return alt.layer(base.draw_rule(first["value"]), pictured)


def merge(lines: Lines) -> list[dict[str, Any]]:
    """Return candidates with short names; those of one estimator that say the same, as low caps do, are one line."""
    groups: list[list[Mapping[str, Any]]] = []
    for line in lines:
        alike = next((several for several in groups if are_alike(several[0], line)), None)
        if alike is None:
            groups.append([line])
        else:
            alike.append(line)
    more = [f" and {len(several) - 1} more" if len(several) > 1 else "" for several in groups]
    names = [f"{shorten_name(several[0]['name'])}{rest}" for several, rest in zip(groups, more, strict=True)]
    different = base.tell_apart(names, LONGEST)
    return [{**several[0], "name": name} for several, name in zip(groups, different, strict=True)]


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two candidates of one estimator cannot be told apart in the picture."""
    same = (one["name"].partition("(")[0], one["who"]) == (other["name"].partition("(")[0], other["who"])
    least = SAME * one["stderr"]
    return bool(same and all(abs(one[name] - other[name]) <= least for name in ("value", "stderr")))


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
        best.setdefault(one.name.partition("(")[0], one)
    first = [one for one in ranked if one.share or one in best.values()]
    return [*first, *(one for one in ranked if one not in first)]


def describe(one: Candidate, result: Evaluation) -> dict[str, Any]:
    """Return the line of a candidate."""
    who = MANY if one.share >= LEAST else FEW
    return {**asdict(one), **find_ends(one.value, one.stderr, result.level), "who": who}
