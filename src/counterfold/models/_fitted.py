"""Fitted: reward models that were fitted before, one for each fold of the rows."""

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
    """What was fitted before, for rows that come all at once, or a few at a time.

    With several `predictors`, each row is predicted by that of its fold, which never saw it. `without` are predictors
    fitted on all but one of several equal parts; how they differ tells the noise of fitting. `elsewhere` are those of
    folds, where a single predictor saw every row. What a sample of the rows taught does not say how far others move it.
    """

    predictors: tuple[Predictor, ...]
    without: tuple[Predictor, ...] = ()
    elsewhere: tuple[Predictor, ...] = ()
    name: str = "Fitted"
    is_of_sample: bool = False
    learns = False

    @property
    def fit_noise(self) -> FitNoise:
        is_known = 1 < len(self.predictors) == len(self._models)
        return "known" if is_known and not self.is_of_sample else "unknown"

    @property
    def _models(self) -> list[PolicyModels]:
        """Return the linear models, or those that others were made of, if all of them see the same columns."""
        every = (one.linear if isinstance(one, Derived) else one for one in self.predictors)
        linear = [one for one in every if isinstance(one, PolicyModels)]
        return linear if all(one.scaling is linear[0].scaling for one in linear) else []

    def predictions(self, examples: Examples) -> Floats:
        if len(self.predictors) == 1:
            return self.predictors[0](examples)
        fold = assign_folds(examples.units, len(self.predictors))
        if self._models == list(self.predictors):
            return predict_folds(self._models, examples, fold)
        q = np.empty((len(examples), examples.n_actions))
        for number, predict in enumerate(self.predictors):
            mine = np.flatnonzero(fold == number)
            if len(mine):
                some = examples.take(mine)
                q[mine] = check_predictions(predict(some), some)
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
