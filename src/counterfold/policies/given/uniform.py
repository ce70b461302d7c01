"""Uniform: every action is as likely as any other."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given._choice import list_choices, share_equally
from counterfold.policies.given.base import Target, TargetForm


@dataclass(frozen=True)
class Uniform(TargetForm):
    r"""The policy that draws from the actions that could be taken, each with the same probability.

    $$\pi(a \mid x_i) = 1 / |A_i|$$

    $A_i$ are the available actions of the row, or all that the log knows where it does not tell.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Uniform(), cf.IPS()).value
    1.0
    """

    syntax = "uniform"

    def resolve(self, log: Log, check: Checker) -> Target:
        return Target.of(share_equally(np.array(list_choices(log))), log)
