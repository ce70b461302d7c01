"""Logistic regression on what a shared ridge regression predicts, for rewards of two values."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.models._moments import scale_counts
from counterfold.models._policy_models import weigh_rows
from counterfold.models._sklearn import fit_copy
from counterfold.models.base import Examples, Predictor, Scaling, TrainedModel
from counterfold.models.shared_ridge import SharedRidge

LEAST = 0.02
"""No prediction is taken for nearer to a sure reward than this, before its logarithm is taken."""


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
        checks.an_object(SharedRidge, "a `SharedRidge`", ridge=self.ridge)

    def fit(self, examples: Examples) -> Predictor:
        linear, values = self.ridge.fit(examples), np.unique(examples.rewards)
        if len(values) != 2:
            return linear
        from sklearn.linear_model import LogisticRegression

        low, high = values.tolist()
        q = linear(examples)[np.arange(len(examples)), examples.actions]
        columns = np.column_stack([*bend((q - low) / (high - low)), examples.see(examples.actions)])
        scaling, counts = Scaling.of(columns), weigh_rows(examples, self.ridge.aim)
        counts = counts if examples.counts is None else counts * examples.counts
        won = (examples.rewards == high).astype(np.float64)
        usual = LogisticRegression(solver="newton-cholesky")
        fitted = fit_copy(usual, (columns - scaling.centre) / scaling.scale, won, scale_counts(counts), examples.seed)
        return Logistic(linear, fitted.intercept_[0], fitted.coef_[0], scaling, (low, high))


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
        bent = bend((self.linear(rows) - low) / (high - low))
        total = rows.context @ slopes[2 : 2 + width]
        total += self.intercept - self.scaling.centre @ slopes
        matrices: Any = zip((*bent, *rows.log_probs), (*slopes[:2], *slopes[2 + width :]), strict=True)
        chance = expit(total[:, None] + sum(matrix * slope for matrix, slope in matrices))
        return np.asarray(low + (high - low) * chance)


def bend(chance: Floats) -> tuple[Floats, Floats]:
    """Return the log-odds of a chance that is not sure, and that chance."""
    unsure = np.clip(chance, LEAST, 1 - LEAST)
    return np.log(unsure / (1 - unsure)), unsure
