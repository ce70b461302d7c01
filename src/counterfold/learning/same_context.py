"""Same contexts: rows of one context are one unit if nobody named groups, because policies recognise them."""

from typing import Any

import numpy as np

from counterfold.base.arrays import Ints
from counterfold.base.hashing import hash_rows
from counterfold.io.schema.same_context import REMEDY, find_common
from counterfold.log.assignment import choose_context
from counterfold.log.log import Log


def choose_grouped_context(log: Log) -> Log:
    """Return a log without columns that are no context, whose groups are rows of one context if nobody named any.

    Copies of rows would make columns seem to depend on the action, so there are groups before columns are left out.
    """
    chosen = group_contexts(choose_context(group_contexts(log))[0])
    groups: Any = chosen.group
    return chosen.add_notes([describe(groups)]) if chosen.by_context else chosen


def group_contexts(log: Log) -> Log:
    """Return a log whose groups are the rows of one context each, if nobody named groups and contexts come back.

    A page that is loaded again, or an event that is delivered twice, is there several times, and so is a user of whom
    only lasting features are known. What is learnt from one such row is right in the others by memory. So all of them
    fall into one fold, and count as one observation. Rows of contexts that many share stay on their own, or in the
    groups that they are in by more columns: there is nothing in them to remember, and each tells of all others.

    >>> ages = [[31.5], [42.0], [31.5], *([age] for age in range(100, 137))]
    >>> log = Log(context=ages, action=[0, 1] * 20, reward=range(40), propensity=[0.5] * 40)
    >>> group_contexts(log).group[:5]
    array([0, 1, 0, 3, 4])
    """
    if (log.group is not None and not log.by_context) or not log.context.shape[1]:
        return log
    places = np.arange(len(log))
    groups = join_few(hash_rows(log.context.T), places if log.group is None else log.group)
    if (groups == places).all():
        return log
    return log.group_by_context(groups)


def join_few(keys: Ints, groups: Ints) -> Ints:
    """Return the group of each row: all rows with its key, if these are few, and its former group otherwise.

    The name of a group is the place of its first row, so that single rows fall into the same folds as without groups.

    >>> join_few(np.array([7, 8, 7, *range(100, 140)]), np.arange(43))[:5]
    array([0, 1, 0, 3, 4])
    """
    _, first, where, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    is_joined = ~find_common(counts, len(keys))
    _, leader, before = np.unique(groups, return_index=True, return_inverse=True)
    return np.where(is_joined[where], first[where], leader[before])


def describe(groups: Ints) -> tuple[str, str]:
    """Return the note of an answer on rows that are one group, and a remedy."""
    sizes = np.bincount(groups)
    joined = int(sizes[sizes > 1].sum())
    count = "rows of one context count as one observation, because a policy knows them again"
    return f"{joined:,} of {len(groups):,} rows have the context of another one: {count}", REMEDY
