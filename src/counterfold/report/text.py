"""An evaluation, a comparison, evaluations by several rewards and a check, for the terminal: the answer comes first."""

from collections.abc import Iterable, Mapping

from rich.console import ConsoleRenderable, Group
from rich.styled import Styled

from counterfold.base import messages
from counterfold.diagnostics import Diagnostics
from counterfold.diagnostics.base import Finding
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.next_step import advise_on_log
from counterfold.evaluation.result import Evaluation
from counterfold.report import details
from counterfold.report.choice import find_choice, tell_guards
from counterfold.report.differences import list_differences, name_interval, rank_targets
from counterfold.report.guards import list_guards
from counterfold.report.numbers import (
    WITHHELD,
    describe_wrong,
    find_error,
    format_gap,
    format_logged,
    format_number,
    format_share,
    format_value,
    is_same,
    note_less_shrunk,
)
from counterfold.report.picture import Line, Picture
from counterfold.report.segments import list_segments
from counterfold.report.tables import Lines, add_title, colour, new_grid

MOST_OVER_TIME = 3
"""Of more policies than these, only the first one's difference over time is shown."""

Block = ConsoleRenderable | str


def evaluation(title: str, result: Evaluation, *, everything: bool = False, truth: float | None = None) -> list[Block]:
    """Return all that is shown of an evaluation, the answer first; with `everything`, every candidate and check."""
    found = result.diagnostics
    blocks: list[Block] = [answer(title, result, truth)]
    blocks += [picture(title, result, truth)] if result.answerable else []
    blocks += [details.findings(found)] if found.findings else []
    blocks += [details.checks(found, everything=everything)]
    blocks += [details.estimators(result, everything=everything)]
    return [*blocks, *list_segments(result.segmented, result.segments), *over_time(found)]


def check(title: str, found: Diagnostics, *, everything: bool = False) -> list[Block]:
    """Return all that is shown of whether a log can answer for a target, the verdict first."""
    grid = new_grid()
    grid.add_row("verdict", colour(found.verdict))
    grid.add_row("because", explain(found))
    grid.add_row("next step", Styled(advise_on_log(found).sentence, "bold"))
    blocks = [add_title(title, grid), *([details.findings(found)] if found.findings else [])]
    return [*blocks, details.checks(found, everything=everything), *over_time(found)]


def answer(title: str, result: Evaluation, truth: float | None = None) -> ConsoleRenderable:
    """Return the value, the difference to the log, the verdict and the next step; where it is known, the truth.

    Where the log cannot answer, the reason takes the place of these numbers.
    """
    grid = new_grid()
    if result.answerable:
        value, interval = format_value(result)
        gap, gap_interval = format_gap(result.uplift(), result.logged)
        level = f"{100 * result.level:g} % interval"
        grid.add_row("value", Styled(f"{value} per decision, {level} {interval}", "bold"))
        grid.add_row("the log earned", f"{format_logged(result)} per decision")
        grid.add_row("difference", f"{gap}, {level} {gap_interval}{note_less_shrunk(result)}")
        for number, undone in enumerate(list_undone(result)):
            grid.add_row("" if number else "undone by", undone)
    else:
        grid.add_row("value", f"{WITHHELD}, because the log cannot answer")
        grid.add_row("the log earned", f"{format_logged(result)} per decision")
    if truth is not None:
        inside = "inside" if result.interval.low <= truth <= result.interval.high else "outside"
        shown = format_number(truth, find_error(result.stderr, result.interval))
        grid.add_row("truth", f"{shown}, {inside} the interval")
    grid.add_row("verdict", colour(result.verdict))
    grid.add_row("because", explain(result.diagnostics))
    grid.add_row("next step", Styled(result.next_step.sentence, "bold"))
    return add_title(title, grid)


def list_undone(result: Evaluation) -> list[str]:
    """Return what would undo the conclusion that the target earns more, or less, than the log."""
    known, found = result.robustness, []
    if known.propensity_factor is not None:
        wrong = describe_wrong(known.propensity_factor, known.factor_of)
        found.append(f"{known.factor_of} of what was logged that are all {wrong}")
    return found + [f"leaving out one {one.part}, {one.name} ({one.rows:,} rows)" for one in known.hangs_on]


