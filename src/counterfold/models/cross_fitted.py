"""Out-of-fold predictions of another reward model."""

from dataclasses import dataclass, field

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats, Ints
from counterfold.log import Kind
from counterfold.models.base import Examples, RewardModel, TrainedModel
from counterfold.models.ridge_per_action import RidgePerAction


@dataclass(frozen=True, eq=False)
class CrossFitted(RewardModel):
    r"""Predict each row by a model that never saw it: $\hat q(x_i, a) = \hat q^{(-f(i))}(x_i, a)$.

    Rows fall into `folds` by a fixed hash of their place in the log, groups as a whole, so the folds of a subset are
    those of the log and no seed is involved. A fold that holds all the rows of a subset predicts from none, that is 0.

    Chernozhukov et al. (2018), "Double/debiased machine learning for treatment and structural parameters".

    >>> import counterfold as cf
    >>> cf.example_rows(cf.CrossFitted(folds=2)).q.shape
    (4, 2)
    """

    model: TrainedModel = field(default_factory=RidgePerAction)
    folds: int = 5

    def __post_init__(self) -> None:
        """Check the number of folds."""
        checks.whole(2, folds=self.folds)

    def suits(self, kind: Kind) -> bool:
        """Say whether the model that is fitted can."""
        return self.model.suits(kind)

    def predictions(self, examples: Examples) -> Floats:
        """Return predictions fold by fold."""
        q = np.zeros((len(examples), examples.n_actions))
        fold = scattered(examples.units) % self.folds
        for number in range(self.folds):
            inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
            if len(inside) and len(outside):
                q[inside] = self.model.fit(examples.take(outside))(examples.take(inside))
        return q


def scattered(units: Ints) -> Ints:
    """Return a fixed hash of every number (the finaliser of splitmix64), so that periodic logs give random folds."""
    bits = units.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(1)).astype(np.intp)
