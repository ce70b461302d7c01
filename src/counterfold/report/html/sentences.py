"""Sentences: what a case comes to, in plain words."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

from counterfold import messages
from counterfold.estimates import Estimate
from counterfold.report.html import formats
from counterfold.report.html.cases import NAME, Answered, Case, quote
from counterfold.report.numbers import find_error, format_logged, format_number, format_value

SURE = 10.0
"""A difference is told in percent if what the log earned is so many standard errors from 0."""

MANY = 2.0
"""A target that earns so many times as much as the log is told in times, not in percent."""

MEANINGS = {
    "good": "the log can answer, and nothing speaks against it",
    "undecided": "the log is sound, but too small to decide",
    "caution": "the log can answer, but something must be checked first",
    "not answerable": "the log cannot answer",
}
"""What each badge means."""

NOTED = "the log can answer, and nothing serious speaks against it"
"""What a good verdict means where something was found that should be known."""

READ = "as-read"
"""The finding that only says how columns were read."""

QUESTION = "Are the logged probabilities right, and was the policy fixed before anybody looked at these rewards?"
"""What to doubt where nothing was found."""


class Headline(NamedTuple):
    """A sentence with its most important words in the middle."""

    start: str
    main: str
    end: str

    def __str__(self) -> str:
        return f"{self.start}{self.main}{self.end}"


def name_policy(case: Case) -> str:
    """Return what a target is called in a sentence."""
    return f"the {NAME}" if case.target == NAME else quote(case.target)


def capitalise(words: str) -> str:
    """Return a sentence that starts with a capital letter."""
    return words[:1].upper() + words[1:]


def tell(case: Case) -> Headline:
    """Return the answer in one sentence."""
    name, answered, by = name_policy(case), case.answered, tell_reward(case)
    if not case.is_answerable:
        return Headline("This log ", "cannot tell", f" what {name} would earn{by}.")
    if answered is None:
        doubt = "" if case.verdict == "good" else ", but something must be checked first"
        return Headline("This log ", "can answer", f" for {name}{by}{doubt}.")
    return tell_answer(name, by, answered)


def tell_answer(name: str, by: str, answered: Answered) -> Headline:
    """Return how much more a target would earn, as far as the log can tell."""
    if answered.gap is None:
        return Headline(f"{capitalise(name)} would earn ", format_value(answered.evaluation)[0], f" per decision{by}.")
    if not answered.is_known:
        return Headline("This log ", "cannot tell", f" how {name} compares with {answered.baseline}{by}.")
    if answered.is_same:
        return Headline(f"{capitalise(name)} would earn ", "the same", f" as {answered.baseline}{by}.")
    if answered.is_undecided:
        return Headline("This log ", "cannot tell", f" whether {name} earns more or less than {answered.baseline}{by}.")
    result = answered.evaluation
    error = find_error(result.stderr, result.interval)
    values = f"{format_number(result.value, error)} instead of {format_number(result.logged.value, error)} per decision"
    whole = find_base(answered)
    if whole is not None:
        times = result.value / whole
        much = (
            f"{times:.1f} times as much as" if times >= MANY else f"{tell_percent(answered, answered.gap.value)} than"
        )
        main, _, last = much.rpartition(" ")
        return Headline(f"{capitalise(name)} would earn ", main, f" {last} {answered.baseline}{by}: {values}.")
    much = tell_difference(answered.gap, answered.gap.value)
    return Headline(f"{capitalise(name)} would earn ", much, f" per decision{by} than {answered.baseline}.")


def tell_reward(case: Case) -> str:
    """Return which reward is meant, where there are several."""
    return f" by {formats.text(case.reward)}" if case.reward else ""


def tell_difference(gap: Estimate, number: float) -> str:
    """Return a difference without a sign, and whether it is more or less."""
    word = "more" if number >= 0 else "less"
    return f"{format_number(abs(number), find_error(gap.stderr, gap.interval()))} {word}"


def find_base(answered: Answered) -> float | None:
    """Return what differences are told in percent of, where that makes sense: what the log earned.

    It does not where that is not far from 0, or where all of it, and more, may be lost.
    """
    logged, gap = answered.evaluation.logged, answered.gap
    if gap is None or answered.baseline != "today" or not logged.value > SURE * logged.stderr > 0:
        return None
    return logged.value if gap.interval().low >= -logged.value else None


def tell_percent(answered: Answered, number: float) -> str:
    """Return a difference in percent of what the log earned, and whether it is more or less."""
    gap, whole = answered.gap, find_base(answered) or 1.0
    error = 0.0 if gap is None else find_error(gap.stderr, gap.interval())
    share = format_number(100 * abs(number) / whole, 1000 * error / whole)
    return f"{share}{formats.PERCENT} {'more' if number >= 0 else 'less'}"


def tell_interval(answered: Answered) -> str:
    """Return the interval of the difference as a sentence, in percent, too, where that makes sense."""
    gap = answered.gap
    if gap is None or not answered.is_known or answered.is_same:
        return ""
    ends = sorted(gap.interval(), key=abs)
    crosses = ends[0] * ends[1] <= 0
    ends = list(gap.interval()) if crosses else ends
    words = join_ends([tell_difference(gap, end) for end in ends])
    shares = f", or {join_ends([tell_percent(answered, end) for end in ends])}" if find_base(answered) else ""
    best = f" The best estimate is {tell_difference(gap, gap.value)}." if crosses else ""
    level = f"{100 * answered.evaluation.level:g}{formats.PERCENT}"
    return f"The {level} interval of the difference is {words} per decision{shares}.{best}"


def join_ends(ends: Sequence[str]) -> str:
    """Return two ends as one text, which says "more" or "less" once if both are the same.

    >>> join_ends(["1 more", "3 more"]), join_ends(["1 less", "3 more"])
    ('1 to 3 more', '1 less to 3 more')
    """
    first, last = (end.rpartition(" ") for end in ends)
    return f"{first[0]} to {ends[1]}" if first[2] == last[2] else f"{ends[0]} to {ends[1]}"


def tell_meaning(case: Case) -> str:
    """Return what the badge of a case means."""
    return NOTED if case.badge == "good" and case.diagnostics.findings else MEANINGS[case.badge]


def tell_doubt(case: Case) -> str:
    """Return what speaks most against the answer; how columns were read does not."""
    problem = next((one.problem for one in case.diagnostics.findings if one.name != READ), None)
    return QUESTION if problem is None else f"{capitalise(problem)}."


def tell_best(cases: Sequence[Case]) -> str:
    """Return which of several targets would earn most, by one reward; nothing where there is no choice."""
    known = [case for case in cases if case.answered is not None and case.answered.gap is not None]
    shown = [case for case in known if case.answered is not None and case.answered.is_known]
    if len(shown) < 2 or len({case.reward for case in cases}) > 1:
        return ""
    best = max(shown, key=lambda case: case.answered.evaluation.value if case.answered else 0.0)
    doubt = "The best of several looks better than it is, because chance helps to choose it."
    return f"Of {len(shown)} policies that the log can answer for, {name_policy(best)} would earn most. {doubt}"


def write_paragraph(cases: Sequence[Case]) -> str:
    """Return all that somebody must know who has not seen the report, ready to be pasted."""
    *first, last = (summarise(case) for case in cases)
    return "\n".join([*first, f"{last} (counterfold {version('counterfold')})"])


def summarise(case: Case) -> str:
    """Return a case in a few sentences."""
    answered, verdict = case.answered, f"Verdict: {case.badge}. {tell_doubt(case)}"
    if answered is None:
        return f"{tell(case)} {verdict}"
    result = answered.evaluation
    rows = f"Judged by {formats.count(result.contents.rewards.count)} logged decisions."
    step = f"Next step: {answered.step.sentence}"
    if not case.is_answerable:
        return f"{tell(case)} {rows} {verdict} {step}"
    value, interval = format_value(result)
    earned = f"Value per decision: {value} ({100 * result.level:g}{formats.PERCENT} interval {interval})"
    how = f"by {messages.clean_sentence(result.selected)}, seed {result.seed}; the log earned {format_logged(result)}"
    return f"{tell(case)} {tell_interval(answered)} {earned}, {how}. {rows} {verdict} {step}"