def picture(title: str, result: Evaluation, truth: float | None = None) -> Picture:
    """Return what the log earned and the target's interval on one scale."""
    log = Line("the log", result.logged.value, format_logged(result))
    target = Line(title, result.value, format_value(result)[0], result.interval)
    known = [] if truth is None else [Line("truth", truth, format_number(truth, result.stderr))]
    return Picture([log, target, *known], result.logged.value)


def comparison(found: Comparison) -> list[Block]:
    """Return what is best, a line for every policy with its difference to the baseline, a picture and the findings.

    Values that the log cannot answer for are withheld, and so are differences to them.
    """
    known = {name: gap for name, gap in list_differences(found).items() if found.is_answerable(name)}
    findings = group_findings({name: one.diagnostics for name, one in found.evaluations.items()})
    table = list_policies(found, known)
    guards, segments = list(list_guards(found)), list_differences_by_segment(found)
    if not known:
        return [table, *guards, *findings, *segments]
    drawn = [draw_difference(name, gap, found[name].logged) for name, gap in known.items()]
    pictures = Group(f"difference to {name_baseline(found)}, {name_interval(found)}:", Picture(drawn, 0.0))
    first = [summarise(found, known), table, *list_standings(found), *guards, pictures, *findings, *segments]
    return [*first, *show_over_time(found, known)]


def draw_difference(name: str, gap: Estimate, logged: Estimate) -> Line:
    """Return the line of a difference, which is a dot at 0 if it is but a rounding error."""
    if is_same(gap, logged):
        return Line(name, 0.0, "0")
    return Line(name, gap.value, format_gap(gap, logged)[0], gap.interval())


def show_over_time(found: Comparison, known: Mapping[str, Estimate]) -> list[Block]:
    """Return the differences over time of all policies, or of the one that is looked at most if there are many."""
    several = [name for name, gap in known.items() if not is_same(gap, found[name].logged)]
    shown = several if len(several) <= MOST_OVER_TIME else rank_targets(found)[:1]
    periods, baseline = found.over_time(), name_baseline(found)
    titles = {name: f"{name}: difference to {baseline} over time" for name in periods if name in shown}
    return [details.difference_over_time(title, periods[name]) for name, title in titles.items()]


def list_differences_by_segment(found: Comparison) -> list[Block]:
    """Return a table of the differences in each segment for every policy and every column of segments."""
    baseline, segments = name_baseline(found), found.segments
    several = (list_segments(found[one].segmented, segments[one], baseline, of=one) for one in found.differences)
    return [block for blocks in several for block in blocks]


def list_policies(found: Comparison, known: Mapping[str, Estimate]) -> Lines:
    """Return a line for every policy, with the verdict on its difference to the baseline."""
    logged = format_logged(next(iter(found.evaluations.values())))
    lines = [("log", logged, "" if found.baseline else "baseline", "", "", "")]
    for name, one in found.evaluations.items():
        value = format_value(one)[0] if one.answerable else WITHHELD
        gap = "baseline" if name == found.baseline else WITHHELD, ""
        gap = format_gap(known[name], one.logged) if name in known else gap
        step = "" if name == found.baseline else found.advise(name).action
        lines.append((messages.show(name), value, *gap, found.judge(name).verdict, step))
    interval = "for all at once" if found.simultaneous else "interval"
    return Lines(("policy", "value", "difference", interval, "verdict", "next step"), lines, texts=2)


def list_standings(found: Comparison) -> list[ConsoleRenderable]:
    """Return how probably each policy is the best, the most probable first, if there are several."""
    chosen = find_choice(found)
    if chosen is None:
        return []
    names = ["log", *(messages.show(one.policy) for one in chosen.decision.standings[1:])]
    ranked = sorted(zip(names, chosen.decision.standings, strict=True), key=lambda line: -line[1].probability_best)
    lines = [(name, format_share(one.probability_best), "yes" if one.may_be_best else "no") for name, one in ranked]
    return [add_title("which is the best", Lines(("policy", "probability", "may be"), lines, texts=1))]


