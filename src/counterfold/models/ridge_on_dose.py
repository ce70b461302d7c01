"""Ridge regression on the context and powers of the dose."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.models._moments import scale_counts
from counterfold.models.base import Examples, Predictor, TrainedModel


@dataclass(frozen=True)
class RidgeOnDose(TrainedModel):
    r"""A linear model of the reward in the context and the powers of the dose, with all products of one and the other.

    $$\hat q(x, d) = b + \phi(x, d)^\top \beta, \qquad \phi(x, d) = [1, x] \otimes [1, d, \dots, d^k]$$

    Every column of $\phi$ is centred and scaled before the L2 penalty `alpha` per row applies. `degree` is k. This is
    the default reward model where actions are doses.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> dose = np.linspace(0.0, 1.0, 50)
    >>> log = cf.Log(dose=dose, reward=1 - (dose - 0.6) ** 2, propensity=np.ones(50))
    >>> round(cf.estimate(log, np.full(50, 0.6), cf.DM(), reward_model=cf.RidgeOnDose(alpha=1e-9)).value, 6)
    1.0
    """

    alpha: float = 1e-3
    degree: int = 2
    kinds = ("doses",)

    def __post_init__(self) -> None:
        validation.above(0, alpha=self.alpha)
        validation.whole(1, degree=self.degree)

    def fit(self, examples: Examples) -> Predictor:
        if len(examples) == 0:
            return lambda rows: np.zeros((len(rows), rows.n_actions))
        low, high = examples.doses[:, 0].min(), examples.doses[:, 0].max()
        middle, reach = (low + high) / 2, (high - low) / 2 or 1.0

        def features(context: Floats, doses: Floats) -> Floats:
            powers = ((doses - middle) / reach)[:, None] ** np.arange(self.degree + 1)
            linear = np.column_stack([np.ones(len(context)), context])
            return np.asarray(np.einsum("ij,ik->ijk", linear, powers).reshape(len(context), -1)[:, 1:])

        table = features(examples.context, examples.doses[:, 0])
        counts = np.ones(len(examples)) if examples.counts is None else scale_counts(examples.counts)
        centre = np.average(table, axis=0, weights=counts)
        scale = np.sqrt(np.average(np.square(table - centre), axis=0, weights=counts))
        scale[scale <= 1e-12 * np.maximum(np.abs(centre), 1e-100)] = np.inf  # a column that does not vary says nothing
        scaled = (table - centre) / scale
        mean = np.average(examples.rewards, weights=counts)
        penalty, weighted = self.alpha * counts.sum() * np.eye(table.shape[1]), scaled.T * counts
        slopes = np.linalg.solve(weighted @ scaled + penalty, weighted @ (examples.rewards - mean)) / scale

        def predict(rows: Examples) -> Floats:
            tried = (features(rows.context, doses) - centre for doses in rows.doses.T)
            return np.column_stack([mean + columns @ slopes for columns in tried])

        return predict
