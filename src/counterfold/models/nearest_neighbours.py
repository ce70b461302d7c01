"""The mean reward of the nearest rows that had the same action."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.models._action_predictor import ActionPredictor
from counterfold.models.base import Examples, Predictor, Scaling, TrainedModel, predict_nothing


@dataclass(frozen=True)
class NearestNeighbours(TrainedModel):
    r"""The mean reward of the rows with the same action that are nearest, $\lceil k \sqrt{n_a} \rceil$ of its $n_a$.

    Rows are near if their context is, and what both policies think of the action; columns are scaled to a standard
    deviation of 1. `size` is $k$. An action that was never logged is predicted as the mean of all rewards.

    Fix, Hodges (1951), "Discriminatory analysis: nonparametric discrimination".

    >>> import counterfold as cf
    >>> cf.example_rows(cf.NearestNeighbours(size=0.5)).q
    array([[0., 0.],
           [0., 0.],
           [1., 0.],
           [1., 1.]])
    """

    size: float = 2.0

    def __post_init__(self) -> None:
        validation.above(0, size=self.size)

    def fit(self, examples: Examples) -> Predictor:
        from sklearn.neighbors import NearestNeighbors

        if not len(examples):
            return predict_nothing
        columns, counts = examples.see(examples.actions), np.ones(len(examples))
        counts = counts if examples.counts is None else examples.counts
        scaling, known = Scaling.of(columns), {}
        for action in np.unique(examples.actions).tolist():
            mine = np.flatnonzero(examples.actions == action)
            number = min(len(mine), math.ceil(self.size * math.sqrt(len(mine))))
            index = NearestNeighbors(n_neighbors=number).fit((columns[mine] - scaling.centre) / scaling.scale)
            known[action] = Known(index, examples.rewards[mine], counts[mine])
        return Neighbours(known, scaling, float(np.average(examples.rewards, weights=counts)))


@dataclass(frozen=True, eq=False)
class Known:
    """The rows of an action: an index of where they are, their rewards, and how many decisions each stands for."""

    index: Any
    rewards: Floats
    counts: Floats

    def average(self, places: Floats) -> Floats:
        """Return the mean reward of those nearest to each of several places."""
        near = self.index.kneighbors(places, return_distance=False)
        return np.average(self.rewards[near], axis=1, weights=self.counts[near])


@dataclass(frozen=True, eq=False)
class Neighbours(ActionPredictor):
    """The rows of all actions; `level` is the mean of all rewards."""

    known: dict[int, Known]
    scaling: Scaling
    level: float

    def predict(self, rows: Examples, actions: Ints) -> Floats:
        found = np.full(len(rows), self.level)
        places = (rows.see(actions) - self.scaling.centre) / self.scaling.scale
        for action in np.unique(actions).tolist():
            if action in self.known:
                mine = np.flatnonzero(actions == action)
                found[mine] = self.known[action].average(places[mine])
        return found
