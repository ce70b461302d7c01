"""Features of actions: from a table with a row for each action to numbers that tell which are alike."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold import messages
from counterfold.arrays import Floats
from counterfold.checks import WHOLE
from counterfold.encoding import ContextSummary
from counterfold.encoding.kinds import is_categorical
from counterfold.encoding.levels import LevelCounts
from counterfold.errors import DataError
from counterfold.label_checks import check_labels
from counterfold.tables.columns import is_vector, numeric, read_features, read_labels


def read_action_features(table: pa.Table, label: str) -> dict[Any, Floats]:
    """Return the features of each action: numbers, lists of numbers, and 0 or 1 for each value of a text.

    A text that differs in most actions, as their names do, tells nothing of what they have in common.
    """
    actions = check_labels(label, read_labels(table, label), table.num_rows, WHOLE).tolist()
    repeated = [action for action, count in Counter(actions).items() if count > 1]
    if repeated:
        raise DataError(f"column `{label}` must hold each action once, got {messages.list_some(repeated)} more often.")
    vectors = [name for name in table.column_names if is_vector(table.column(name))]
    beside = [name for name in table.column_names if name in {*numeric(table), *vectors} - {label}]
    texts = [name for name in table.column_names if is_categorical(table.column(name).type)]
    columns = [*read_features(table, beside).columns, *read_levels(table, set(texts) - {label, *vectors})]
    if not columns:
        found = f"Found: {messages.list_names(table.column_names)}"
        rule = "numbers, or texts that some actions have in common,"
        raise DataError(f"there must be {rule} beside column `{label}`. {found}.")
    return dict(zip(actions, np.column_stack(columns), strict=True))


def read_levels(table: pa.Table, names: Collection[str]) -> list[Floats]:
    """Return a column of 0 and 1 for each frequent value of texts but the most frequent; none of identifiers."""
    counted = {name: LevelCounts.of(name, table.column(name), WHOLE) for name in table.column_names if name in names}
    summary = ContextSummary(counted)
    found = summary.without(summary.explain()).learn()
    return [column for name, one in found.items() for column in one.encode(table.column(name), WHOLE)]
