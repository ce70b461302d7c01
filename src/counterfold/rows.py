"""Rows: what an estimator sees of one log, one target and one reward model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from counterfold.arrays import Floats, Ints, row_sums
from counterfold.log import Log
from counterfold.models._given import Given
from counterfold.models.base import Examples, Lazy, RewardModel
from counterfold.target import Target, as_target

Part = Literal["target_probs", "logging_probs", "model"]


@dataclass(frozen=True, eq=False)
class Rows:
    """The vectors that formulas are written in; reward predictions are computed when first asked for.

    `weights` and `rewards` are always there. `q_logged` and `q_policy` (the reward model's prediction for the logged
    action, and its mean under the target) and `q` (n x A) need a model; `target_probs` and `logging_probs` (n x A) have
    no columns when only the logged actions' probabilities are known. `knows` tells.
    """

    examples: Examples
    weights: Floats
    target_probs: Floats
    logging_probs: Floats
    model: RewardModel | None
    groups: Ints | None
    refit: Lazy | None = None

    @classmethod
    def of(cls, log: Log, target: Target, model: RewardModel | None) -> "Rows":
        """Return all rows of a log."""
        ids = np.arange(len(log))
        units = ids if log.group is None else log.group
        examples = Examples(ids, units, log.context, log.action, log.reward, len(log.actions))
        unknown = np.empty((len(log), 0))
        target_probs = unknown if target.probs is None else target.probs
        logging_probs = unknown if log.logging_probs is None else log.logging_probs
        return cls(examples, target.logged / log.propensity, target_probs, logging_probs, model, log.group)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.weights)

    @property
    def rewards(self) -> Floats:
        """The rewards that were logged."""
        return self.examples.rewards

    @property
    def actions(self) -> Ints:
        """The codes of the actions that were logged."""
        return self.examples.actions

    @cached_property
    def q(self) -> Floats:
        """The predicted reward of every action (n x A)."""
        if self.refit is not None:
            return self.refit()
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        return self.model.predictions(self.examples)

    @cached_property
    def q_logged(self) -> Floats:
        """The predicted reward of the logged action."""
        return self.q[np.arange(len(self)), self.actions]

    @cached_property
    def q_policy(self) -> Floats:
        """The predicted reward under the target policy."""
        return row_sums(self.target_probs, self.q)

    def knows(self, part: Part) -> bool:
        """Say whether a part that may be missing is there."""
        known = {"target_probs": self.target_probs.size > 0, "logging_probs": self.logging_probs.size > 0}
        return (known | {"model": self.model is not None})[part]

    def take(self, index: Ints | slice, refit: Lazy | None = None) -> "Rows":
        """Return some of the rows, with the reward model refitted on them; a slice copies nothing."""
        return Rows(
            examples=self.examples.take(index),
            weights=self.weights[index],
            target_probs=self.target_probs[index],
            logging_probs=self.logging_probs[index],
            model=self.model,
            groups=None if self.groups is None else self.groups[index],
            refit=refit,
        )

    def with_policies(self, logging_probs: Floats, target_probs: Floats) -> "Rows":
        """Return the same rows as if other policies had logged them and were to be valued (n x A each)."""
        logged = np.arange(len(self)), self.actions
        weights = target_probs[logged] / logging_probs[logged]
        return replace(self, weights=weights, target_probs=target_probs, logging_probs=logging_probs)

    def halves(self, cuts: Sequence[int]) -> Iterator[tuple["Rows", "Rows"]]:
        """Yield the rows before and after each of the ascending cuts; use a pair before asking for the next."""
        refits: Iterator[tuple[Lazy | None, Lazy | None]] = iter([(None, None)] * len(cuts))
        if self.model is not None:
            refits = iter(self.model.halves(self.examples, cuts))
        for cut, (before, after) in zip(cuts, refits, strict=True):
            yield self.take(slice(cut), before), self.take(slice(cut, None), after)


def example_rows(model: RewardModel | None = None) -> Rows:
    """Return four rows with two actions, small enough to check a formula by hand.

    >>> rows = example_rows()
    >>> rows.weights, rows.rewards
    (array([0.5, 2. , 1. , 4. ]), array([0., 0., 1., 1.]))
    >>> rows.q_logged, rows.q_policy
    (array([0.8, 0.4, 0.6, 0.6]), array([0.56, 0.44, 0.6 , 0.52]))
    """
    log = Log(
        context=[[0.0], [1.0], [2.0], [3.0]],
        action=[0, 1, 0, 1],
        reward=[0.0, 0.0, 1.0, 1.0],
        logging_probs=[[0.8, 0.2], [0.6, 0.4], [0.5, 0.5], [0.8, 0.2]],
    )
    target = as_target([[0.4, 0.6], [0.2, 0.8], [0.5, 0.5], [0.2, 0.8]], log)
    return Rows.of(log, target, model or Given(np.array([[0.8, 0.4], [0.6, 0.4], [0.6, 0.6], [0.2, 0.6]])))
