"""From how an entry ended in each way to one outcome, and whether a refusal is clear."""

from dataclasses import dataclass, field
from itertools import pairwise

from torture.catalogue import AGREED, REFUSED, RIGHT
from torture.logs import Answer

LONGEST = 1000
"""How many characters a refusal may have."""

OUTCOMES = ("refused", "right", "unclear", "crashed", "hung", "silent")
FAILURES = ("unclear", "crashed", "hung", "silent")
"""Outcomes that make the command fail."""


@dataclass(frozen=True)
class Result:
    """How one attack ended: an outcome, what a person should know of it, and a number that was measured, if any."""

    name: str
    outcome: str
    text: str = ""
    measured: dict = field(default_factory=dict)


def find_unclear(message):
    """Return what is not clear about a refusal, or nothing."""
    if len(message) > LONGEST:
        return f"the message has {len(message):,} characters"
    if not message.isprintable():
        return "the message has control characters, several lines, or half characters"
    if not message.removeprefix("Error:").strip():
        return "there is no message"
    if "Traceback" in message:
        return "the message is a traceback"
    return ""


def judge(one, endings):
    """Return the result of an entry from how it ended in each way; the worst way decides."""
    ranks = {way: judge_way(one.allowed, ending) for way, ending in endings.items()}
    worst = max(ranks.values(), key=lambda rank: ORDER.index(rank[0]))
    outcomes = {rank[0] for rank in ranks.values()}
    if {"refused", "right"} <= outcomes and worst[0] in {"refused", "right"}:
        return Result(one.name, "silent", "ways differ: " + describe(ranks))
    answers = {way: Answer(**end["answer"]) for way, end in endings.items() if "answer" in end}
    different = find_disagreement(answers)
    if worst[0] in {"refused", "right"} and different:
        return Result(one.name, "silent", different)
    return Result(one.name, worst[0], describe(ranks))


ORDER = ("right", "refused", "unclear", "silent", "hung", "crashed")


def judge_way(allowed, ending):
    """Return the outcome of one way, and why."""
    end, text = ending["end"], ending["text"]
    if end in {"crashed", "hung"}:
        return end, text
    if end == "refused":
        why = "a good log is refused" if allowed == RIGHT else find_unclear(text)
        return ("unclear", f"{why}: {text[:300]!r}") if why else ("refused", text)
    if allowed == REFUSED:
        return "silent", f"answered: {text}"
    return ("silent", text) if end == "wrong" and allowed != AGREED else ("right", text)


def find_disagreement(answers):
    """Return in what the answers of two ways differ, or nothing."""
    several = list(answers.items())
    for (way, first), (other, second) in pairwise(several):
        differs = first.find_difference(second)
        if differs:
            return f"{other} gives {differs}, which is that of {way}"
    return ""


def describe(ranks):
    """Return a text on all ways; those that ended alike are named together."""
    found = {}
    for way, (outcome, text) in ranks.items():
        found.setdefault((outcome, text.strip()), []).append(way)
    return "; ".join(f"{outcome} ({', '.join(ways)}): {text}" for (outcome, text), ways in found.items())
