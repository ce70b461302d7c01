"""Out-of-fold predictions of another reward model."""

from dataclasses import dataclass, field, replace
from typing import Self

from counterfold.base import messages, validation
from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.base.hashing import assign_folds
from counterfold.log.log import Kind
from counterfold.models._fitted import Fitted
from counterfold.models.base import Examples, FitNoise, RewardModel, TrainedModel
from counterfold.models.pooled_ridge import PooledRidge


@dataclass(frozen=True, eq=False)
class CrossFitted(RewardModel):
    r"""Predict each row by a model that never saw it: $\hat q(x_i, a) = \hat q^{(-f(i))}(x_i, a)$.

    Rows fall into `folds` by a fixed hash, groups as a whole, so that the folds of a subset are those of the log and no
    seed is involved. Up to 16,384 rows the hash is that of the rank of a row by its values, so that the order of the
    rows does not matter. In longer logs it is that of the position of the row. If one fold contains all rows of a
    subset, no rows are left to train on, and its predictions are 0. Settings that depend on the rows, such as a
    penalty, are chosen on the rows outside each fold, too.

    Chernozhukov et al. (2018), "Double/debiased machine learning for treatment and structural parameters".

    >>> import counterfold as cf
    >>> cf.example_rows(cf.CrossFitted(folds=2)).q.shape
    (4, 2)
    """

    model: TrainedModel = field(default_factory=PooledRidge)
    folds: int = 5

    def __post_init__(self) -> None:
        validation.whole(2, folds=self.folds)
        if not isinstance(self.model, TrainedModel):
            wanted = "a reward model that can be fitted, such as SharedRidge() or PerAction(Ridge())"
            raise ParameterError(f"`model` must be {wanted}, got {messages.shorten(self.model)}.")

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def fit_noise(self) -> FitNoise:
        return "known" if self.model.knows_pulls else "unknown"

    @property
    def is_aimed(self) -> bool:
        return self.model.is_aimed

    def suits(self, kind: Kind) -> bool:
        return self.model.suits(kind)

    def tune(self, examples: Examples) -> Self:
        return replace(self, model=self.model.tune(examples))

    def settle(self, examples: Examples) -> Fitted:
        fold = assign_folds(examples.units, self.folds)
        predictors = self.model.fit_outside(examples, fold, self.folds)
        return Fitted(predictors=tuple(predictors), name=self.name)

    def predictions(self, examples: Examples) -> Floats:
        return self.settle(examples).predictions(examples)
