"""Features of actions: from a table with a row for each action to numbers that tell which are alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.base.validation import WHOLE, Checker, is_number
from counterfold.io.schema import roles
from counterfold.io.schema.columns import read_features, read_labels
from counterfold.log.encoding.base import COLUMNS
from counterfold.log.encoding.kinds import is_categorical, is_numeric, is_text
from counterfold.log.encoding.levels import COVERED, write_level
from counterfold.log.encoding.lists import is_vector
from counterfold.log.encoding.spoilt_numbers import find_spoilt_numbers
from counterfold.log.facts import ActionFeatures
from counterfold.log.label_checks import check_labels
from counterfold.log.log_checks import find_places, refuse_beside_doses

ENCODED = "nothing need be done, unless they mean something else: then make numbers of them"

LEFT_OUT = "put values that belong together as one, or make numbers of them, if they say which actions are alike"


@dataclass(frozen=True, eq=False)
class ActionTable:
    """What a table says of actions, among which there may be others than those of the log.

    `labels` are those of its rows, from the column called `label`, which is not in `table`.
    """

    label: str
    labels: Sequence[Any]
    table: pa.Table

    def read(self, actions: Sequence[Any]) -> ActionFeatures:
        """Return the features of all actions of a log, in their order; rows of others make no difference."""
        places = find_places(self.labels, actions)
        rows = np.sort(places)
        try:
            self._refuse_repeated([self.labels[place] for place in rows])
            features = self._encode(self.table.take(rows), Checker(rows, is_whole=True))
        except DataError as error:
            raise _name_source(error) from None
        return ActionFeatures(features.values[np.searchsorted(rows, places)], features.notes)

    def _refuse_repeated(self, labels: Sequence[Any]) -> None:
        """Refuse several rows for an action of the log."""
        counts = Counter(self.labels)
        repeated = [label for label in labels if counts[label] > 1]
        if repeated:
            got = f"got {messages.list_some(repeated)} more often"
            raise DataError(f"column `{self.label}` must hold each action once, {got}.")

    def _encode(self, table: pa.Table, check: Checker) -> ActionFeatures:
        """Return numbers and lists of numbers, and 0 or 1 for each value of a text that several actions have."""
        numbers: list[str] = []
        texts: dict[str, list[str | None]] = {}
        others: dict[str, str] = {}
        for name in table.column_names:
            column = table.column(name)
            if is_vector(column) or holds_numbers(column):
                numbers.append(name)
            elif holds_text(column):
                texts[name] = read_values(column)
            else:
                others[name] = f"it is {column.type}, which is no number and no text"

        spoilt = find_spoilt_numbers(table, texts, check)
        chosen, reasons = choose_values({name: Counter(cells) for name, cells in texts.items() if name not in spoilt})
        reasons |= spoilt | others
        marks = [mark_value(texts[name], value) for name, values in chosen.items() for value in values]
        columns = [*read_features(table, numbers, check).columns, *marks]
        if not columns:
            got = "; ".join(f"{messages.show(name)}: {why}" for name, why in reasons.items()) or "none"
            rule = "numbers, or texts that some actions have in common,"
            way = "Put values that belong together as one, or make numbers of them"
            raise DataError(f"there must be {rule} beside column `{self.label}`, got {got}. {way}.")
        descriptions = [describe_values(name, texts[name], values) for name, values in chosen.items()]
        return ActionFeatures(np.column_stack(columns), write_notes(descriptions, reasons))


@dataclass(frozen=True, eq=False)
class ActionSource:
    """A file, a data frame or another source of features of actions; its rows are those of the first reading."""

    source: Any

    @cached_property
    def _rows(self) -> pa.Table:
        from counterfold.io.sources import read_table

        return read_table(self.source)

    def read(self, column_roles: Mapping[str, str]) -> ActionTable | None:
        """Return what it has beside the labels, by the columns of a log; there are no actions in one of doses."""
        if "dose" in column_roles:
            refuse_beside_doses({"action_features": self.source})
        if "action" not in column_roles:
            return None
        label = column_roles["action"]
        try:
            roles.require(self._rows, {"action": label})
            labels = check_labels(label, read_labels(self._rows, label), self._rows.num_rows, WHOLE).tolist()
        except DataError as error:
            raise _name_source(error) from None
        return ActionTable(label, labels, self._rows.drop_columns([label]))


def _name_source(error: DataError) -> DataError:
    """Return an error that says that it is about features of actions, and not about the log."""
    return DataError(f"in `action_features`, {error}")


def holds_numbers(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds numbers, which may be written as texts if all of them are."""
    if is_numeric(column.type) or pa.types.is_dictionary(column.type) or not is_text(column.type):
        return is_numeric(column.type)
    return not column.null_count and all(map(is_number, column.to_pylist()))


