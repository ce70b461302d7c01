"""An evaluation, and a log's diagnostics, for the terminal."""

import math
from collections.abc import Collection, Iterator, Mapping

from rich.console import ConsoleRenderable, Group
from rich.styled import Styled
from rich.table import Table

from counterfold import messages
from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics
from counterfold.diagnostics.base import Finding
from counterfold.estimates import Estimate
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.history import History, Period
from counterfold.intervals.base import Bounds

STYLES = {"good": "bold green", "caution": "bold yellow", "not answerable": "bold red"}

WIDTH = 20
"""How many characters a line has that shows values over time."""

WITHHELD = "withheld"
"""What takes the place of a number that the log cannot answer for."""


def answer(title: str, result: Evaluation, truth: float | None = None) -> ConsoleRenderable:
    """Return the value, its interval, the estimator that gave it and, where it is known, the truth.

    Where the log cannot answer, the reason takes the place of these numbers.
    """
    grid = new_grid()
    if not result.answerable:
        grid.add_row("value", Styled(f"{WITHHELD}, because the log cannot answer", STYLES[result.verdict]))
        grid.add_row("because", result.diagnostics.reasons[0])
        grid.add_row("the log earned", format_number(result.logged.value, result.logged.stderr))
        return add_title(title, grid)
    value, interval = _format_value(result)
    grid.add_row("value", Styled(value, "bold"))
    grid.add_row(f"{100 * result.level:g} % interval", interval)
    more = ", ".join(_format_gap(result.uplift()))
    log = format_number(result.logged.value, result.logged.stderr)
    grid.add_row("more than the log", f"{more}; the log earned {log}")
    how = f"{'a mixture' if _is_mixed(result) else 'the best'} of {len(result.table)} candidates"
    grid.add_row("by", f"{result.selected}, {how if len(result.table) > 1 else 'the only candidate'}")
    if truth is not None:
        inside = "inside" if result.interval.low <= truth <= result.interval.high else "outside"
        shown = format_number(truth, find_error(result.stderr, result.interval))
        grid.add_row("truth", f"{shown}, {inside} the interval")
    return add_title(title, grid)


def comparison(found: Comparison) -> ConsoleRenderable:
    """Return a line for every policy: its value, and how much more than the baseline that is.

    Values that the log cannot answer for are withheld, and so are differences to them. What speaks against a policy's
    value is said below.
    """
    results, gaps, baseline = found.evaluations, found.differences, found.baseline
    first = next(iter(results.values()))
    table = _new_table("policy", "value", f"{100 * first.level:g} % interval", "difference", "interval", "verdict")
    logged = format_number(first.logged.value, first.logged.stderr)
    table.add_row("log", logged, "", "baseline" if baseline is None else "", "", "")
    for name, one in results.items():
        withheld = WITHHELD, ""
        apart = _format_gap(gaps[name]) if name in gaps else ("baseline", "")
        if name in gaps and not found.is_answerable(name):
            apart = withheld
        verdict = Styled(one.verdict, STYLES[one.verdict])
        table.add_row(messages.show(name), *(_format_value(one) if one.answerable else withheld), *apart, verdict)
    doubtful = [name for name, one in results.items() if one.verdict != "good"]
    lines = [f"{messages.show(name)}: {reason}" for name in doubtful for reason in results[name].diagnostics.reasons]
    return Group(table, *lines)


def rewards(found: Mapping[str, Evaluation]) -> ConsoleRenderable:
    """Return a line for every reward: what a policy would have earned in it and what the log did; and all findings."""
    level = next(iter(found.values())).level
    table = _new_table("reward", "value", f"{100 * level:g} % interval", "the log earned", "verdict")
    for name, one in found.items():
        numbers = _format_value(one) if one.answerable else (WITHHELD, "")
        logged = format_number(one.logged.value, one.logged.stderr)
        table.add_row(messages.show(name), *numbers, logged, Styled(one.verdict, STYLES[one.verdict]))
    by_finding: dict[Finding, list[str]] = {}
    for name, one in found.items():
        for finding in one.diagnostics.findings:
            by_finding.setdefault(finding, []).append(messages.show(name))
    return Group(table, *(f"{', '.join(names)}: {one.problem}; {one.remedy}" for one, names in by_finding.items()))


def add_title(title: str, block: ConsoleRenderable) -> ConsoleRenderable:
    """Return a block under a title."""
    return Group(Styled(messages.show(title), "bold underline"), block)


def candidates(result: Evaluation, *, everything: bool = False) -> ConsoleRenderable:
    """Return the table of candidates, the best first.

    Without `everything` it holds the best of each estimator, and every one that has a share in the answer; or nothing,
    where the log cannot answer.
    """
    if not (everything or result.answerable):
        return Styled(f"what {len(result.table)} candidates say is {WITHHELD}, too; --all shows it", "dim")
    table = _new_table("candidate", "value", "std. error", "score")
    table.add_column("")
    ranked = sorted(result.table, key=lambda line: (-line.share, line.score))
    best = {_kind(line): line for line in reversed(ranked)}
    lines = [line for line in ranked if everything or line.share or best[_kind(line)] is line]
    mixed = _is_mixed(result)
    smallest = min((line.stderr for line in lines if line.stderr > 0), default=0.0)
    for line in lines:
        numbers = format_number(line.value, smallest), format_number(line.stderr, smallest), f"{line.score:.3e}"
        mark = (_percent(line.share) if mixed else "chosen") if line.share else ""
        table.add_row(line.name, *numbers, mark, style="bold green" if mark else "")
    which = "those with a share and the best of each estimator" if mixed else "the best of each estimator"
    shortened = [f"{which}, among {len(ranked)} candidates"] if len(lines) < len(ranked) else []
    return Group(table, *(Styled(note, "dim") for note in [*shortened, *_left_out(result)]))


