"""Labels of actions: those of each row, all that a log knows, and whether their order is known.

A list with one number per action but without names can only be read if the order of the actions is known. It is where
the user lists the `actions`, where columns of probabilities are named, where the labels are an ordered categorical, and
where they are the whole numbers from 0 or from 1 on. The alphabet is nobody's order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold import checks, messages
from counterfold.arrays import Ints
from counterfold.checks import Checker
from counterfold.dictionaries import read_array
from counterfold.errors import DataError

FEW_LABELS = 1 << 16
"""Up to what range whole numbers are counted rather than sorted."""

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


def check_labels(name: str, value: Any, rows: int, check: Checker) -> NDArray[Any]:
    """Return one label per row, none of them missing."""
    try:
        labels = read_array(value)
    except ValueError:
        raise DataError(f"{check.called(name)} must be one label per row, got lists of different lengths.") from None
    if labels.ndim != 1:
        raise DataError(f"{check.called(name)} must be one label per row, got shape {labels.shape}.")
    check.length(name, labels, rows)
    if labels.dtype.kind in "OfmM" and not all(map(_is_label, _list_distinct(labels))):
        present = np.array([_is_label(label) for label in labels.tolist()], dtype=bool)
        check.every(name, labels, present, "a label in every row")
    return labels.astype(str) if labels.dtype.kind in "SmM" else labels


def _is_label(label: Any) -> bool:
    """Say whether a label is there: neither None nor NaN nor one of the other ways to be missing."""
    try:
        return label is not None and bool(label == label)  # noqa: PLR0124 (NaN does not equal itself)
    except TypeError:  # pandas.NA does not even answer
        return False


def _list_distinct(labels: NDArray[Any]) -> Iterable[Any]:
    """Return the different labels, or all of them where they cannot be told apart."""
    try:
        return set(labels.tolist())
    except TypeError:
        return labels.tolist()  # type: ignore[no-any-return]


def find_distinct(name: str, labels: NDArray[Any], check: Checker) -> tuple[NDArray[Any], Ints]:
    """Return the different labels, sorted, and the place of each row's label among them."""
    if labels.dtype.kind in "iu" and len(labels) and int(labels.max()) - int(labels.min()) < FEW_LABELS:
        codes = (labels - labels.min()).astype(np.intp)
        seen = np.bincount(codes) > 0
        return np.flatnonzero(seen).astype(labels.dtype) + labels.min(), (np.cumsum(seen) - 1)[codes]
    try:
        return _sort_objects(labels) if labels.dtype.kind == "O" else np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = "labels of one kind, got a mixture that cannot be sorted"
        raise DataError(f"{check.called(name)} must be {kinds}.") from None


def _sort_objects(labels: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the different objects, sorted, and the place of each; only these are sorted, not one per row."""
    every = labels.tolist()
    unique = sorted(dict.fromkeys(every))
    place = {label: number for number, label in enumerate(unique)}
    distinct = np.empty(len(unique), dtype=object)
    distinct[:] = unique
    return distinct, np.fromiter(map(place.__getitem__, every), dtype=np.intp, count=len(every))


def encode_labels(name: str, labels: NDArray[Any], known: Names, check: Checker, kind: str = "action") -> Ints:
    """Return the place of each label among the known ones of a kind; 7, 7.0 and "7" are the same label."""
    is_counted = labels.dtype.kind in "iu" and known == tuple(range(len(known)))
    if is_counted and len(labels) and labels.min() >= 0 and labels.max() < len(known):
        return checks.freeze(labels.astype(np.intp))
    code = {write_label(label): number for number, label in enumerate(known)}
    unique, where = find_distinct(name, labels, check)
    places = [code.get(write_label(label), code.get(str(label), -1)) for label in unique.tolist()]
    found = np.array(places, dtype=np.intp)
    if (found < 0).any():
        rule = f"one of the {len(known)} known {kind}s ({messages.list_some(known)})"
        hint = suggest_label(unique[found < 0][0], known) or (
            " If the log never took it, list all actions in `actions`." if kind == "action" else ""
        )
        check.every(name, labels, found[where] >= 0, rule, hint)
    return checks.freeze(found[where])


def write_label(label: Any) -> str:
    """Return a label as text; 7.0 is written like 7."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def simplify_label(label: Any) -> str:
    """Return a label without what people mistype: case, spaces around and within, and the `.0` of whole numbers.

    >>> simplify_label(" Big  Red"), simplify_label("7.0")
    ('big red', '7')
    """
    return " ".join(write_label(label).split()).casefold().removesuffix(".0")


def suggest_label(label: Any, known: Iterable[Any]) -> str:
    """Return a sentence that names the known label which differs by case, spaces or `.0` alone, or nothing."""
    alike = [one for one in known if simplify_label(one) == simplify_label(label)]
    return f" Did you mean {alike[0]!r}? It differs by case, spaces or `.0` alone." if alike else ""


def refuse_look_alikes(labels: Sequence[Any], check: Checker) -> None:
    """Refuse labels that differ from each other by case, spaces or `.0` alone: they are most likely one action."""
    first: dict[str, Any] = {}
    for label in labels:
        other = first.setdefault(simplify_label(label), label)
        if other is not label:
            got = f"got {other!r} and {label!r}"
            hint = "Make them one label, or list both in `actions` if they are two actions"
            rule = "labels that differ by more than case, spaces or `.0`"
            raise DataError(f"{check.called('action')} must be {rule}, {got}. {hint}.")


def _read_dictionary(value: Any) -> Any:
    """Return a categorical of pandas or polars, or a dictionary of Arrow, as the latter; nothing of anything else."""
    import pyarrow as pa

    if isinstance(value, (np.ndarray, list, tuple)):
        return None
    try:
        array = pa.chunked_array(value) if hasattr(value, "__arrow_c_stream__") else pa.array(value)
    except (pa.ArrowException, TypeError, ValueError):
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
        return tuple(sorted(several, key=lambda label: (type(label).__name__, label)))
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
    if isinstance(given, str) or not isinstance(given, Iterable | None):
        raise DataError(f"`actions` must be a list of labels, got {given!r}.")
    known = (
        _infer_actions(labels, naming, check) if given is None else KnownActions(_list_plain(given), is_ordered=True)
    )
    distinct = len(set(known.labels))
    if distinct < len(known):
        raise DataError(f"`actions` must be different labels, got {len(known) - distinct} repeated.")
    if len(known) < 2 and not check.is_part:
        raise DataError(f"a log must know at least 2 actions, got {len(known)}: there is nothing to choose between.")
    return known


def _list_plain(labels: Iterable[Any]) -> Names:
    """Return labels as plain Python values."""
    return tuple(np.asarray(list(labels)).tolist())


def _infer_actions(labels: NDArray[Any], naming: Naming, check: Checker) -> KnownActions:
    """Return all actions where the user lists none; the order is known if there is one, and no other."""
    seen = sort_labels(find_distinct("action", labels, check)[0].tolist())
    refuse_look_alikes(seen, check)
    found = naming.names or naming.categories
    if found is None:
        found = seen if naming.width is None else count_to_width(seen, naming.width) or seen
    found = _list_plain(found)
    orders = naming.list_orders(found)
    if not orders or len(set(orders)) > 1:
        return KnownActions(found if naming.are_ordered else sort_labels(found), is_ordered=False)
    by_text = {write_label(label): label for label in found}
    return KnownActions(tuple(by_text[text] for text in orders[0]), is_ordered=True)