def summarise(found: Comparison, known: Mapping[str, Estimate]) -> ConsoleRenderable:
    """Return which policy to choose, or else which one may be the best, and what to do about it."""
    chosen, name = find_choice(found), rank_targets(found)[0]
    value, interval = format_gap(known[name], found[name].logged)
    grid = new_grid()
    if chosen is not None:
        grid.add_row("choice", Styled(chosen.tell(), "bold"))
        grid.add_row("best", chosen.tell_contenders())
    elif found.guards is not None:
        grid.add_row("guards", Styled(tell_guards(found), "bold"))
    grid.add_row("policy", Styled(messages.show(name), "bold"))
    grid.add_row("difference", f"{value} to {name_baseline(found)}, {name_interval(found)} {interval}")
    for number, undone in enumerate(list_undone_choice(found, name)):
        grid.add_row("" if number else "undone by", undone)
    grid.add_row("verdict", colour(found.judge(name).verdict))
    grid.add_row("next step", Styled(found.advise(name).sentence, "bold"))
    return grid


def list_undone_choice(found: Comparison, name: str) -> list[str]:
    """Return what would undo the conclusion about the choice, or about the only policy, where the log is the baseline.

    It is known for the interval of a policy by itself; one that holds for several at once is undone by less.
    """
    chosen = find_choice(found)
    if found.baseline is not None or (chosen is not None and chosen.decision.choice != name):
        return []
    alone = "" if chosen is None else " (as if it were the only policy)"
    return [f"{undone}{alone}" for undone in list_undone(found[name])]


def name_baseline(found: Comparison) -> str:
    """Return what targets are compared with."""
    return "the log" if found.baseline is None else messages.show(found.baseline)


def rewards(title: str, found: Mapping[str, Evaluation], *, segments: bool = True) -> list[Block]:
    """Return a line for every reward: what a policy would have earned in it and what the log did.

    Below are the next step by each reward, and all findings.

    Tables of `segments`, if there are any, name the reward; without them, evaluations of each reward have them.
    """
    names = "reward", "value", "the log", "difference", "interval", "verdict", "next step"
    lines = []
    for name, one in found.items():
        numbers = (WITHHELD, format_logged(one), "", "")
        if one.answerable:
            numbers = format_value(one)[0], format_logged(one), *format_gap(one.uplift(), one.logged)
        lines.append((messages.show(name), *numbers, one.verdict, one.next_step.action))
    table = add_title(title, Lines(names, lines, texts=2))
    blocks: list[Block] = [table, list_next_steps(found)]
    blocks += group_findings({name: one.diagnostics for name, one in found.items()})
    for name, one in found.items() if segments else ():
        blocks += list_segments(one.segmented, one.segments, of=f"{title} by {name},")
    return blocks


def list_next_steps(found: Mapping[str, Evaluation]) -> ConsoleRenderable:
    """Return what to do about the answer by each reward."""
    grid = new_grid()
    for number, (name, one) in enumerate(found.items()):
        label = "" if number else "next step"
        grid.add_row(label, Styled(f"{messages.show(name)}: {one.next_step.sentence}", "bold"))
    return grid


def group_findings(found: Mapping[str, Diagnostics]) -> list[Block]:
    """Return each finding once, with whom it is about."""
    about: dict[Finding, list[str]] = {}
    for name, one in found.items():
        for finding in one.findings:
            about.setdefault(finding, []).append(name)
    return [details.list_findings(list(about.items()))] if about else []


def explain(found: Diagnostics) -> str:
    """Return the first reason for the verdict, and how many more there are."""
    more = len(found.reasons) - 1
    return found.reasons[0] + (f" (and {more} more, see below)" if more else "")


def over_time(found: Diagnostics) -> Iterable[Block]:
    """Yield the table over time, if there is one to be shown."""
    if found.history is not None and found.verdict != "not answerable":
        yield details.over_time(found.history)
