"""Labels of actions: those of each row, all that a log knows, and whether their order is known.

A list with one number per action but without names can only be read if the order of the actions is known. It is where
the user lists the `actions`, where columns of probabilities are named, where the labels are an ordered categorical, and
where they are the whole numbers from 0 or from 1 on. The alphabet is nobody's order.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold import checks, messages
from counterfold.arrays import Ints
from counterfold.checks import WHOLE, Checker
from counterfold.errors import DataError
from counterfold.label_checks import check_labels

FEW_LABELS = 1 << 16
"""Up to what range whole numbers are counted rather than sorted."""

SEPARATORS = (".", "_")
"""What may stand between a name and an action where numbers are spread over columns, as in `target.red`."""

FRACTIONS = 100
"""More different labels with fractions than this are doses, not labels."""

Names = tuple[Any, ...]


@dataclass(frozen=True)
class KnownActions:
    """All actions of a log; `is_ordered` says whether a list without names can follow their order."""

    labels: Names
    is_ordered: bool

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)


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


def encode_labels(name: str, labels: NDArray[Any], known: Names, check: Checker, kind: str = "action") -> Ints:
    """Return the place of each label among the known ones of a kind, however either is spelled."""
    is_counted = labels.dtype.kind in "iu" and known == tuple(range(len(known)))
    if is_counted and len(labels) and labels.min() >= 0 and labels.max() < len(known):
        return checks.freeze(labels.astype(np.intp))
    code = {text: number for number, label in enumerate(known) for text in spell_label(label)}
    unique, where = find_distinct(name, labels, check)
    spelled = map(spell_label, unique.tolist())
    found = np.array([next((code[one] for one in texts if one in code), -1) for texts in spelled], dtype=np.intp)
    if (found < 0).any():
        rule = f"one of the {len(known)} known {kind}s ({messages.list_some(known)})"
        hint = suggest_label(unique[found < 0][0], known) or (
            " If the log never took it, list all actions in `actions`." if kind == "action" else ""
        )
        check.every(name, labels, found[where] >= 0, rule, hint)
    return checks.freeze(found[where])


def as_plain(label: Any) -> Any:
    """Return 7.0 as 7, and anything else as it is."""
    is_whole = isinstance(label, (float, Decimal)) and label == label // 1
    return int(label) if is_whole else label


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
    """Return a label without what people mistype: case, spaces around and within, and the `.0` of whole numbers.

    >>> simplify_label(" Big  Red"), simplify_label("7.0")
    ('big red', '7')
    """
    return " ".join(write_label(label).split()).casefold().removesuffix(".0")


def suggest_label(label: Any, known: Iterable[Any]) -> str:
    """Return a sentence that names the known label which differs by case, spaces or `.0` alone, or nothing."""
    alike = [one for one in known if simplify_label(one) == simplify_label(label)]
    return f" Did you mean {messages.show(repr(alike[0]))}? It differs by case, spaces or `.0` alone." if alike else ""


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
    """Refuse labels that differ from each other by case, spaces or `.0` alone: they are most likely one action."""
    first: dict[str, Any] = {}
    for label in labels:
        other = first.setdefault(simplify_label(label), label)
        if other is not label:
            got = f"got {messages.show(repr(other))} and {messages.show(repr(label))}"
            hint = "Make them one label, or list both in `actions` if they are two actions"
            rule = "labels that differ by more than case, spaces or `.0`"
            raise DataError(f"{check.called('action')} must be {rule}, {got}. {hint}.")


def _read_dictionary(value: Any) -> Any:
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
    return _read_dictionary(value) is not None


def find_categories(value: Any) -> Names | None:
    """Return the labels of an ordered categorical of pandas, an Enum of polars or an ordered dictionary of Arrow."""
    array = _read_dictionary(value)
    if array is None or not array.type.ordered:
        return None
    several = {tuple(one.dictionary.to_pylist()) for one in getattr(array, "chunks", [array])}
    return several.pop() if len(several) == 1 else None


def count_whole_numbers(labels: Iterable[Any]) -> list[int] | None:
    """Return labels that are all whole numbers, also as text, as such; otherwise nothing."""
    texts = [str(int(label)) if isinstance(label, bool) else write_label(label) for label in labels]
    are_whole = all(text.isascii() and text.isdigit() and text == str(int(text)) for text in texts)
    return [int(text) for text in texts] if are_whole else None


def sort_labels(labels: Iterable[Any]) -> Names:
    """Return labels in the order of numbers if all are whole numbers, be it as text, or else of the alphabet."""
    several = list(labels)
    numbers = count_whole_numbers(several)
    if numbers is None:
        return tuple(
            sorted(several, key=lambda label: ("" if isinstance(label, Real) else type(label).__name__, label))
        )
    return tuple(label for _, label in sorted(zip(numbers, several, strict=True), key=lambda pair: pair[0]))


def is_counted(labels: Iterable[Any]) -> bool:
    """Say whether labels are the whole numbers from 0 or from 1 on, each once."""
    numbers = sorted(count_whole_numbers(labels) or [])
    return bool(numbers) and numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


def count_to_width(seen: Names, width: int) -> Names | None:
    """Return `width` whole numbers from 0 or from 1 on that hold all labels seen, if just one of the two does."""
    numbers, kind = count_whole_numbers(seen), type(seen[0])
    if not numbers or (kind is bool and width > 2):
        return None
    starts = [start for start in (0, 1) if min(numbers) >= start and max(numbers) < start + width]
    starts = [0] if min(numbers) == 0 and starts else starts
    return tuple(kind(number) for number in range(starts[0], starts[0] + width)) if len(starts) == 1 else None


@dataclass(frozen=True)
class Naming:
    """What tells the actions besides the log's labels: columns' names, categories, and a matrix without names.

    `names` are those of the columns of probabilities, which have an order if they `are_ordered`; `width` is the number
    of columns of a matrix that has none.
    """

    names: Names | None = None
    are_ordered: bool = False
    width: int | None = None
    categories: Names | None = None

    def list_orders(self, labels: Names) -> list[Names]:
        """Return every order of these labels that is known, as texts."""
        texts = tuple(map(write_label, labels))
        known = [self.names if self.are_ordered else None, self.categories]
        known.append(sort_labels(labels) if is_counted(labels) else None)
        several = [tuple(map(write_label, one)) for one in known if one is not None]
        return [order for order in several if set(order) == set(texts)]


def find_actions(
    labels: NDArray[Any], given: Sequence[Any] | KnownActions | None, naming: Naming, check: Checker
) -> KnownActions:
    """Return all actions: those given, or those that name the probabilities' columns, or those seen."""
    if isinstance(given, KnownActions):
        return given
    if given is not None and not _is_list(given):
        raise DataError(f"`actions` must be a list of labels, got {messages.shorten(given)}.")
    known = (
        _infer_actions(labels, naming, check) if given is None else KnownActions(_list_given(given), is_ordered=True)
    )
    distinct = len(set(known.labels))
    if distinct < len(known):
        raise DataError(f"`actions` must be different labels, got {len(known) - distinct} repeated.")
    if len(known) < 2 and not check.is_part:
        raise DataError(f"a log must know at least 2 actions, got {len(known)}: there is nothing to choose between.")
    return known


