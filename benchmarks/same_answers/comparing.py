"""Compares two files of benchmarks/same_answers, and sorts what differs into numbers, errors and texts."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

NUMBERS = "NUMBERS"
ERRORS = "ERRORS"
TEXTS = "TEXTS"

NUMERAL = re.compile(r"(?<![A-Za-z_])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
WORD = re.compile(r"[A-Za-z]?[a-z]+[.,;:?!]?")
LINE_OF_A_BOX = re.compile(r"[─━═\-=_]{2,}")

LEAST_WORDS = 3
"""A text with at least this many words is a sentence, a shorter one is a name."""

ERROR_KEYS = {"error", "code"}

NAME_KEYS = {
    *("action", "baseline", "choice", "chosen", "column", "contender", "contenders", "estimator", "label", "method"),
    *("name", "names", "policy", "reward", "segment", "selected", "selector", "severity", "target", "verdict"),
}
"""Places of names, whatever they are made of."""

MOST_SHOWN = 400
"""How many characters of a value are printed."""

MOST_PLACES = 3
"""How many places of a text that differs are listed."""


@dataclass(frozen=True)
class Difference:
    """What differs in one place of one case."""

    kind: str
    place: str
    old: object
    new: object

    def __str__(self):
        return f"{self.kind} {self.place}: {shorten(self.old)} became {shorten(self.new)}"


@dataclass(frozen=True)
class Absent:
    """Stands for what one of the two files does not have."""

    def __repr__(self):
        return "nothing"


ABSENT = Absent()


def shorten(value):
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text)} characters)"


def compare(old_file, new_file, texts_file=None, sections=None):
    """Print every difference of numbers and errors, count those of texts, and return the exit code."""
    old_cases = read_cases(old_file, sections)
    new_cases = read_cases(new_file, sections)
    texts = []
    kinds = Counter()
    n_different = 0
    for name, old in old_cases.items():
        differences = list(find_differences(old, new_cases.get(name, ABSENT), name))
        kinds.update({difference.kind for difference in differences})
        n_different += bool(differences)
        grave = [difference for difference in differences if difference.kind != TEXTS]
        texts += [difference for difference in differences if difference.kind == TEXTS]
        if grave:
            print(name, *grave, sep="\n  ")
    if texts_file is not None:
        texts_file.write_text(write_texts(texts))
    n_new = len(new_cases.keys() - old_cases.keys())
    print(f"{len(old_cases)} cases, {len(old_cases) - n_different} equal; {n_new} new cases.")
    print(f"Cases that differ: {NUMBERS} {kinds[NUMBERS]}, {ERRORS} {kinds[ERRORS]}, {TEXTS} {kinds[TEXTS]}.")
    print(f"Texts that differ: {len({(one.old, one.new) for one in texts})}, in {len(texts)} places.")
    return 1 if kinds[NUMBERS] or kinds[ERRORS] else 0


def read_cases(file, sections):
    """Return what was recorded, or only that of some sections."""
    cases = json.loads(file.read_text())
    if sections is None:
        return cases
    return {name: case for name, case in cases.items() if name.partition(": ")[0] in sections}


def find_differences(old, new, place, key=""):
    """Yield what differs between two parts of a case."""
    if isinstance(old, dict) and isinstance(new, dict):
        is_error = ("error" in old) != ("error" in new)
        if is_error and ("answer" in old or "answer" in new):
            yield Difference(ERRORS, place, old.get("error", "an answer"), new.get("error", "an answer"))
            return
        for name in [*old, *(name for name in new if name not in old)]:
            one, other = old.get(name, ABSENT), new.get(name, ABSENT)
            yield from find_differences(one, other, f"{place}.{name}", name)
        if list(old) != list(new) and old.keys() == new.keys():
            yield Difference(NUMBERS, f"{place} (order)", list(old), list(new))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Difference(NUMBERS, f"{place} (length)", len(old), len(new))
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from find_differences(one, other, f"{place}[{number}]", key)
    elif repr(old) != repr(new):  # NaN is itself here, and 1 is not 1.0
        if isinstance(old, str) and isinstance(new, str) and key not in ERROR_KEYS:
            yield from find_differences_of_texts(old, new, place, key)
        else:
            yield Difference(ERRORS if key in ERROR_KEYS else NUMBERS, place, old, new)


def find_differences_of_texts(old, new, place, key):
    """Yield what differs between two texts: lines of the same words with other digits, and lines of other words."""
    if key in NAME_KEYS or not (is_prose(old) or is_prose(new)):
        yield Difference(NUMBERS, place, old, new)
        return
    old_lines = old.splitlines()
    new_lines = new.splitlines()
    matcher = SequenceMatcher(None, list(map(mask, old_lines)), list(map(mask, new_lines)), autojunk=False)
    n_found = 0
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        removed = old_lines[old_start:old_end]
        added = new_lines[new_start:new_end]
        if kind != "equal":
            n_found += 1
            yield Difference(TEXTS, place, "\n".join(removed), "\n".join(added))
            continue
        for before, after in zip(removed, added, strict=True):
            if NUMERAL.findall(before) != NUMERAL.findall(after):
                n_found += 1
                yield Difference(NUMBERS, place, before, after)
    if not n_found:
        yield Difference(TEXTS, f"{place} (white space)", old, new)


def is_prose(text):
    """Say whether a text is a sentence or several lines, and no name.

    >>> is_prose("the log is worth 12 rows"), is_prose("0.49 SNDR + 0.5 DM"), is_prose("not answerable")
    (True, False, False)
    """
    words = [word for word in text.split() if WORD.fullmatch(word)]
    return "\n" in text or len(words) >= LEAST_WORDS


def mask(line):
    """Return a line without digits, the lengths of rules, and the width of its columns.

    >>> mask("value  12.5 (10 to 1,200) ─────")
    'value # (# to #) ─'
    """
    return " ".join(NUMERAL.sub("#", LINE_OF_A_BOX.sub("─", line)).split())


def write_texts(texts):
    """Return a Markdown list of the texts that differ, old and new, with the places where each of them stands."""
    places = {}
    for one in texts:
        places.setdefault((one.old, one.new), []).append(one.place)
    lines = ["# Texts that differ", "", f"{len(places)} texts, in {len(texts)} places.", ""]
    for number, ((old, new), where) in enumerate(places.items(), 1):
        others = len(where) - MOST_PLACES
        more = f" and {others} other places" if others > 0 else ""
        lines.append(f"## {number}")
        lines.append("")
        lines.append(f"In {', '.join(f'`{place}`' for place in where[:MOST_PLACES])}{more}.")
        if Counter(NUMERAL.findall(old)) != Counter(NUMERAL.findall(new)):
            lines.append("**The digits differ, too.**")
        lines += ["", "- old:", *quote(old), "- new:", *quote(new), ""]
    return "\n".join(lines)


def quote(text):
    """Return the lines of a text as a block of Markdown inside a list."""
    return ["", "  ~~~text", *(f"  {line}" for line in text.splitlines() or ["(nothing)"]), "  ~~~", ""]
