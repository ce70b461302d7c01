"""Columns that hold the probabilities of a policy nobody asked about: one column for each action, and rows sum to 1."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from counterfold.base.messages import show
from counterfold.base.validation import FIRST, SUM_TOLERANCE
from counterfold.io.schema import columns
from counterfold.log.assignment.columns import POLICY
from counterfold.log.encoding.kinds import is_numeric
from counterfold.log.labels import SEPARATORS, spell_label

LEFT_OUT = (
    "the columns `{}ACTION` sum to 1 in every row, as the probabilities of a policy do; name them in `context` if they "
    "describe the context"
)
"""Why columns of probabilities are no context. What a policy does is no cause of a reward that another one earned."""


def find_policy_columns(table: pa.Table, action: str | None, free: Sequence[str]) -> dict[str, str]:
    """Return the free columns that hold the probabilities of another policy, and why these are no context.

    These are at least two columns of numbers that are called `NAME_ACTION` or `NAME.ACTION`. They sum to 1 in all of
    the first rows. Columns of 0 and 1 alone may as well tell the last action of a user: they must be called like a
    policy, too.
    """
    if action is None or action not in table.column_names:
        return {}
    first = table.slice(0, FIRST)
    labels = {text for label in columns.list_first_labels(table, action) for text in spell_label(label)}
    numbers = [name for name in free if is_numeric(table.schema.field(name).type)]
    found: dict[str, str] = {}
    for start, names in _list_groups(numbers, labels):
        if _are_probabilities(first, start, names):
            found |= dict.fromkeys(names, LEFT_OUT.format(show(start)))
    return found


def _list_groups(names: Sequence[str], labels: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what the names of several columns start with, and these columns: those of actions, and all of them."""
    for separator in SEPARATORS:
        starts: dict[str, list[str]] = {}
        for name in names:
            for label in _list_ends(name, separator):
                if label in labels:
                    starts.setdefault(name.removesuffix(label), []).append(name)
        for start, mine in starts.items():
            if len(mine) < 2:
                continue
            yield start, mine
            every = [name for name in names if name.startswith(start)]  # the first rows may lack some actions
            if len(every) > len(mine):
                yield start, every


def _list_ends(name: str, separator: str) -> Iterator[str]:
    """Yield what stands behind each separator in a name, but for one at the start.

    >>> list(_list_ends("new_dark_red", "_"))
    ['dark_red', 'red']
    """
    place = name.find(separator, 1)
    while place > 0:
        yield name[place + len(separator) :]
        place = name.find(separator, place + 1)


def _are_probabilities(first: pa.Table, start: str, names: Sequence[str]) -> bool:
    """Say whether some columns are the probabilities of a policy in every row."""
    values = np.column_stack([columns.read_numbers(first, name) for name in names])
    if not ((values >= 0).all() and (values <= 1).all() and (abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE).all()):
        return False
    has_fractions = bool(((values > 0) & (values < 1)).any())
    return has_fractions or POLICY.fullmatch(start.rstrip("._")) is not None