def _is_list(given: Any) -> bool:
    """Say whether a user gave several things in an order; a set has none, and an array may be a number."""
    is_number = isinstance(given, np.ndarray) and given.ndim == 0
    return isinstance(given, Iterable) and not isinstance(given, (str, AbstractSet)) and not is_number


def _list_given(labels: Iterable[Any]) -> Names:
    """Return the labels that a user lists, checked as those of the log are."""
    several = labels if isinstance(labels, np.ndarray) else list(labels)
    return tuple(map(as_plain, check_labels("actions", several, len(several), WHOLE).tolist()))


def _refuse_doses(labels: Names, check: Checker) -> None:
    """Refuse very many labels with fractions."""
    fractions = [label for label in labels if isinstance(label, (float, Decimal))]
    if len(fractions) > FRACTIONS:
        got = f"got {len(fractions)} different numbers such as {fractions[0]}"
        way = "If they are doses, such as prices, name them by `dose` (--dose); if labels, list all in `actions`"
        raise DataError(f"{check.called('action')} must be at most {FRACTIONS} labels with fractions, {got}. {way}.")


def _infer_actions(labels: NDArray[Any], naming: Naming, check: Checker) -> KnownActions:
    """Return all actions where the user lists none; the order is known if there is one, and no other."""
    seen = sort_labels(map(as_plain, find_distinct("action", labels, check)[0].tolist()))
    _refuse_doses(seen, check)
    refuse_look_alikes(seen, check)
    found = naming.names or naming.categories
    if found is None:
        found = seen if naming.width is None else count_to_width(seen, naming.width) or seen
    found = tuple(map(as_plain, found))
    orders = naming.list_orders(found)
    if not orders or len(set(orders)) > 1:
        return KnownActions(found if naming.are_ordered else sort_labels(found), is_ordered=False)
    by_text = {write_label(label): label for label in found}
    return KnownActions(tuple(by_text[text] for text in orders[0]), is_ordered=True)
