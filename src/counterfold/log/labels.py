"""Labels of actions: how they are written, told apart, and found among others."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold.base import messages, validation
from counterfold.base.arrays import Ints, as_plain
from counterfold.base.errors import DataError
from counterfold.base.validation import Checker

FEW_LABELS = 1 << 16
"""Up to what range whole numbers are counted rather than sorted."""

SEPARATORS = (".", "_")
"""What may stand between a name and an action where numbers are spread over columns, as in `target.red`."""

VARIATION_SELECTORS = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Invisible characters that choose how the one before them is drawn; Unicode counts them among the marks."""

INVISIBLE = ("Cc", "Cf")
"""Unicode's categories of characters that are not drawn: control characters, and marks such as U+200B."""

Names = tuple[Any, ...]


def find_distinct(name: str, labels: NDArray[Any], check: Checker) -> tuple[NDArray[Any], Ints]:
    """Return the different labels, sorted, and the place of each row's label among them."""
    if labels.dtype.kind in "iu" and len(labels) and int(labels.max()) - int(labels.min()) < FEW_LABELS:
        least = labels.min().astype(np.uint64)  # of which differences are right, though those of int8 may wrap
        codes = (labels.astype(np.uint64) - least).astype(np.intp)
        seen = np.bincount(codes) > 0
        return (np.flatnonzero(seen).astype(np.uint64) + least).astype(labels.dtype), (np.cumsum(seen) - 1)[codes]
    try:
        return _sort_objects(labels) if labels.dtype.kind == "O" else np.unique(labels, return_inverse=True)
    except TypeError:  # such as dates with a time zone among others
        raise DataError(f"{check.called(name)} must be labels that can be sorted. Write them as text.") from None


