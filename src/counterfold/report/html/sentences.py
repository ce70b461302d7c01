"""Sentences: what a case comes to, in plain words."""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import Any, NamedTuple

from counterfold.report.choice import find_choice, tell_guards
from counterfold.report.html import formats
from counterfold.report.html.cases import Answered, Case, quote
from counterfold.report.numbers import describe_wrong, format_number

SURE = 10.0
"""A difference is told in percent if what the log earned is so many standard errors from 0."""

MOST_CHANGES = 3
"""How many actions are named whose share changes."""

CHANGED = 0.02
"""A share that changes less is not worth a word."""

MANY = 2.0
"""A target that earns so many times as much as the log is told in times, not in percent."""

MEANINGS = {
    "good": "the log can answer, and nothing speaks against it",
    "undecided": "the log is sound, but too small for this question",
    "caution": "something must be checked before the answer counts",
    "not answerable": "the log cannot answer",
}
"""What each badge means."""

OPEN = "the log can answer, and the difference may be above or below 0"
"""What a good verdict means where the interval of the difference holds 0."""

NOTED = "the log can answer, and nothing serious speaks against it"
"""What a good verdict means where something was found that should be known."""

READ = "as-read"
"""The finding that only says how columns were read."""

ALONE = " (as if it were the only policy)"
"""What is said of what is known for the interval of one of several policies by itself."""

QUESTION = "Are the logged probabilities right?"
"""What to doubt where nothing was found, besides what every output asks."""


class Headline(NamedTuple):
    """A sentence with its most important words in the middle."""

    start: str
    main: str
    end: str

    def __str__(self) -> str:
        return f"{self.start}{self.main}{self.end}"


def capitalise(words: str) -> str:
    """Return a sentence that starts with a capital letter."""
    return words[:1].upper() + words[1:]


def tell(case: Case) -> Headline:
    """Return the answer in one sentence."""
    name, answered, by = case.called, case.answered, tell_reward(case)
    if not case.is_answerable:
        return Headline("This log ", "cannot tell", f" what {name} would earn{by}.")
    if answered is None:
        doubt = "" if case.verdict == "good" else ", but something must be checked first"
        return Headline("This log ", "can answer", f" for {name}{by}{doubt}.")
    return tell_answer(name, by, answered)


def tell_answer(name: str, by: str, answered: Answered) -> Headline:
    """Return how much more a target would earn, as far as the log can tell."""
    if answered.gap is None:
        return Headline(
            f"{capitalise(name)} would earn ", answered.write(answered.evaluation.value), f" per decision{by}."
        )
    if not answered.is_known:
        return Headline("This log ", "cannot tell", f" how {name} compares with {answered.baseline}{by}.")
    if answered.is_same:
        return Headline(f"{capitalise(name)} would earn ", "the same", f" as {answered.baseline}{by}.")
    if answered.holds_zero:
        return Headline("This log ", "cannot tell", f" whether {name} earns more or less than {answered.baseline}{by}.")
    start, whole = f"{capitalise(name)} would earn ", find_base(answered)
    if whole is None:
        much = tell_difference(answered, answered.gap.value)
        return Headline(start, much, f" per decision{by} than {answered.baseline}.")
    times = answered.evaluation.value / whole
    much = f"{times:.1f} times as much" if times >= MANY else tell_percent(answered, answered.gap.value, whole)
    end = f" {'as' if times >= MANY else 'than'} {answered.baseline}{by}: {tell_values(answered)}."
    return Headline(start, much, end)


def tell_values(answered: Answered) -> str:
    """Return what a target would earn, and what the log did; in percent of decisions if each reward is 0 or 1."""
    result, rewards = answered.evaluation, answered.evaluation.contents.rewards
    both = result.value, result.logged.value
    if rewards.is_two_valued and (rewards.low, rewards.high) == (0, 1):
        new, old = (f"{format_number(100 * one, 1000 * answered.error)}{formats.PERCENT}" for one in both)
        return f"a reward in {new} instead of {old} of decisions"
    new, old = map(answered.write, both)
    return f"{new} instead of {old} per decision"


def tell_reward(case: Case) -> str:
    """Return which reward is meant, where there are several."""
    return f" by {formats.text(case.reward)}" if case.reward else ""


def tell_difference(answered: Answered, number: float) -> str:
    """Return a difference without a sign, and whether it is more or less."""
    return f"{answered.write(abs(number))} {'more' if number >= 0 else 'less'}"


def find_base(answered: Answered) -> float | None:
    """Return what differences are told in percent of, where that makes sense: what the log earned.

    It does not where that is not far from 0, or where all of it, and more, may be lost.
    """
    logged, gap = answered.evaluation.logged, answered.gap
    if gap is None or not answered.is_to_log or not logged.value > SURE * logged.stderr > 0:
        return None
    return logged.value if gap.interval().low >= -logged.value else None


def tell_percent(answered: Answered, number: float, whole: float) -> str:
    """Return a difference in percent of what the log earned, and whether it is more or less."""
    share = format_number(100 * abs(number) / whole, 1000 * answered.error / whole)
    return f"{share}{formats.PERCENT} {'more' if number >= 0 else 'less'}"


