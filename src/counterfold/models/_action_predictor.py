"""Models that predict the reward of one action in each row, and so do not need a matrix of all."""

from abc import ABC, abstractmethod

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.models.base import Examples, Predictor, check_predictions


class ActionPredictor(ABC):
    """A predictor that is asked for one action in each row, and so for all of them, one after the other."""

    @abstractmethod
    def predict(self, rows: Examples, actions: Ints) -> Floats:
        """Return the predicted reward of one action in each row."""

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        every = (np.full(len(rows), action) for action in range(rows.n_actions))
        return np.column_stack([self.predict(rows, actions) for actions in every])


def predict_one(predict: Predictor, rows: Examples, actions: Ints) -> Floats:
    """Return the predicted reward of one action in each row."""
    if isinstance(predict, ActionPredictor):
        return predict.predict(rows, actions)
    return check_predictions(predict(rows), rows)[np.arange(len(rows)), actions]
