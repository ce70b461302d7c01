"""Greedy: the action with the largest score."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from counterfold.base.notation import read_names
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given._choice import Scored, share_equally
from counterfold.policies.given.base import Target, TargetForm


@dataclass(frozen=True, eq=False)
class Greedy(Scored):
    r"""The policy that takes the available action with the largest score; equal ones share the probability.

    $$\pi(a \mid x_i) = 1[s_{ia} = \max_b s_{ib}] \,/\, |\{c : s_{ic} = \max_b s_{ib}\}|$$

    `scores` are a column (of lists, structs or maps, or spread over `NAME_ACTION`), a list of columns whose names end
    with their actions, a mapping {action: column}, numbers (n x A), or a function of the context that returns these.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Greedy([[1, 5], [1, 5], [3, 3], [0, 9]]), cf.IPS()).value
    2.0
    """

    scores: Any
    syntax = "greedy:COLUMNS"
    takes = {"scores": read_names}

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, scores=self.find_scores(values))

    def resolve(self, log: Log, check: Checker) -> Target:
        scores = self.score(log, check)
        return Target.of(share_equally(scores == scores.max(axis=1, keepdims=True)), log)