def tell_interval(answered: Answered) -> str:
    """Return the interval of the difference as a sentence, in percent, too, where that makes sense."""
    gap, whole = answered.gap, find_base(answered)
    if gap is None or not answered.is_known or answered.is_same:
        return ""
    is_open = answered.holds_zero
    ends = list(gap.interval()) if is_open else sorted(gap.interval(), key=abs)
    words = join_ends([tell_difference(answered, end) for end in ends])
    shares = "" if whole is None else f", or {tell_shares(answered, ends, whole)}"
    best = f" The best estimate is {tell_difference(answered, gap.value)}." if is_open else ""
    level = f"{100 * answered.evaluation.level:g}{formats.PERCENT}"
    count = len(answered.compared.simultaneous)
    together = f", which holds for all {count} policies at once," if count else ""
    return f"The {level} interval of the difference{together} is {words} per decision{shares}.{best}"


def tell_shares(answered: Answered, ends: Sequence[float], whole: float) -> str:
    """Return an interval in percent of what the log earned or, where it is so in the headline, in times of it."""
    if answered.evaluation.value / whole >= MANY:
        low, high = (1 + end / whole for end in ends)
        return f"{low:.1f} to {high:.1f} times as much as {answered.baseline}"
    return join_ends([tell_percent(answered, end, whole) for end in ends])


def join_ends(ends: Sequence[str]) -> str:
    """Return two ends as one text, which says "more" or "less" once if both are the same.

    >>> join_ends(["1 more", "3 more"]), join_ends(["1 less", "3 more"])
    ('1 to 3 more', '1 less to 3 more')
    """
    first, last = (end.rpartition(" ") for end in ends)
    return f"{first[0]} to {ends[1]}" if first[2] == last[2] else f"{ends[0]} to {ends[1]}"


def tell_meaning(case: Case) -> str:
    """Return what the badge of a case means."""
    if case.badge != "good":
        return MEANINGS[case.badge]
    if case.answered is not None and case.answered.holds_zero:
        return OPEN
    return NOTED if case.judged.findings else MEANINGS["good"]


def tell_doubt(case: Case) -> str:
    """Return what speaks most against the answer, and how little would change it; how columns were read does not.

    Where nothing does, it is what no log can tell.
    """
    problems = [one.problem for one in case.judged.findings if one.name != READ]
    more = len(problems) - 1
    others = f" And {more} more finding{'s' if more > 1 else ''}." if more > 0 else ""
    first = f"{capitalise(name_judged(case) + problems[0])}.{others}" if problems else QUESTION
    return f"{first} {tell_frailty(case)}".strip()


def name_judged(case: Case) -> str:
    """Return a word before findings that are about the baseline, and not about the target."""
    answered = case.answered
    name = None if answered is None else answered.compared.baseline
    if answered is None or name is None or case.judged is case.diagnostics:
        return ""
    return f"of {answered.baseline}: " if case.judged is answered.compared[name].diagnostics else ""


def tell_frailty(case: Case) -> str:
    """Return what would undo the conclusion, if the log tells one at all: wrong odds, or one group or day."""
    answered = case.shown_answer
    if answered is None or not answered.is_to_log or answered.holds_zero:
        return ""
    known, found, alone = answered.evaluation.robustness, [], ALONE if answered.compared.simultaneous else ""
    if known.propensity_factor is not None:
        wrong = describe_wrong(known.propensity_factor, known.factor_of)
        found.append(f"It would be undone if the {known.factor_of} of what was logged were all {wrong}{alone}.")
    found += [
        f"Without one {one.part}, {one.name}, the conclusion could not be drawn{alone}." for one in known.hangs_on
    ]
    return " ".join(found)


def tell_changes(case: Case) -> str:
    """Return which actions a target takes much more often than the log, or less often; nothing if it is unknown."""
    shown = case.exhibits.get("support")
    if shown is None or case.diagnostics.measures.get("bandwidth") is not None:  # doses have no names
        return ""
    most = [line for line in nlargest(MOST_CHANGES, shown.lines, find_move) if find_move(line) >= CHANGED]
    return f"{', '.join(map(tell_change, most))} of decisions." if most else tell_no_change(case)


def tell_no_change(case: Case) -> str:
    """Return what is said where no share changes."""
    return f"Each action is taken about as often as {case.when}, though perhaps in other situations."


def find_move(line: Mapping[str, Any]) -> float:
    """Return by how much the share of an action changes."""
    return float(abs(line["target_share"] - line["logged_share"]))


def tell_change(line: Mapping[str, Any]) -> str:
    """Return how often an action is taken in the log, and how often by a target."""
    before, after = formats.share(line["logged_share"]), formats.share(line["target_share"])
    return f"{quote(line['action'])} from {before} to {after}"


def tell_best(cases: Sequence[Case]) -> str:
    """Return which of several targets to choose, by one reward, and which may be the best; of one, if it is guarded.

    There is nothing to tell without a choice or a guard.
    """
    first = cases[0].answered
    if first is None or len({case.reward for case in cases}) > 1:
        return ""
    chosen = find_choice(first.compared, logged=first.logged, quote=quote)
    if chosen is None:
        return tell_guards(first.compared, quote)
    return f"{chosen.tell()} {chosen.tell_contenders()}"