def holds_text(column: pa.ChunkedArray) -> bool:
    """Say whether a column holds texts or categories, or nothing at all."""
    return is_categorical(column.type) or bool(pa.types.is_null(column.type))


def read_values(column: pa.ChunkedArray) -> list[str | None]:
    """Return the value of each action as a text, None where there is none."""
    return [write_level(cell) for cell in column.to_pylist()]


Counts = Mapping[str, Counter[str | None]]
"""How many actions have each value of some texts; None stands for having none."""


def choose_values(counted: Counts) -> tuple[dict[str, list[str | None]], dict[str, str]]:
    """Return the values of each text that become columns, and why other texts are left out.

    A value that one action alone has says of none what it has in common with others. Texts of few values come first,
    as all together become at most COLUMNS columns.
    """
    shared = {name: rank_shared(counts) for name, counts in counted.items()}
    reasons = {name: why for name, counts in counted.items() if (why := explain_values(counts)) is not None}
    chosen: dict[str, list[str | None]] = {}
    room = COLUMNS
    for name in sorted((name for name in counted if name not in reasons), key=lambda name: len(shared[name])):
        values = shared[name][:room]
        counts = counted[name]
        share = sum(counts[value] for value in values if value is not None) / count_present(counts)
        if share < COVERED:
            part = f"{len(values)} of its {len(counts.keys() - {None})} values"
            reasons[name] = f"there is room for {part}, those of {100 * share:.0f} % of the actions"
        else:
            chosen[name] = values
            room -= len(values)
    return {name: chosen[name] for name in counted if name in chosen}, reasons


def rank_shared(counts: Counter[str | None]) -> list[str | None]:
    """Return the values that several actions have, the most frequent first."""
    shared = [value for value, number in counts.items() if number > 1]
    return sorted(shared, key=lambda value: (-counts[value], value is None, value or ""))


def explain_values(counts: Counter[str | None]) -> str | None:
    """Say why a text tells nothing of what actions have in common, if so."""
    present = count_present(counts)
    own = sum(counts[value] == 1 for value in counts.keys() - {None})
    if not present:
        return "no action has a value"
    if len(counts) == 1:
        return "all actions have the same value"
    if own > (1 - COVERED) * present:
        return f"{own} of {present} actions have a value that no other one has"
    return None


def count_present(counts: Counter[str | None]) -> int:
    """Return how many actions have a value."""
    return counts.total() - counts[None]


def mark_value(cells: Sequence[str | None], value: str | None) -> Floats:
    """Return 1 for actions that have a value and 0 for others."""
    return np.array([cell == value for cell in cells], dtype=np.float64)


def describe_values(name: str, cells: Sequence[str | None], values: Sequence[str | None]) -> str:
    """Say which values of a text became columns."""
    named = set(values) - {None}
    missing = cells.count(None)
    rest = len(set(cells) - {None} - named)
    more = f" and {rest} rare ones together" if rest else ""
    gaps = f", missing for {missing} of {len(cells)} actions" if missing else ""
    return f"`{messages.show(name)}` by {len(named)} value{'s' * (len(named) != 1)}{more}{gaps}"


def write_notes(descriptions: Sequence[str], reasons: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what an answer must say of features of actions, and what to do about it."""
    notes: list[tuple[str, str]] = []
    if descriptions:
        notes.append((f"texts of `action_features` were made numbers: {'; '.join(descriptions)}", ENCODED))
    if reasons:
        left_out = "; ".join(f"`{messages.show(name)}`, as {why}" for name, why in reasons.items())
        notes.append((f"columns of `action_features` were left out: {left_out}", LEFT_OUT))
    return notes
