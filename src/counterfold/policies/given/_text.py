"""Text: what a user wrote, which is a label if the log knows it, and otherwise what the grammar makes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base import messages
from counterfold.base.errors import CounterfoldError, DataError, ParameterError
from counterfold.base.notation import unquote
from counterfold.base.validation import Checker
from counterfold.log.labels import spell_label, write_label
from counterfold.log.log import Log
from counterfold.policies.given._grammar import parse_target, suggest_form
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Reads, Target, TargetForm

IN_MEMORY = "an array, an action or a policy such as `uniform`"
NO_COLUMNS = (
    "A `Log` holds no columns of targets: give the file or the data frame itself to `cf.evaluate`, or the column as "
    "`cf.read_target(source, {!r})`."
)
"""What a text may be for a log in memory, and what to do if it is the name of a column."""


@dataclass(frozen=True, eq=False)
class Text(TargetForm):
    """A text that names no column: a label, or `form`; `problem` says why it is no form.

    `columns` are those of the table that was looked into, if any.
    """

    text: str
    form: TargetForm | None = None
    problem: str = ""
    columns: Sequence[str] | None = None
    hint: str = ""

    @classmethod
    def of(cls, text: str, columns: Sequence[str] | None = None, hint: str = "") -> "Text":
        """Return what a text may be; `hint` suggests another one if it is nothing."""
        name = unquote(text)
        try:
            return cls(name, parse_target(text), columns=columns, hint=hint)
        except CounterfoldError as error:  # it may be a label all the same
            return cls(name, problem=str(error), columns=columns, hint=hint)

    @property
    def _meaning(self) -> TargetForm:
        return Actions(self.text) if self.form is None else self.form

    @property
    def reads(self) -> tuple[Reads, ...]:
        return () if self.form is None else self.form.reads

    @property
    def is_full(self) -> bool:
        return self._meaning.is_full

    @property
    def is_streamable(self) -> bool:
        return self._meaning.is_streamable

    def uses_context(self, *, has_table: bool) -> bool:
        return self._meaning.uses_context(has_table=has_table)

    def bind(self, find: Callable[[Any], TargetForm]) -> TargetForm:
        return self if self.form is None else replace(self, form=self.form.bind(find))

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return self if self.form is None else replace(self, form=self.form.fill(values))

    def is_label(self, log: Log) -> bool:
        """Say whether the log knows an action of this name."""
        return any(self.text in spell_label(action) for action in log.actions)

    def require_known(self, log: Log) -> None:
        if self.is_label(log):
            return
        if self.form is not None:
            self.form.require_known(log)
            return
        if self.problem:
            raise ParameterError(self.problem)
        hint = self.hint or suggest_form(self.text, [*(self.columns or ()), *map(write_label, log.actions)])
        actions = "" if log.kind == "doses" else f" Actions: {messages.list_some(log.actions)}."
        shown = messages.show(self.text)
        if self.columns is None:
            raise DataError(f"`target` must be {IN_MEMORY}, got {shown!r}.{hint} {NO_COLUMNS.format(shown)}{actions}")
        rule = "must be there" if log.kind == "doses" else "must be there, or be an action that the target always takes"
        raise DataError(f"column `{shown}` {rule}.{hint} Found: {messages.list_names(self.columns)}.{actions}")

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        return None if self.form is None or self.is_label(log) else self.form.explain_ambiguity(log, check)

    def resolve(self, log: Log, check: Checker) -> Target:
        self.require_known(log)
        return (Actions(self.text) if self.is_label(log) else self._meaning).resolve(log, check)

    def list_doses(self, log: Log) -> Any:
        self.require_known(log)
        return self._meaning.list_doses(log)
