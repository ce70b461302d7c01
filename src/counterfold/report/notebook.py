"""What notebooks show of results: the answer first, then what it rests on; numbers that are withheld stay so."""

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from counterfold.base import messages
from counterfold.base.questions import ask
from counterfold.diagnostics import Diagnostics
from counterfold.diagnostics.base import Finding
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.evaluation.next_step import advise_on_log
from counterfold.learning import Learned
from counterfold.log.contents import Contents
from counterfold.log.log import Log
from counterfold.policies.learned.policy import Policy
from counterfold.report import markup
from counterfold.report.choice import find_choice, tell_guards
from counterfold.report.differences import list_differences, name_interval
from counterfold.report.markup import Markup, join, tag
from counterfold.report.notebook_policies import show_learned, show_policy
from counterfold.report.numbers import (
    find_error,
    format_gap,
    format_logged,
    format_number,
    format_value,
    note_less_shrunk,
)

MOST_LINES = 12
"""How many lines a table has at most."""


@singledispatch
def show(result: Any) -> str:
    """Return what a notebook shows of a result."""
    return tag("pre", repr(result))


@show.register
def _(result: Evaluation) -> str:
    step = markup.line(tag("b", "Next step: "), result.next_step.sentence)
    if not result.answerable:
        earned = markup.line(f"The log earned {format_logged(result)} per decision.")
        withheld = markup.line(tag("b", "Withheld: the log cannot answer "), markup.badge(result.verdict))
        found = fold_findings(result.diagnostics)
        return markup.card(withheld, show_reason(result.diagnostics), step, earned, found, show_questions())
    value, interval = format_value(result)
    gap, apart = format_gap(result.uplift(), result.logged)
    look = "font-size:150%;font-weight:600"
    first = tag("span", value, style=look), f" per decision, {100 * result.level:g} % interval {interval} "
    return markup.card(
        markup.line(*first, markup.badge(result.verdict)),
        draw_answer({"target": result}),
        markup.line(
            tag("b", f"{gap.lstrip('+-')} {'less' if gap[0] == '-' else 'more'} than the log"),
            f" ({apart}), which earned {format_logged(result)}{note_less_shrunk(result)}",
        ),
        show_reason(result.diagnostics),
        step,
        fold_candidates(result),
        fold_findings(result.diagnostics),
        show_questions(),
    )


@show.register
def _(result: Learned) -> str:
    found = result.attempt.diagnostics
    drawn = draw_answer({"learnt policy" if result.beats_log else "best attempt": result.attempt})
    return show_learned(result, [drawn, show_reason(found)], join(fold_findings(found), show_questions()))


@show.register
def _(result: Policy) -> str:
    return show_policy(result)


@show.register
def _(result: Comparison) -> str:
    other = "the log" if result.baseline is None else messages.show(result.baseline)
    lines, gaps = [], list_differences(result)
    for name, one in result.evaluations.items():
        value = format_value(one)[0] if one.answerable else "withheld"
        apart, interval = ("", "") if name == result.baseline else ("withheld", "")
        if name != result.baseline and result.is_answerable(name):
            apart, interval = format_gap(gaps[name], one.logged)
        step = "" if name == result.baseline else result.advise(name).sentence
        lines.append((messages.show(name), value, apart, interval, markup.badge(result.judge(name).verdict), step))
    head = markup.line(tag("b", f"Compared with {other}"))
    names = "target", "value", "difference", name_interval(result), "verdict", "next step"
    table = markup.make_table(names, lines)
    chosen = find_choice(result)
    lead = tell_guards(result) if chosen is None else chosen.tell()
    told = [markup.line(tag("b", lead))] if lead else []
    told += [] if chosen is None else [markup.line(chosen.tell_contenders())]
    return markup.card(head, *told, draw_answer(result.evaluations), table, show_questions())


@show.register
def _(result: RewardEvaluations) -> str:
    lines = []
    for name, one in result.evaluations.items():
        told = (*format_value(one), format_gap(one.uplift(), one.logged)[0]) if one.answerable else ("withheld", "", "")
        step = one.next_step.sentence
        lines.append((messages.show(name), *told, format_logged(one), markup.badge(one.verdict), step))
    names = "reward", "value", "interval", "difference to the log", "the log earned", "verdict", "next step"
    title = markup.line(tag("b", "One target, several rewards"))
    return markup.card(title, markup.make_table(names, lines), show_questions())


@show.register
def _(result: Diagnostics) -> str:
    title = "Can the log answer? "
    measured = markup.make_table(("measured", ""), list(result.texts.items()))
    return markup.card(
        markup.line(tag("b", title), markup.badge(result.verdict)),
        show_reason(result),
        markup.line(tag("b", "Next step: "), advise_on_log(result).sentence),
        fold_findings(result),
        markup.fold("what was measured", measured),
        show_questions(),
    )


