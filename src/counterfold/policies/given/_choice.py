"""Scores of actions, and which actions a policy may choose from in each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfold.base import messages
from counterfold.base.arrays import Bools, Floats
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.validation import Checker
from counterfold.log.indices import align_rows
from counterfold.log.labels import SEPARATORS, spell_label
from counterfold.log.log import Log
from counterfold.log.log_checks import Matrix, check_matrix, count_dimensions, order_columns
from counterfold.policies.given import _features
from counterfold.policies.given.base import Reads, TargetForm


def list_choices(log: Log) -> Bools:
    """Return which actions can be chosen in each row (n x A): the available ones, or all if the log does not tell."""
    return np.ones((len(log), len(log.actions)), dtype=bool) if log.available is None else log.available


def share_equally(chosen: Bools) -> Floats:
    """Return probabilities that are the same for all chosen actions of a row."""
    return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))


def name_columns(columns: Any) -> tuple[str, ...]:
    """Return the names of columns that hold scores, if these are given by name."""
    if isinstance(columns, str):
        return (columns,)
    several = columns.values() if isinstance(columns, Mapping) else columns
    is_listed = isinstance(columns, (Mapping, Sequence)) and all(isinstance(one, str) for one in several)
    return tuple(several) if is_listed else ()


@dataclass(frozen=True, eq=False)
class ScoredColumns:
    """Scores from columns that were named one by one, with the action that each belongs to if the user said so."""

    values: Mapping[str, Floats]
    labels: Mapping[str, Any]

    def stack(self, log: Log) -> pa.Table:
        """Return a column for each action, named after it."""
        found = {name: str(self.find_action(name, log)) for name in self.values}
        for name, action in found.items():
            again = [other for other in found if found[other] == action and other != name]
            if again:
                both = f"got `{messages.show(name)}` and `{messages.show(again[0])}` for {messages.show(action)}"
                raise DataError(f"scores must be one column for each action, {both}.")
        return pa.table({found[name]: numbers for name, numbers in self.values.items()})

    def find_action(self, column: str, log: Log) -> Any:
        """Return the action that a column belongs to: the one that was said, or the longest that its name ends with."""
        if column in self.labels:
            return self.labels[column]
        known = {text: action for action in log.actions for text in spell_label(action)}
        ends = (f"{separator}{text}" for separator in SEPARATORS for text in known)
        fitting = [end[1:] for end in ends if column.endswith(end)] + ([column] if column in known else [])
        if not fitting:
            rule = "end with the label of an action, as in `score_LABEL`"
            way = "Rename it, or pass a mapping {label: column} in Python"
            actions = messages.list_some(log.actions)
            raise DataError(f"the name of column `{column}` of scores must {rule} (actions: {actions}). {way}.")
        return known[max(fitting, key=len)]


class Scored(TargetForm):
    """A policy that follows from a score for each action."""

    scores: Any

    @property
    def reads(self) -> tuple[Reads, ...]:
        kind = "scores" if isinstance(self.scores, str) else "numbers"
        return tuple(Reads(name, kind) for name in name_columns(self.scores))

    @property
    def is_streamable(self) -> bool:
        return bool(name_columns(self.scores)) or count_dimensions(self.scores) == 0

    def uses_context(self, *, has_table: bool) -> bool:
        return callable(self.scores)

    def find_scores(self, values: Mapping[str, Any]) -> Any:
        """Return the scores that the columns hold, or those that were given."""
        names = name_columns(self.scores)
        if not names or isinstance(self.scores, str):
            return values[self.scores] if names else self.scores
        given = {column: label for label, column in self.scores.items()} if isinstance(self.scores, Mapping) else {}
        return ScoredColumns({name: values[name] for name in names}, given)

    def order_scores(self, log: Log, check: Checker) -> tuple[Floats, Bools]:
        """Return the scores of all actions (n x A), with any number where an action cannot be chosen; and where it can.

        A score may be missing where the action is not available, and nowhere else.
        """
        if name_columns(self.scores):
            what = messages.list_names(name_columns(self.scores))
            way = "Give a file or a data frame to `cf.evaluate`, or the scores themselves (n x A)"
            raise ParameterError(f"`target` must find column `{what}` in a table, got a `Log`, which has none. {way}.")
        given = _features.call_on_log(self.scores, log)
        given = given.stack(log) if isinstance(given, ScoredColumns) else align_rows("target", given, log.index, check)
        matrix = check_matrix("target", given, len(log), check)
        there = ~np.isnan(matrix.values)
        known, numbers = (
            order_columns("target", Matrix(one, matrix.names), log.known_actions, check, sparse=True)
            for one in (there.astype(np.float64), np.where(there, matrix.values, 0.0))
        )
        can_choose, is_good = list_choices(log), (known == 1) | ~list_choices(log)
        lacking = [action for action, good in zip(log.actions, is_good.all(axis=0), strict=True) if not good]
        hint = f" There is none for {messages.list_some(lacking)}." if lacking else ""
        shown = np.where(known == 1, numbers, np.nan)
        check.every("target", shown, is_good, "scores of all actions that can be chosen", hint)
        check.finite("target", numbers)
        return numbers, can_choose

    def score(self, log: Log, check: Checker) -> Floats:
        """Return the scores of all actions, and minus infinity for those that cannot be chosen."""
        numbers, can_choose = self.order_scores(log, check)
        return np.where(can_choose, numbers, -np.inf)
