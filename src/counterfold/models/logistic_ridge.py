"""Logistic regression on what a shared ridge regression predicts, for rewards of two values."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.models._logistic import LEAST, find_log_odds, fit_logistic
from counterfold.models._moments import scale_counts
from counterfold.models._policy_models import weigh_rows
from counterfold.models.base import Examples, Predictor, Scaling, TrainedModel
from counterfold.models.shared_ridge import SharedRidge

PENALTY = 1.0
"""On the squares of the slopes of scaled columns."""


@dataclass(frozen=True)
class LogisticRidge(TrainedModel):
    r"""The chance of the larger of two rewards by logistic regression on the predictions of `SharedRidge`.

    $$\hat q(x, a) = r_0 + (r_1 - r_0)\, \sigma(b + \beta^\top [\ell(\bar q_a), \bar q_a, z_a]), \qquad
      \ell(q) = \ln \frac{q - r_0}{r_1 - q}$$

    $\bar q_a$ is the prediction of `SharedRidge`, and $z_a$ what it sees of an action. It bends where chances come near
    to 0 or 1, which no linear model does. Rows count as there. Where rewards have more than two values, or fewer, it is
    `SharedRidge` itself.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.LogisticRidge()).q.shape
    (4, 2)
    """

    ridge: SharedRidge = field(default_factory=SharedRidge)

    def __post_init__(self) -> None:
        validation.an_object(SharedRidge, "a `SharedRidge`", ridge=self.ridge)

    def fit(self, examples: Examples) -> Predictor:
        linear, values = self.ridge.fit(examples), np.unique(examples.rewards)
        if len(values) != 2:
            return linear
        low, high = values.tolist()
        q = linear(examples)[np.arange(len(examples)), examples.actions]
        columns = np.column_stack([*bend(q, low, high), examples.see(examples.actions)])
        scaling, counts = Scaling.of(columns), weigh_rows(examples, self.ridge.aim)
        counts = counts if examples.counts is None else counts * examples.counts
        won = (examples.rewards == high).astype(np.float64)
        found = fit_logistic((columns - scaling.centre) / scaling.scale, won, scale_counts(counts), PENALTY)
        return Logistic(linear, float(found[0]), found[1:], scaling, (low, high))


@dataclass(frozen=True, eq=False)
class Logistic:
    """The fitted model: `slopes` are those of scaled columns, `values` the two rewards."""

    linear: Predictor
    intercept: float
    slopes: Floats
    scaling: Scaling
    values: tuple[float, float]

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        from scipy.special import expit

        low, high = self.values
        slopes, width = self.slopes / self.scaling.scale, rows.context.shape[1]
        bent = bend(self.linear(rows), low, high)
        total = rows.columns @ slopes[2 : 2 + width]
        total += self.intercept - self.scaling.centre @ slopes
        matrices: Any = zip((*bent, *rows.log_probs), (*slopes[:2], *slopes[2 + width :]), strict=True)
        chance = expit(total[:, None] + sum(matrix * slope for matrix, slope in matrices))
        return np.asarray(low + (high - low) * chance)


def bend(q: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the log-odds of the larger of two rewards, where it is predicted, and the chance of it."""
    return find_log_odds(q, low, high), np.clip((q - low) / (high - low), LEAST, 1 - LEAST)
