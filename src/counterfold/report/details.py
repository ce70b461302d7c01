"""What stands behind an answer, for the terminal: findings, checks, candidates, values over time, and the log."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.console import ConsoleRenderable, Group
from rich.styled import Styled

from counterfold.base import messages
from counterfold.base.questions import ask
from counterfold.diagnostics import Diagnostics, build_all
from counterfold.diagnostics.base import Finding
from counterfold.evaluation.over_time import DifferenceOverTime
from counterfold.evaluation.result import Candidate, Evaluation
from counterfold.evidence.history import History, Period
from counterfold.log.contents import Contents
from counterfold.report.numbers import format_number, format_signed, is_rounding_error
from counterfold.report.tables import STYLES, Lines, add_title, new_grid

WIDTH = 16
"""How many characters a line has that shows values over time."""

MOST_COLUMNS = 8
"""Of so many columns that are no context, the reasons are shown."""

SCORES = (
    "score: how the selector ranks the candidates, the lower the better; share: how much of the answer is theirs; "
    "errors take the reward model as given, the answer's own does not"
)


def findings(found: Diagnostics) -> ConsoleRenderable:
    """Return what is wrong, the worst first, and what to do about each."""
    return list_findings([(one, ()) for one in found.findings])


def list_findings(several: Sequence[tuple[Finding, Collection[str]]]) -> ConsoleRenderable:
    """Return findings, with the names of whom each is about."""
    grid = new_grid()
    for one, names in several:
        about = f"{messages.list_names(names)}: " if names else ""
        grid.add_row(Styled(one.severity, STYLES[one.severity]), f"{about}{one.problem}")
        grid.add_row("", f"what to do: {one.remedy}")
    return add_title("findings", grid)


def checks(found: Diagnostics, *, everything: bool = False) -> ConsoleRenderable:
    """Return what was measured: what matters most, what something is wrong with, and the names of what passed."""
    grid = new_grid()
    wrong = {finding.name for finding in found.findings}
    known = [one for one in build_all() if one.label in found.texts]
    shown = [one.label for one in known if everything or one.is_always_shown or one.name in wrong]
    for label in shown:
        grid.add_row(label, found.texts[label])
    passed = [one.label for one in known if one.label not in shown and found.verdict != "not answerable"]
    if passed:
        grid.add_row("passed", f"{', '.join(passed)} (--all shows the numbers)")
    return add_title("checks", grid)


def estimators(result: Evaluation, *, everything: bool = False) -> ConsoleRenderable:
    """Return which estimators the answer comes from, and whether others agree; with `everything`, all of them."""
    grid = new_grid()
    count = len(result.table)
    if result.answerable:
        grid.add_row("answer by", describe_choice(result.table))
    if result.answerable and count > 1:
        low, high = result.interval
        inside = sum(low <= line.value <= high for line in result.table)
        where = "" if everything else " (--all lists them)"
        grid.add_row("agreement", f"{inside} of {count} estimators are inside the interval{where}")
    elif not (result.answerable or everything):
        grid.add_row("withheld", f"what {count} estimators say (--all shows it)")
    for reason, names in group_left_out(result.left_out).items():
        grid.add_row("left out", f"{', '.join(names)}: each {reason}")
    return add_title("estimators", grid, *(list_candidates(result.table) if everything else ()))


def describe_choice(table: Sequence[Candidate]) -> str:
    """Return which candidates the answer comes from, those with the largest shares first."""
    taking = sorted((line for line in table if line.share > 0), key=lambda line: -line.share)
    if len(table) == 1:
        return f"{table[0].name}, the only candidate"
    if len(taking) == 1:
        return f"{taking[0].name}, the best of {len(table)} estimators"
    shown = ", ".join(f"{format_share(line.share)} {line.name}" for line in taking[:3])
    others = len(taking) - 3
    rest = f", {others} other{'s' * (others > 1)}" if others > 0 else ""
    return f"a weighted mean of {len(taking)} out of {len(table)} estimators: {shown}{rest}"


def list_candidates(table: Sequence[Candidate]) -> Iterator[ConsoleRenderable | str]:
    """Yield the table of all candidates, the best first, after an empty line."""
    ranked = sorted(table, key=lambda line: (-line.share, line.score))
    smallest = min((line.stderr for line in ranked if line.stderr > 0), default=0.0)
    names = "estimator", "value", "std. error", "score", "share"
    lines = []
    for line in ranked:
        numbers = format_number(line.value, smallest), format_number(line.stderr, smallest), f"{line.score:.3e}"
        lines.append((line.name, *numbers, format_share(line.share) if line.share else ""))
    yield ""
    yield Lines(names, lines)
    yield Styled(SCORES, "dim")


def over_time(history: History) -> ConsoleRenderable:
    """Return the value in each period, and a line that shows it with two standard errors to both sides."""
    periods = history.table
    names = f"{history.used_period} from", "rows", f"value by {history.estimator}", "std. error", "log"
    low, high = min(one.value - 2 * one.stderr for one in periods), max(one.value + 2 * one.stderr for one in periods)
    smallest = min((one.stderr for one in periods if one.stderr > 0), default=0.0)
    lines = []
    for one in periods:
        ends = [round((end - low) / ((high - low) or 1.0) * WIDTH) for end in find_reach(one)]
        bar = " " * ends[0] + "-" * (ends[1] - ends[0]) + "o" + "-" * (ends[2] - ends[1])
        numbers = (format_number(number, smallest) for number in (one.value, one.stderr, one.logged))
        lines.append((one.start, str(one.rows), *numbers, *write_difference(one), bar))
    return add_title("over time", Lines((*names, "difference", "std. error", ""), lines, texts=1))


def write_difference(line: Period) -> tuple[str, str]:
    """Return the difference of a period and its error; one that is a rounding error is 0."""
    difference, stderr = line.difference, line.difference_stderr
    if is_rounding_error(difference, stderr, line.logged):
        return "0", "0"
    return format_signed(difference, stderr), format_number(stderr, stderr)


def difference_over_time(title: str, found: DifferenceOverTime) -> ConsoleRenderable:
    """Return a difference in each period with its interval, and how likely chance lets it change so."""
    lines = []
    for one in found.table:
        difference, low, high = (format_signed(number, one.stderr) for number in (one.difference, one.low, one.high))
        lines.append((one.start, str(one.rows), difference, f"{low} to {high}"))
    chance = "" if found.p is None else f"how likely chance lets it change so: p = {found.p:.2g}"
    table = Lines((f"{found.period} from", "rows", f"by {found.estimator}", "interval"), lines)
    return add_title(title, table, *([Styled(chance, "dim")] if chance else ()))


def contents(by_reward: Mapping[str, Contents]) -> ConsoleRenderable:
    """Return what a log holds, and what its rewards are if there are several."""
    log, grid = next(iter(by_reward.values())), new_grid()
    grid.add_row("rows", f"{log.rewards.count:,}")
    if log.kept is not None:
        stand = f"which stand for {log.rewards.weight:,.0f} decisions"
        grid.add_row("kept", f"with probability {log.kept.low:.3g} to {log.kept.high:.3g}, {stand}")
    if log.doses is None:
        grid.add_row("actions", count_labels(log.actions) if log.actions else "any")
    else:
        grid.add_row("doses", f"{log.doses.low:g} to {log.doses.high:g}, mean {log.doses.mean:.4g}")
    if log.action_features is not None:
        grid.add_row("action features", f"{log.action_features} for each action")
    grid.add_row("context", count_labels(log.context) if log.context else "none")
    for name, reason in describe_left_out(log.left_out):
        grid.add_row(name, reason)
    for number, (name, one) in enumerate(by_reward.items()):
        named = f"{messages.show(name)}: " if len(by_reward) > 1 else ""
        spread = f"{one.rewards.low:g} to {one.rewards.high:g}, mean {one.rewards.mean:.4g}"
        grid.add_row("" if number else "rewards", f"{named}{spread}")
    kind = "full probabilities" if log.full_probabilities else "propensities"
    kind = kind if log.fitted is None else f"fitted by {log.fitted.wish.name}"
    known = f"{kind}, logged actions" if log.doses is None else "densities, logged doses"
    grid.add_row("logging policy", f"{known} had {log.propensities.low:.3g} to {log.propensities.high:.3g}")
    if log.loggers is not None:
        grid.add_row("loggers", count_labels(log.loggers))
    if log.groups is not None:
        grid.add_row("groups", f"{log.groups:,}")
    return Group(add_title("what the log holds", grid), "", ask())


def describe_left_out(left_out: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a line for each of some columns that are no context, and one that counts the others."""
    for number, (name, reason) in enumerate(list(left_out.items())[:MOST_COLUMNS]):
        yield "" if number else "no context", f"{messages.show(name)}: {reason}"
    if len(left_out) > MOST_COLUMNS:
        yield "", f"and {len(left_out) - MOST_COLUMNS} more columns, which --json lists"


def group_left_out(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names of what was left out, by the reason."""
    found: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        found.setdefault(reason, []).append(name)
    return found


def find_reach(line: Period) -> tuple[float, float, float]:
    """Return the value of a period, with two standard errors to both sides."""
    return line.value - 2 * line.stderr, line.value, line.value + 2 * line.stderr


def count_labels(labels: Collection[object]) -> str:
    """Return how many labels there are, and the first of them."""
    return f"{len(labels)}: {messages.list_some(labels, 8)}"


def format_share(share: float) -> str:
    """Return a share of the answer in per cent."""
    return f"{100 * share:.0f}%" if share >= 0.005 else "<1%"
