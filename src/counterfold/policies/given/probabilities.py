"""Probabilities: the target's probability of the logged action in each row."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.errors import DataError
from counterfold.base.messages import show
from counterfold.base.notation import unquote
from counterfold.base.validation import FIRST, Checker
from counterfold.log.indices import align_rows
from counterfold.log.labels import find_shared_name, simplify_label
from counterfold.log.log import Log
from counterfold.log.log_checks import count_dimensions
from counterfold.policies.given import _features
from counterfold.policies.given.base import Reads, Target, TargetForm, refuse_ambiguity

TARGET_NAME = re.compile(r"(?i:(.*[_ .-])?(target|policy|pi|p|prob|probs|probability|probabilities)([_ .-].*|\d*))")
OTHER_TARGET_NAMES = ("evaluation_probs", "new", "candidate", "challenger", "greedy")
"""What columns of a policy's probabilities are called."""

WAYS = (
    "If they are the actions that the target would take, pass `cf.Actions(...)` (--target-action COLUMN); if they are "
    "its probabilities of the logged actions, `cf.Probabilities(...)` (--target-probability COLUMN)."
)
"""How to say what numbers mean that could be labels of actions as well as probabilities."""


@dataclass(frozen=True, eq=False)
class Probabilities(TargetForm):
    """The target's probability of the logged action in each row: numbers, or a function of the context.

    Of a log that is read from a file or a frame, `values` may be the name of a column. Plain numbers are read so, too,
    unless they are 0 and 1 alone and the actions are called 0 and 1: then they could be labels, and are refused. So is
    one of several `columns` that are called like actions, as each holds the probability of that action instead, and a
    `column` of 0 and 1 that is not called like a policy, as it may tell something else, such as the sex of a user.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Probabilities([0, 1, 0, 1]), cf.IPS()).value
    2.0
    """

    values: Any
    is_sure: bool = True
    columns: Sequence[str] = ()
    column: str | None = None
    syntax = "probabilities:COLUMN"
    takes = {"values": unquote}

    @property
    def reads(self) -> tuple[Reads, ...]:
        return (Reads(self.values, "numbers"),) if isinstance(self.values, str) else ()

    @property
    def is_full(self) -> bool:
        return False

    @property
    def is_streamable(self) -> bool:
        return count_dimensions(self.values) == 0

    def uses_context(self, *, has_table: bool) -> bool:
        return callable(self.values)

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, values=values[self.values]) if isinstance(self.values, str) else self

    def require_known(self, log: Log) -> None:
        if self.is_sure or not isinstance(self.values, str) or log.kind == "doses":
            return
        shared = find_shared_name(self.values, self.columns, log.actions)
        if shared is not None:
            rule = "hold the target's probability of the logged action in each row"
            got = f"got one of the columns `{show(shared)}_ACTION`, each of which is about one action"
            ways = f"Name `{show(shared)}` for all of them; `probabilities:{show(self.values)}` takes this one as it is"
            raise DataError(f"column `{show(self.values)}` must {rule}, {got}. {ways}.")

    def resolve(self, log: Log, check: Checker) -> Target:
        if not check.is_part:
            refuse_ambiguity(self, log, check)
        return Target(self._read(log, check))

    def _read(self, log: Log, check: Checker) -> Floats:
        values = check.floats("target", align_rows("target", self.list_doses(log), log.index, check), ndim=1)
        check.length("target", values, len(log))
        are_labels = (values > 1) & (values == np.floor(values))
        if are_labels.any():
            check.every("target", values, ~are_labels, "in [0, 1]", f" {WAYS.partition(';')[0]}.")
        check.probabilities("target", values)
        return values

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        if self.is_sure:
            return None
        found = {f"{value:g}" for value in np.unique(self._read(log, check)[:FIRST]).tolist()}
        if not found <= {"0", "1"}:
            return None
        got = f"got {' and '.join(sorted(found))} alone"
        labels = {{"true": "1", "false": "0"}.get(text, text) for text in map(simplify_label, log.actions)}
        if found <= labels:
            rule = "numbers that can only be probabilities"
            return f"{check.called('target')} must be {rule}, {got}, which are labels of actions, too. {WAYS}"
        if self.column is None or is_called_like_policy(self.column):
            return None
        rule = "the target's probability of the logged action in each row"
        way = (
            f"Pass `probabilities:{show(self.column)}` if it is that, and name the policy that you ask about otherwise"
        )
        return f"column `{show(self.column)}` must be {rule}, {got}, which may be a fact of the context. {way}."

    def list_doses(self, log: Log) -> Any:
        return _features.call_on_log(self.values, log)


def is_called_like_policy(column: str) -> bool:
    """Say whether a column is called like a policy or its probabilities.

    >>> is_called_like_policy("new_policy"), is_called_like_policy("target_b"), is_called_like_policy("mens")
    (True, True, False)
    """
    return TARGET_NAME.fullmatch(column) is not None or column.casefold() in OTHER_TARGET_NAMES