@show.register
def _(result: Estimate) -> str:
    interval = result.interval()
    error = find_error(result.stderr, interval)
    value, low, high = (format_number(number, error) for number in (result.value, *interval))
    ends = f" ± {result.stderr:.2g}, {100 * result.level:g} % interval {low} to {high}, by "
    return markup.card(markup.line(tag("b", value), ends, messages.clean_sentence(result.name)))


@show.register
def _(result: Log) -> str:
    known = Contents.of(result)
    rewards, policy = known.rewards, known.propensities
    lines = [
        ("rewards", f"{rewards.low:.4g} to {rewards.high:.4g}, mean {rewards.mean:.4g}"),
        ("propensities", f"{policy.low:.3g} to {policy.high:.3g}{'' if known.fitted is None else ', fitted'}"),
        ("context", messages.list_some(known.context, 8) or "none"),
    ]
    lines += [] if known.groups is None else [("groups", f"{known.groups:,}")]
    lines += [] if known.kept is None else [("decisions", f"{rewards.weight:,.0f}, of which these rows were kept")]
    lines += [] if known.loggers is None else [("loggers", messages.list_some(known.loggers, 8))]
    title = markup.line(tag("b", f"Log of {len(result):,} rows, {result.choices}"))
    return markup.card(title, markup.make_table(("", ""), lines), *fold_actions(result))


def show_reason(found: Diagnostics) -> Markup:
    """Return the first reason for the verdict."""
    return markup.line(tag("b", "Because "), found.reasons[0])


def show_questions() -> Markup:
    """Return what no check can tell."""
    return tag("div", ask(), style=f"margin-top:6px;{markup.MUTED}")


def draw_answer(evaluations: Any) -> Markup:
    """Return a picture of what the log earned and what targets would have earned."""
    first = next(iter(evaluations.values()))
    logged = markup.Interval("log", first.logged.value, first.logged.interval(), format_logged(first), markup.LOG)
    lines = [logged]
    for name, one in evaluations.items():
        withheld = markup.Interval(name, None, None, "withheld", markup.TARGET)
        known = withheld._replace(value=one.value, ends=one.interval, shown=format_value(one)[0])
        lines.append(known if one.answerable else withheld)
    said = "; ".join(f"{one.name}: {one.shown}" for one in lines)
    return markup.draw_intervals(lines, first.logged.value, messages.clean_sentence(said))


def fold_candidates(result: Evaluation) -> Markup:
    """Return the table of candidates with the largest parts in the answer, to be opened."""
    ranked = sorted(result.table, key=lambda one: (-one.share, one.score))
    error = min((one.stderr for one in ranked if one.stderr > 0), default=0.0)
    lines = [
        (one.name, format_number(one.value, error), format_number(one.stderr, error), f"{100 * one.share:.0f} %")
        for one in ranked[:MOST_LINES]
    ]
    rest = len(ranked) - len(lines)
    more = [markup.line(f"and {rest} more, in `table`")] if rest else []
    table = markup.make_table(("candidate", "value", "std. error", "part in the answer"), lines)
    return markup.fold(f"candidates: {len(ranked)}", table, *more)


def fold_findings(found: Diagnostics) -> Markup:
    """Return the findings, the worst first, to be opened."""
    if not found.findings:
        return markup.line("")
    return markup.fold(f"findings: {len(found.findings)}", *map(show_finding, found.findings))


def show_finding(one: Finding) -> Markup:
    """Return what is wrong, and what to do about it."""
    return markup.line(markup.badge(one.severity), " ", tag("b", one.name), f": {one.problem}; {one.remedy}")


def fold_actions(log: Log) -> Iterator[Markup]:
    """Yield the table of the most frequent actions, to be opened; nothing of doses."""
    if log.dose is not None:
        return
    counts = np.ones(len(log)) if log.counts is None else log.counts
    rows, decisions = (
        np.bincount(log.action, minlength=len(log.actions)),
        np.bincount(log.action, counts, len(log.actions)),
    )
    earned = np.bincount(log.action, counts * log.reward, len(log.actions)) / np.where(rows > 0, decisions, 1.0)
    order: Sequence[int] = np.argsort(-rows, kind="stable")[:MOST_LINES].tolist()
    rest = len(rows) - len(order)
    lines = [
        (messages.show(log.actions[at]), f"{rows[at]:,}", f"{decisions[at] / counts.sum():.1%}", f"{earned[at]:.4g}")
        for at in order
    ]
    lines += [(f"and {rest} more", "", "", "")] if rest else []
    names = "action", "rows", "share", "mean reward"
    yield markup.fold(f"actions: {len(rows)}", markup.make_table(names, lines))
