"""Learnt: what a report leads with where a policy was learnt, in plain words."""

from collections.abc import Sequence
from typing import NamedTuple

from counterfold.base.questions import ask
from counterfold.learning.result import Learned
from counterfold.report.html import formats, sentences
from counterfold.report.html.blocks import Fact
from counterfold.report.html.cases import ATTEMPT, LEARNT, Case, quote

KEEP = "keep"
"""The badge where nothing beats the log, though the log can answer."""


class Lead(NamedTuple):
    """What a report on a learnt policy says first, in place of what it would say of any target."""

    badge: str
    style: str
    meaning: str
    headline: sentences.Headline
    interval: str
    step: str
    doubt: str
    facts: Sequence[Fact]


def tell_lead(found: Learned, case: Case, facts: Sequence[Fact]) -> Lead:
    """Return what comes first, besides the numbers that stand out of any answer."""
    known = None if case.answered is None else case.answered.step
    step = "" if known is None else found.adapt_step(known).sentence
    interval = "" if case.shown_answer is None else f"{sentences.tell_interval(case.shown_answer)} {tell_winner(found)}"
    badge, meaning = case.badge, sentences.tell_meaning(case)
    if case.is_answerable and not found.beats_log:
        badge, meaning = KEEP, "nothing that was learnt is surely better than what you have"
    style = "caution" if badge in {KEEP, "undecided"} else badge
    doubt = sentences.tell_doubt(case)
    headline = tell_headline(found, case)
    return Lead(badge, style, meaning, headline, interval, step, doubt, [*facts, *list_facts(found)])


def tell_headline(found: Learned, case: Case) -> sentences.Headline:
    """Return whether anything beats the log."""
    if found.beats_log:
        return sentences.tell(case)
    if not case.is_answerable:
        end = f" what {case.called} would earn, so there is nothing to ship."
        return sentences.Headline("This log ", "cannot tell", end)
    return sentences.Headline("", "Nothing", " that was learnt from this log beats today safely.")


def tell_winner(found: Learned) -> str:
    """Return which contender is meant, and among how many."""
    several = len(found.table)
    among = f"the best of {several} contenders" if several > 1 else "the only contender"
    if found.simpler is not None:
        among = f"one of {several} contenders, and as good within noise as {quote(found.simpler.contender)}, the best"
    return f"The {LEARNT if found.beats_log else ATTEMPT} is {quote(found.chosen)}, {among}."


def list_facts(found: Learned) -> list[Fact]:
    """Return how large the A/B test is, where one is worth its while."""
    step = found.next_step
    if step.per_arm is None or step.effect is None or not (found.beats_log or step.action == "A/B test"):
        return []
    shows = f"a difference of {step.effect:.3g}"
    power = f"decisions, to show {shows} (5{formats.PERCENT} level, 80{formats.PERCENT} power)"
    return [Fact("A/B test, per arm", formats.count(step.per_arm), power)]


def write_message(lead: Lead, origin: str) -> str:
    """Return what somebody must know who has not seen the report, ready to be pasted."""
    why = "Why not" if lead.badge == "not answerable" else "Doubt first"
    lines = [f"{lead.headline} {lead.interval}".strip(), f"Next step: {lead.step}", f"{why}: {lead.doubt}"]
    return "\n".join(lines) + f"\n\n{ask()}\n\n({origin})"


def tell_folds(found: Learned) -> str:
    """Return in how many folds each contender was chosen."""
    chosen = [(line.contender, line.folds) for line in found.table if line.folds]
    ranked = sorted(chosen, key=lambda one: -one[1])
    return ", ".join(f"{quote(name)} in {folds} of {sum(one[1] for one in chosen)}" for name, folds in ranked)
