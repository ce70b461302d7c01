"""Softmax: actions are the more likely the larger their scores are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from counterfold.base import validation
from counterfold.base.notation import read_names, read_number
from counterfold.base.validation import Checker
from counterfold.log.log import Log
from counterfold.policies.given._choice import Scored
from counterfold.policies.given.base import Target, TargetForm


@dataclass(frozen=True, eq=False)
class Softmax(Scored):
    r"""The policy that draws an available action by its score; with a low temperature it is nearly greedy.

    $$\pi(a \mid x_i) = \exp(s_{ia} / T) \,/\, \sum_b \exp(s_{ib} / T)$$

    `scores` are given as for `Greedy`.

    >>> import counterfold as cf
    >>> log = cf.Log(action=[0, 1, 0, 1], reward=[0.0, 1.0, 0.0, 3.0], propensity=[0.5, 0.5, 0.5, 0.5])
    >>> cf.estimate(log, cf.Softmax([[0, 5], [0, 5], [0, 5], [0, 5]], temperature=0.1), cf.IPS()).value
    2.0
    """

    scores: Any
    temperature: float = 1.0
    syntax = "softmax:COLUMNS:temperature=NUMBER"
    takes = {"scores": read_names, "temperature": partial(read_number, "temperature")}

    def __post_init__(self) -> None:
        validation.above(0, temperature=self.temperature)

    def fill(self, values: Mapping[str, Any]) -> TargetForm:
        return replace(self, scores=self.find_scores(values))

    def resolve(self, log: Log, check: Checker) -> Target:
        scores = self.score(log, check)
        with np.errstate(over="ignore", under="ignore"):
            odds = np.exp((scores - scores.max(axis=1, keepdims=True)) / self.temperature)
        return Target.of(odds / odds.sum(axis=1, keepdims=True), log)
