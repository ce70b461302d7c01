"""Fitted: reward models that are already fitted, one for each fold of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import assign_folds
from counterfold.models._policy_models import Derived, PolicyModels, predict_folds
from counterfold.models._pulls import Lessons, RidgePulls, find_pulls, sum_lessons
from counterfold.models.base import Examples, FitNoise, Predictor, RewardModel, check_predictions


@dataclass(frozen=True, eq=False)
class Fitted(RewardModel):
    """Predictors that are already fitted, for rows that come all at once or in batches.

    - `predictors`: one for all rows, or one for each fold, which is trained on the rows outside the fold.
    - `without`: predictors trained on all but one of several equal parts; their spread shows the noise of fitting.
    - `elsewhere`: the predictors of folds, if a single predictor is trained on all rows.
    - `name`: the name of the model in errors.
    - `is_of_sample`: whether the predictors are trained on a sample of the rows. Then the influence of each row on
      values is unknown.
    """

    predictors: tuple[Predictor, ...]
    without: tuple[Predictor, ...] = ()
    elsewhere: tuple[Predictor, ...] = ()
    name: str = "Fitted"
    is_of_sample: bool = False
    learns = False

    @property
    def fit_noise(self) -> FitNoise:
        is_cross_fitted = len(self.predictors) > 1
        is_linear = len(self._models) == len(self.predictors)
        return "known" if is_cross_fitted and is_linear and not self.is_of_sample else "unknown"

    @property
    def _models(self) -> list[PolicyModels]:
        """Return the linear models, also those inside derived predictors; none if their scalings differ."""
        linear: list[PolicyModels] = []
        for predictor in self.predictors:
            model = predictor.linear if isinstance(predictor, Derived) else predictor
            if isinstance(model, PolicyModels):
                linear.append(model)
        # `predict_folds` and `find_pulls` scale each row once for the models of all folds. That is valid only if all
        # models have the same Scaling object: equal but distinct scalings may differ in the last bit.
        if any(model.scaling is not linear[0].scaling for model in linear):
            return []
        return linear

    def predictions(self, examples: Examples) -> Floats:
        if len(self.predictors) == 1:
            return self.predictors[0](examples)
        fold = assign_folds(examples.units, len(self.predictors))
        if self._models == list(self.predictors):
            return predict_folds(self._models, examples, fold)
        q = np.empty((len(examples), examples.n_actions))
        for number, predict in enumerate(self.predictors):
            inside = np.flatnonzero(fold == number)
            if len(inside):
                rows = examples.take(inside)
                q[inside] = check_predictions(predict(rows), rows)
        return q

    def find_pulls(self, examples: Examples, caps: Sequence[float]) -> RidgePulls:
        return find_pulls(self._models, examples, caps)

    def count_lessons(self, examples: Examples) -> int:
        width = len(self._models[0].slopes) + 1
        return len(self._models) * width * (examples.n_actions + 1)

    def sum_lessons(self, examples: Examples, residuals: Floats, unit: Ints, units: int) -> Lessons:
        return sum_lessons(self._models, examples, residuals, unit, units)

    def pull_values(self, examples: Examples, caps: Sequence[float], lessons: Lessons) -> Floats:
        pulls = self.find_pulls(examples, caps)
        return lessons.move(pulls.own, pulls.shared)
