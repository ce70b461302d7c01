"""KnownActions: all actions that a log knows, and whether their order is known.

A list with one number per action but without names can only be read if the order of the actions is known. It is where
the user lists the `actions`, where columns of probabilities are named, where the labels are an ordered categorical, and
where they are the whole numbers from 0 or from 1 on. The alphabet is nobody's order.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold.base import messages
from counterfold.base.arrays import Ints, as_plain
from counterfold.base.errors import DataError
from counterfold.base.validation import WHOLE, Checker
from counterfold.log.label_checks import check_labels
from counterfold.log.labels import (
    Names,
    encode_labels,
    find_distinct,
    read_dictionary,
    refuse_look_alikes,
    write_label,
)

FRACTIONS = 100
"""More different labels with fractions than this are doses, not labels."""

LACKING = {
    "actions": " `actions` must list every action that the log took.",
    "probabilities": (
        " The probabilities name no such action: add it to them, or leave these rows out if something else than the "
        "policy took it, such as a fallback."
    ),
}
"""What to do about an action that the log took, by what names the actions and lacks it."""


@dataclass(frozen=True)
class KnownActions:
    """All actions of a log; `is_ordered` says whether a list without names can follow their order.

    `source` is what names them, a key of `LACKING`, if it is not the log's own labels.
    """

    labels: Names
    is_ordered: bool
    source: str = field(default="", compare=False)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def encode(self, labels: NDArray[Any], check: Checker) -> Ints:
        """Return the place of each logged label among the actions."""
        return encode_labels("action", labels, self.labels, check, way_out=LACKING.get(self.source, ""))


def find_categories(value: Any) -> Names | None:
    """Return the labels of an ordered categorical of pandas, an Enum of polars or an ordered dictionary of Arrow."""
    array = read_dictionary(value)
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
    if given is None:
        known = _infer_actions(labels, naming, check)
    else:
        known = KnownActions(_list_given(given), is_ordered=True, source="actions")
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
    orders, source = naming.list_orders(found), "probabilities" if naming.names else ""
    if not orders or len(set(orders)) > 1:
        return KnownActions(found if naming.are_ordered else sort_labels(found), is_ordered=False, source=source)
    by_text = {write_label(label): label for label in found}
    return KnownActions(tuple(by_text[text] for text in orders[0]), is_ordered=True, source=source)