def _sort_objects(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the different objects, sorted, and the place of each; only these are sorted, not one per row."""
    every = labels.tolist()
    unique = sorted(dict.fromkeys(every))
    place = {label: number for number, label in enumerate(unique)}
    distinct = np.empty(len(unique), dtype=object)
    distinct[:] = unique
    return distinct, np.fromiter(map(place.__getitem__, every), dtype=np.intp, count=len(every))


def encode_labels(
    name: str, labels: NDArray[Any], known: Names, check: Checker, *, kind: str = "action", way_out: str = ""
) -> Ints:
    """Return the place of each label among the known ones of a kind, however either is spelled."""
    is_counted = labels.dtype.kind in "iu" and known == tuple(range(len(known)))
    if is_counted and len(labels) and labels.min() >= 0 and labels.max() < len(known):
        return validation.freeze(labels.astype(np.intp))
    code = {text: number for number, label in enumerate(known) for text in spell_label(label)}
    unique, where = find_distinct(name, labels, check)
    spelled = map(spell_label, unique.tolist())
    found = np.array([next((code[one] for one in texts if one in code), -1) for texts in spelled], dtype=np.intp)
    if (found < 0).any():
        rule = f"one of the {len(known)} known {kind}s ({messages.list_some(known)})"
        first_unknown = unique[where[np.flatnonzero(found[where] < 0)[0]]]  # the one that the error shows
        hint = suggest_label(first_unknown, known) or way_out
        check.every(name, labels, found[where] >= 0, rule, hint)
    return validation.freeze(found[where])


def write_label(label: Any) -> str:
    """Return a label as text; 7.0 is written like 7."""
    return str(as_plain(label))


def spell_label(label: Any) -> tuple[str, ...]:
    """Return the texts that stand for a label, in names of columns and elsewhere; text stands for itself alone.

    >>> spell_label(7), spell_label(True), spell_label("7.0")
    (('7', '7.0'), ('True', 'true'), ('7.0',))
    """
    if isinstance(label, str):
        return (str(label),)
    text = write_label(label)
    return (text, text.lower()) if text in {"True", "False"} else (text, f"{text}.0") if _is_whole(text) else (text,)


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def simplify_label(label: Any) -> str:
    """Return a label without what people mistype: case, spaces, the `.0` of whole numbers, and the Unicode form.

    >>> simplify_label(" Big  Red"), simplify_label("7.0")
    ('big red', '7')
    """
    return _simplify_typing(unify_form(write_label(label)))


def _simplify_typing(text: str) -> str:
    return " ".join(text.split()).casefold().removesuffix(".0")


def unify_form(text: str) -> str:
    r"""Return a text in the one Unicode form that all look-alikes have, without characters that are not drawn.

    These are composed and decomposed letters (NFC and NFD), full-width letters and digits, ligatures, and zero-width,
    control and similar characters. Spaces of any kind become plain ones.

    >>> unify_form("cafe\u0301 \uff21\u200b1\0") == "caf\u00e9 A1"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    drawn = (" " if one.isspace() else one for one in text if one.isspace() or not _is_invisible(one))
    return unicodedata.normalize("NFKC", "".join(drawn))


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in INVISIBLE or character in VARIATION_SELECTORS


def suggest_label(label: Any, known: Iterable[Any]) -> str:
    """Return a sentence that names the known label that looks the same or is typed alike, or nothing."""
    alike = [one for one in known if simplify_label(one) == simplify_label(label)]
    if not alike:
        return ""
    _, shown, difference = compare_labels(label, alike[0])
    return f" Did you mean {shown}? It differs by {difference} alone."


def compare_labels(first: Any, second: Any) -> tuple[str, str, str]:
    r"""Return two labels that are alike so that messages can show them apart, and what they differ by.

    Labels that differ by their Unicode form look the same on a screen. They are shown with escapes.

    >>> compare_labels("Red", "red")
    ("'Red'", "'red'", 'case, spaces or `.0`')
    >>> compare_labels("a", "a\u200b")
    ("'a'", "'a\\u200b'", 'Unicode form or invisible characters')
    """
    if _simplify_typing(write_label(first)) == _simplify_typing(write_label(second)):
        return messages.show(repr(first)), messages.show(repr(second)), "case, spaces or `.0`"
    return messages.show(ascii(first)), messages.show(ascii(second)), "Unicode form or invisible characters"


def find_shared_name(column: str, columns: Iterable[str], actions: Iterable[Any]) -> str | None:
    """Return NAME if a column is called `NAME_ACTION`, and another one is for another action; else nothing.

    >>> find_shared_name("new_red", ["new_red", "new_blue", "age"], ["red", "blue"])
    'new'
    """
    known, there = {text for action in actions for text in spell_label(action)}, set(columns)
    for separator in SEPARATORS:
        for text in (text for text in known if column.endswith(f"{separator}{text}")):
            start = column.removesuffix(text)
            if start != separator and any(f"{start}{other}" in there for other in known - {text}):
                return start.removesuffix(separator)
    return None


def refuse_look_alikes(labels: Sequence[Any], check: Checker) -> None:
    """Refuse labels that differ by case, spaces, `.0` or their Unicode form alone: they are most likely one action."""
    first: dict[str, Any] = {}
    for label in labels:
        other = first.setdefault(simplify_label(label), label)
        if other is not label:
            shown_other, shown_label, difference = compare_labels(other, label)
            got = f"got {shown_other} and {shown_label}"
            hint = "Make them one label, or list both in `actions` if they are two actions"
            rule = f"labels that differ by more than {difference}"
            raise DataError(f"{check.called('action')} must be {rule}, {got}. {hint}.")


def read_dictionary(value: Any) -> Any:
    """Return a categorical of pandas or polars, or a dictionary of Arrow, as the latter; nothing of anything else."""
    import pyarrow as pa

    if isinstance(value, (np.ndarray, list, tuple)) or getattr(value, "dtype", None) == np.dtype(object):
        return None  # and pyarrow crashes on some mixtures of objects
    try:
        array = pa.chunked_array(value) if hasattr(value, "__arrow_c_stream__") else pa.array(value)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if pa.types.is_dictionary(array.type) else None


def is_categorical(value: Any) -> bool:
    """Say whether values are a categorical of any sort."""
    return read_dictionary(value) is not None
