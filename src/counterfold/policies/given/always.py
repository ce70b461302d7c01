"""Always: one action, whatever the context."""

from dataclasses import dataclass
from typing import Any

from counterfold.base.notation import unquote
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given.actions import Actions
from counterfold.policies.given.base import Target, TargetForm


@dataclass(frozen=True)
class Always(TargetForm):
    r"""The policy that takes one action in every row; unlike a plain text, the label is never taken for a column.

    $$\pi(a \mid x_i) = 1[a = \text{label}]$$

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Always(1), cf.IPS()).value
    2.0
    """

    label: Any
    syntax = "always:LABEL"
    takes = {"label": unquote}

    def resolve(self, log: Log, check: Checker) -> Target:
        return Actions(self.label).resolve(log, check)