def diagnostics(found: Diagnostics) -> ConsoleRenderable:
    """Return what was measured, with the verdict first."""
    grid = new_grid()
    grid.add_row("verdict", Styled(found.verdict, STYLES[found.verdict]))
    for number, reason in enumerate(found.reasons):
        grid.add_row("" if number else "because", reason)
    against = [finding.remedy for finding in found.findings if finding.severity != "note"]
    for number, remedy in enumerate(against):
        grid.add_row("" if number else "what to do", remedy)
    for finding in found.findings:
        if finding.severity == "note":
            grid.add_row("note", f"{finding.problem}; {finding.remedy}")
    for name, measured in found.texts.items():
        grid.add_row(name, measured)
    is_shown = found.history is not None and found.verdict != "not answerable"
    return Group(grid, over_time(found.history)) if found.history is not None and is_shown else grid


def over_time(history: History) -> ConsoleRenderable:
    """Return the value in each period, and a line that shows it with two standard errors to both sides."""
    lines = history.table
    table = _new_table(f"{history.used_period} from", "rows", history.estimator, "std. error", "log")
    table.add_column("")
    low, high = min(one.value - 2 * one.stderr for one in lines), max(one.value + 2 * one.stderr for one in lines)
    smallest = min((one.stderr for one in lines if one.stderr > 0), default=0.0)
    for one in lines:
        ends = [round((end - low) / ((high - low) or 1.0) * WIDTH) for end in _reach(one)]
        bar = " " * ends[0] + "-" * (ends[1] - ends[0]) + "o" + "-" * (ends[2] - ends[1])
        numbers = (format_number(number, smallest) for number in (one.value, one.stderr, one.logged))
        table.add_row(one.start, str(one.rows), *numbers, bar)
    return table


def contents(log: Contents) -> ConsoleRenderable:
    """Return what a log holds."""
    grid = new_grid()
    grid.add_row("rows", str(log.rewards.count))
    if log.kept is not None:
        stand = f"which stand for {log.rewards.weight:,.0f} decisions"
        grid.add_row("kept", f"with probability {log.kept.low:.3g} to {log.kept.high:.3g}, {stand}")
    if log.doses is None:
        grid.add_row("actions", _count_labels(log.actions) if log.actions else "any")
    else:
        grid.add_row("doses", f"{log.doses.low:g} to {log.doses.high:g}, mean {log.doses.mean:.4g}")
    if log.action_features is not None:
        grid.add_row("action features", f"{log.action_features} for each action")
    grid.add_row("context", _count_labels(log.context) if log.context else "none")
    for number, (name, why) in enumerate(log.left_out.items()):
        grid.add_row("" if number else "no context", f"{messages.show(name)}: {why}")
    grid.add_row("rewards", f"{log.rewards.low:g} to {log.rewards.high:g}, mean {log.rewards.mean:.4g}")
    kind = "full probabilities" if log.full_probabilities else "propensities"
    kind = kind if log.fitted is None else f"fitted by {log.fitted.wish.name}"
    known = f"{kind}, logged actions" if log.doses is None else "densities, logged doses"
    grid.add_row("logging policy", f"{known} had {log.propensities.low:.3g} to {log.propensities.high:.3g}")
    if log.loggers is not None:
        grid.add_row("loggers", _count_labels(log.loggers))
    if log.groups is not None:
        grid.add_row("groups", str(log.groups))
    return grid


def format_number(number: float, stderr: float) -> str:
    """Return a number to two digits of its error: 0.902 for an error of 0.058, 1001279 for one of 18."""
    if stderr <= 0 or not math.isfinite(stderr):
        return f"{number:.6g}"
    decimals = 1 - math.floor(math.log10(stderr))
    return f"{number:.{max(decimals, 0)}f}" if decimals <= 12 else f"{number:.6g}"


def _format_value(result: Evaluation) -> tuple[str, str]:
    error = find_error(result.stderr, result.interval)
    value, low, high = (format_number(number, error) for number in (result.value, *result.interval))
    return value, f"{low} to {high}"


def _format_gap(gap: Estimate) -> tuple[str, str]:
    """Return a difference to a result and its interval, with their signs."""
    interval = gap.interval()
    several, error = (gap.value, *interval), find_error(gap.stderr, interval)
    value, low, high = (("+" if one >= 0 else "") + format_number(one, error) for one in several)
    return value, f"{low} to {high}"


def find_error(stderr: float, interval: Bounds) -> float:
    """Return the error that numbers are shown to: that of the interval if it is wider, as where there is no reward."""
    return max(stderr, (interval.high - interval.low) / 6)


def new_grid() -> Table:
    """Return an empty two-column grid of names and values."""
    grid = Table.grid(padding=(0, 3))
    grid.add_column(style="dim")
    grid.add_column()
    return grid


def _new_table(name: str, *numbers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2))
    table.add_column(name)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _reach(line: Period) -> tuple[float, float, float]:
    return line.value - 2 * line.stderr, line.value, line.value + 2 * line.stderr


def _left_out(result: Evaluation) -> Iterator[str]:
    for reason in dict.fromkeys(result.left_out.values()):
        names = [name for name, why in result.left_out.items() if why == reason]
        yield f"left out, because each {reason}: {', '.join(names)}"


def _count_labels(labels: Collection[object]) -> str:
    return f"{len(labels)}: {messages.list_some(labels, 8)}"


def _is_mixed(result: Evaluation) -> bool:
    return sum(line.share > 0 for line in result.table) > 1


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 else "< 1 %"


def _kind(line: Candidate) -> str:
    return line.name.partition("(")[0]
