"""The benchmark of selection for the terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.styled import Styled

from counterfold.report import make_table

COMPARED = ("SNIPS", "DR", "OCV_IPS", "OCV_DR", "OPERA", "AutoOPE", "default")
"""The methods that are shown family by family; the files have them all."""

GAP = 1
"""The spaces between two columns."""


def scores(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return a line for every method, over all families."""
    overall = [line for line in lines if line.family == lines[0].family]
    title = f"Squared errors over {lines[0].family} ({overall[0].problems} problems)"
    shown = make_table(title, ("method",), ("mean", "95 %", "median", "regret", "ratio", "worst"), GAP)
    for line in overall:
        numbers = (f"{number:.3g}" for number in (line.median, line.regret, line.ratio))
        worst = "" if line.worst is None else f"{line.worst:.1%}"
        shown.add_row(line.method, f"{line.mean:.3g}", f"{line.low:.2g} to {line.high:.2g}", *numbers, worst)
    note = "regret: beyond the oracle; ratio: to the best fixed or tuned one, geometric mean"
    return Group(shown, Styled(f"{note}; worst: on so many problems", "dim"))


def ratios(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return the best simple method of each family, and the mean errors of the main methods as multiples of its own."""
    title = "Mean squared errors as multiples of the best simple method's"
    shown = make_table(title, ("family", "the best"), COMPARED, GAP)
    for family in dict.fromkeys(line.family for line in lines):
        mine = {line.method: line for line in lines if line.family == family}
        best = [line.method for line in mine.values() if line.kind in {"fixed", "theory"} and line.ratio == 1.0]
        shown.add_row(family, best[0] if best else "", *(f"{mine[method].ratio:.3g}" for method in COMPARED))
    return shown


def coverage(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return how often the default's intervals hold the truth."""
    title, headings = "How often the default's 95 % interval holds the truth", ("answers", "covered", "p", "mean width")
    shown = make_table(title, ("family", "answers of"), headings, GAP)
    for line in lines:
        numbers = f"{line.share:.1%}", f"{line.p_value:.2g}", "" if line.width is None else f"{line.width:.3g}"
        shown.add_row(line.family, line.answers_of, str(line.answers), *numbers)
    return shown


def verdicts(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return how well each verdict warns of large errors, over all families."""
    headings = ("answers", "large errors", "of its answers", "of all large errors")
    shown = make_table("Large errors of the default, by verdict", ("verdict",), headings, GAP)
    for line in lines:
        if line.family == lines[0].family:
            recall = "" if line.recall is None else f"{line.recall:.1%}"
            shown.add_row(line.verdict, str(line.answers), str(line.large), f"{line.precision:.1%}", recall)
    return shown


def checks(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return how often each diagnostic spoke against an answer, over all families and where it did so most often."""
    headings = ("answers", "alarms", "share", "most often, in")
    shown = make_table("What speaks against the default's answers", ("diagnostic",), headings, GAP)
    for line in lines:
        if line.family == lines[0].family:
            mine = [one for one in lines if one.check == line.check and one.family != line.family]
            most = max(mine, key=lambda one: one.share)
            where = f"{most.share:.1%}, {most.family}" if most.alarms else ""
            shown.add_row(line.check, str(line.answers), str(line.alarms), f"{line.share:.1%}", where)
    return shown


def gains(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return what each way to learn gains over the logger, over all families and at each number of rows."""
    overall = [line for line in lines if line.family == lines[0].family]
    title = "Gain of learnt policies over the logger, in standard deviations of the rewards"
    shown = make_table(title, ("method",), ("rows", "problems", "gain", "95 %", "worse than the logger"), GAP)
    for line in overall:
        ends = f"{line.low:+.3f} to {line.high:+.3f}"
        shown.add_row(line.method, f"{line.rows:,}", str(line.problems), f"{line.gain:+.3f}", ends, f"{line.worse:.1%}")
    return shown


def holdings(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return how often the stated interval of a learnt policy holds what it truly earns."""
    title = "How often the 95 % interval of `learn` holds the truth"
    shown = make_table(title, ("problems where it",), ("rows", "answers", "covered", "p", "mean width"), GAP)
    for line in lines:
        width = "" if line.width is None else f"{line.width:.3g}"
        numbers = f"{line.rows:,}", str(line.answers), f"{line.share:.1%}", f"{line.p_value:.2g}", width
        shown.add_row(line.answers_of, *numbers)
    return shown
