"""Guards on other rewards, in tables for the terminal, and in words that the report has, too."""

from collections.abc import Iterator

from rich.console import ConsoleRenderable
from rich.styled import Styled

from counterfold.base import messages
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.guard import GuardLine
from counterfold.evaluation.guards import Guarded
from counterfold.report.numbers import WITHHELD, format_number, format_share
from counterfold.report.tables import Lines, add_title

UNKNOWN = "not answerable"
"""What is said where the log cannot tell whether a guard is kept."""


def list_guards(found: Comparison) -> Iterator[ConsoleRenderable]:
    """Yield a table for each guard, one for all of them if there are several, and how they are judged."""
    rules, names = () if found.guards is None else found.guards.rules, ("policy", "value", "may be", "limit")
    for place, rule in enumerate(rules):
        lines = []
        for one in found.guarded:
            line = one.guards[place]
            told = judge_guard(line, passes=one.passes if len(rules) == 1 else rule.is_kept(line))
            lines.append((messages.show(one.target), *write_guard(line), told))
        yield add_title(f"guard {rule.text}", Lines((*names, "holds", "verdict"), lines, texts=1))
    if len(rules) > 1:
        yield add_title("all guards", Lines(("policy", "hold", "verdict"), list(map(describe, found.guarded)), texts=1))
    if rules:
        yield Styled(explain_guards(found), "dim")


def explain_guards(found: Comparison) -> str:
    """Return what it takes to pass, which is more than what the probabilities of a policy by itself say."""
    level = f"{100 * next(iter(found.evaluations.values())).level:g} %"
    together = ", for all policies at once" if len(found.guarded) > 1 else ""
    return (
        f"holds: the probability for this policy by itself; may be: how far the value may be towards the "
        f"limit{together}. A policy passes if all guards hold with a probability of at least {level}, and no value may "
        "be beyond its limit."
    )


def describe(one: Guarded) -> tuple[str, str, str]:
    """Return how probably a policy keeps to all guards at once, and whether it passes."""
    sure = WITHHELD if one.probability is None else format_share(one.probability)
    return messages.show(one.target), sure, judge(one)


def judge_guard(line: GuardLine, *, passes: bool) -> str:
    """Return whether a guard is kept, and the verdict on that if it is not good."""
    if line.probability is None:
        return UNKNOWN
    return ("passes" if passes else "fails") + ("" if line.verdict == "good" else f", {line.verdict}")


def judge(one: Guarded) -> str:
    """Return whether a policy keeps to all guards, if the log can tell that."""
    if one.probability is None:
        return UNKNOWN
    return "passes" if one.passes else "fails"


def write_guard(line: GuardLine) -> tuple[str, str, str, str]:
    """Return a value, how far it may be from it, its limit, and how probably it keeps to that."""
    if line.value is None or line.end is None or line.limit is None or line.probability is None:
        return WITHHELD, "", "", ""
    error = max(abs(line.end - line.value) / 2, 1e-9 * abs(line.value))
    value, end, limit = (format_number(number, error) for number in (line.value, line.end, line.limit))
    return value, end, limit, format_share(line.probability)
