"""Actions: the action that the target would take in each row."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterfold.base.notation import unquote
from counterfold.base.validation import Checker
from counterfold.log.indices import align_rows
from counterfold.log.label_checks import check_labels
from counterfold.log.labels import encode_labels
from counterfold.log.log import Log
from counterfold.log.log_checks import count_dimensions
from counterfold.policies.given import _features
from counterfold.policies.given.base import Reads, Target, TargetForm

NEVER_TAKEN = " If the log never took it, list all actions in `actions`."
"""What to do about an action of a target that is not known."""


@dataclass(frozen=True, eq=False)
class Actions(TargetForm):
    r"""The action that the target would take in each row: labels, one label for all rows, or a function of the context.

    $$\pi(a \mid x_i) = 1[a = a_i]$$

    Of a log that is read from a file or a frame, `labels` may be the name of a column. Labels that are text say by
    themselves that they are labels; numbers need this class.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Actions([1, 1, 1, 1]), cf.IPS()).value
    2.0
    """

    labels: Any
    syntax = "actions:COLUMN"
    takes = {"labels": unquote}

    @property
    def reads(self) -> tuple[Reads, ...]:
        return (Reads(self.labels, "labels"),) if isinstance(self.labels, str) else ()

    @property
    def is_streamable(self) -> bool:
        return count_dimensions(self.labels) == 0

    def uses_context(self, *, has_table: bool) -> bool:
        return callable(self.labels)

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, labels=values[self.labels]) if isinstance(self.labels, str) else self

    def resolve(self, log: Log, check: Checker) -> Target:
        value = _features.call_on_log(self.labels, log)
        value = np.full(len(log), value) if count_dimensions(value) == 0 else value
        labels = check_labels("target", align_rows("target", value, log.index, check), len(log), check)
        codes = encode_labels("target", labels, log.actions, check, way_out=NEVER_TAKEN)
        probs = np.zeros((len(log), len(log.actions)))
        probs[np.arange(len(log)), codes] = 1.0
        return Target((codes == log.action).astype(np.float64), probs)

    def list_doses(self, log: Log) -> Any:
        return _features.call_on_log(self.labels, log)
