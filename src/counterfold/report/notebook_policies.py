"""What notebooks show of policies that were learnt: whether one beats the log, what competed, and how it decides."""

from collections.abc import Sequence

from counterfold.base import messages
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report import markup
from counterfold.report.markup import Markup, tag
from counterfold.report.policy_parts import list_lines, rank_columns, write_gain

LONGEST, MOST_LINES = 30, 12
"""How many lines of a policy are shown at most, and how many of a table."""


def show_learned(result: Learned, answer: Sequence[Markup], findings: Markup) -> Markup:
    """Return whether anything beats the log, what to do, and what that rests on, around what all answers show."""
    kept = (
        [markup.line("What is returned as ", tag("code", "policy"), f" {result.fallback}.")] if result.fallback else []
    )
    told = result.beats_log or not result.attempt.answerable  # a good verdict of what is not shipped would mislead
    badge = [" ", markup.badge(result.attempt.verdict)] if told else []
    return markup.card(
        markup.line(tag("b", result.sentence), *badge),
        *answer,
        markup.line(tag("b", "Next step: "), result.next_step.sentence),
        *kept,
        fold_contenders(result),
        fold_policy(result),
        findings,
    )


def fold_policy(result: Learned) -> Markup:
    """Return how the policy decides or, where nothing beats the log, the best attempt, to be opened."""
    title = "how the policy decides" if result.beats_log else "how the best attempt decides"
    policy = result.policy if result.beats_log else result.attempted
    return markup.fold(title, write_policy(policy), list_columns(policy))


def show_policy(result: Policy) -> Markup:
    """Return how a policy decides, and what it looks at."""
    labels = messages.list_some(result.shown_labels, 8)
    title = markup.line(tag("b", f"Policy over {len(result.labels)} actions"), f": {labels}")
    return markup.card(title, write_policy(result), list_columns(result))


def fold_contenders(result: Learned) -> Markup:
    """Return a table of all contenders, to be opened; what the log cannot answer for is withheld."""
    ranked = sorted(result.table, key=lambda one: -one.low)
    lines = [
        (messages.show(one.contender), *write_gain(one), markup.badge(one.verdict), f"{one.folds}" if one.folds else "")
        for one in ranked[:MOST_LINES]
    ]
    names = "contender", "difference", "interval", "verdict", "folds that chose it"
    rest = len(ranked) - len(lines)
    told = "corrected for choosing" if result.sample is None else "by other rows"
    note = f"Each as if there were no other; the answer above is {told}."
    more = [markup.line(f"and {rest} more, in `table`")] if rest else []
    return markup.fold(f"contenders: {len(ranked)}", markup.make_table(names, lines), *more, markup.line(note))


def write_policy(policy: Policy) -> Markup:
    """Return a policy as text."""
    look = "margin:6px 0;white-space:pre-wrap;background:none;color:inherit"
    return tag("pre", Markup("\n".join(map(markup.join, list_lines(policy, LONGEST)))), style=look)


def list_columns(policy: Policy) -> Markup:
    """Return how much each column matters."""
    lines = [(name, f"{100 * share:.0f} %") for name, share in rank_columns(policy)[:MOST_LINES]]
    return markup.make_table(("column", "importance"), lines) if lines else markup.line("")
