"""Function: code of the user's own that says what the target does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten
from counterfold.base.notation import read_list
from counterfold.base.validation import Checker
from counterfold.log.indices import call_on_context
from counterfold.log.log import Log
from counterfold.policies.given import _features
from counterfold.policies.given.base import Reads, Target, TargetForm


@dataclass(frozen=True, eq=False)
class Function(TargetForm):
    """The policy that a function computes from the context (n x d), or from `columns` of the table as a data frame.

    It returns whatever may be a target: probabilities of all actions, labels, one label, shares. A plain function is
    taken for this by itself; the class is there to name columns, which need not be context.

    >>> import counterfold as cf
    >>> frame = {"age": [20, 60, 70, 30], "action": ["a", "b", "b", "a"], "reward": [1, 0, 1, 0]}
    >>> young = cf.Function(lambda seen: ["a" if age < 40 else "b" for age in seen["age"]], columns=["age"])
    >>> cf.evaluate({**frame, "propensity": [0.5] * 4}, young, ["ips"]).value
    1.0
    """

    function: Callable[[Any], Any]
    columns: Sequence[str] | None = None
    values: Mapping[str, Any] | None = None
    syntax = "MODULE:FUNCTION:columns=COLUMNS"
    takes = {"function": str, "columns": read_list}

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"`function` must be a function of the context, got {shorten(self.function)}.")
        object.__setattr__(self, "columns", _features.check_names(self.columns))

    @property
    def reads(self) -> tuple[Reads, ...]:
        return _features.list_reads(self.columns, _features.RAW)

    def uses_context(self, *, has_table: bool) -> bool:
        return self.columns is None or not has_table

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return self if self.columns is None else replace(self, values={name: values[name] for name in self.columns})

    def call(self, log: Log) -> Any:
        """Return what the function makes of the rows."""
        if self.columns is None:
            return _features.call_on_log(self.function, log)
        frame = _features.make_frame(self.columns, log, self.values)
        return call_on_context(self.function, frame, log.index)

    def find_form(self, log: Log) -> TargetForm:
        """Return what the function returned, as a form."""
        from counterfold.policies.given import find_form

        return find_form(self.call(log))

    def resolve(self, log: Log, check: Checker) -> Target:
        return self.find_form(log).resolve(log, check)

    def explain_ambiguity(self, log: Log, check: Checker) -> str | None:
        return self.find_form(log).explain_ambiguity(log, check)

    def list_doses(self, log: Log) -> Any:
        return self.call(log)
