"""Candidates: what each estimator says, the ones that made the answer first."""

import re
from dataclasses import asdict
from typing import Any

import altair as alt

from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.exhibits.base import find_ends
from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
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


def draw_candidates(case: Case) -> Figure | None:
    """Return a forest plot of the candidates; the table has those that are too many for it."""
    answered = case.shown_answer
    if answered is None:
        return None
    result = answered.evaluation
    ranked = rank(result.table)
    lines = [describe(one, result) for one in ranked]
    names = base.tell_apart([shorten_name(line["name"]) for line in lines])
    shown = [line | {"name": name} for line, name in zip(lines, names, strict=True)][: base.MOST]
    first = {"name": "the answer", "value": result.value, "low": result.interval.low, "high": result.interval.high}
    colour = base.by_who(["the answer", "has a share in it", "has none"], [base.TARGET, base.OTHER, base.QUIET])
    several = [first | {"who": "the answer"}, *shown]
    ends = (result.interval.low, result.interval.high)
    pictured = base.draw_intervals(several, "reward per decision", colour, base.limit_domain(several, ends))
    rest = f" The table has all {len(lines)}." if len(lines) > len(shown) else ""
    error = min((one.stderr for one in ranked if one.stderr > 0), default=0.0)
    return Figure(
        f"What {len(lines)} estimators say",
        "If estimators that have nothing in common agree, the answer does not hang on the choice among them. Their "
        f"bars take the reward model as given; those that leave the picture go on.{rest}",
        f"Values and intervals of {len(shown)} candidates, beside the answer {formats.value(result.value, error)}.",
        [base.make_panel(base.size(alt.layer(pictured, base.draw_rule(result.value)), 24 * len(several)))],
        tabulate("Candidates", lines, CANDIDATES_COLUMNS, error),
    )


def shorten_name(name: str) -> str:
    """Return the name of a candidate without that of its only parameter.

    >>> shorten_name("SwitchDR(threshold=5.0)"), shorten_name("DR")
    ('SwitchDR 5.0', 'DR')
    """
    return re.sub(r"\(\w+=([^,()]+)\)$", r" \1", name)


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
    who = "has a share in it" if one.share >= 0.005 else "has none"
    return {**asdict(one), **find_ends(one.value, one.stderr, result.level), "who": who}
