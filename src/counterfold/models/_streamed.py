"""Reward models of logs that are never in memory as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

import numpy as np

from counterfold import capacity
from counterfold.arrays import Bools, Floats, Ints
from counterfold.errors import ModelError, ParameterError, blame
from counterfold.hashing import assign_folds
from counterfold.models._moments import FOLDS, Summed, moments, rescale_moments, table_of
from counterfold.models.base import (
    Examples,
    Predictor,
    RewardModel,
    Scaling,
    TrainedModel,
    check_predictions,
    constant,
    extremes,
)
from counterfold.models.cross_fitted import CrossFitted

CELLS, SYSTEMS, NUMBERS = 100, 4000, 1 << 23
"""Rows are divided into at most this many cells, with at most so many systems of equations, and numbers in these."""


@dataclass(frozen=True, eq=False)
class Streamed(RewardModel):
    """What was fitted before, for rows that come a few at a time.

    With several `predictors`, each row is predicted by that of its fold, which never saw it. `without` are predictors
    fitted on all but one of several equal parts; how they differ tells the noise of fitting. `elsewhere` are those of
    folds, where a single predictor saw every row.
    """

    predictors: tuple[Predictor, ...]
    without: tuple[Predictor, ...] = ()
    elsewhere: tuple[Predictor, ...] = ()
    name: str = "Streamed"
    learns = False

    def predictions(self, examples: Examples) -> Floats:
        if len(self.predictors) == 1:
            return self.predictors[0](examples)
        fold = assign_folds(examples.units, len(self.predictors))
        q = np.empty((len(examples), examples.n_actions))
        for number, predict in enumerate(self.predictors):
            mine = np.flatnonzero(fold == number)
            if len(mine):
                some = examples.take(mine)
                q[mine] = check_predictions(predict(some), some)
        return q


@dataclass(frozen=True, eq=False)
class ModelSums:
    """Sums from which ridge regressions are solved, for each cell of rows and each action; they add up."""

    moments: Floats
    squares: Floats
    columns: Floats
    low: Floats
    high: Floats

    def __add__(self, other: "ModelSums") -> "ModelSums":
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        columns = self.columns + other.columns
        return ModelSums(self.moments + other.moments, self.squares + other.squares, columns, low, high)

    def narrow(self, kept: Sequence[int]) -> "ModelSums":
        """Return the sums as if only some columns of the context had been there."""
        width = self.moments.shape[-1] - 2
        lines = np.array([0, *(1 + place for place in kept), 1 + width])
        moments = self.moments[..., lines[:, None], lines]
        columns = [0, *(1 + place for place in kept), *(1 + width + place for place in kept)]
        return replace(self, moments=moments, columns=self.columns[:, columns])


@dataclass(frozen=True, eq=False)
class ModelStream:
    """Fits a model that can be solved from sums, or a cross-fitted one of it, in one pass.

    Rows fall into `cells` by the same hash by which cross-fitting and tuning form folds, so that a model without a
    fold, or without one cell, is solved from the sums of the other cells.
    """

    model: Summed
    folds: int
    scaling: Scaling
    n_actions: int

    @cached_property
    def cells(self) -> int:
        """Return how many cells there are."""
        numbers, folds = self.n_actions * (len(self.scaling.centre) + 2) ** 2, lcm(self.folds, FOLDS)
        wanted = min(CELLS, SYSTEMS // self.n_actions, NUMBERS // numbers)
        return folds * max(1, round(wanted / folds))

    def narrow(self, kept: Sequence[int]) -> "ModelStream":
        """Return the stream as if only some columns of the context had been there."""
        places = np.array(kept, dtype=np.intp)
        return replace(self, scaling=Scaling(self.scaling.centre[places], self.scaling.scale[places]))

    def sums(self, examples: Examples) -> ModelSums:
        """Return the sums of some rows."""
        rows, counts = self.scaling.apply(examples), self.model.counts(examples)
        cell = assign_folds(examples.units, self.cells)
        codes: Ints = cell * self.n_actions + examples.actions
        number, shape = self.cells * self.n_actions, (self.cells, self.n_actions)
        found = moments(table_of(rows) * np.sqrt(counts)[:, None], codes, number)
        ends = extremes(codes, rows.rewards, number)
        lines = np.column_stack([np.ones(len(rows)), rows.context, rows.context**2]).T
        return ModelSums(
            found.reshape(*shape, *found.shape[1:]),
            np.asarray(np.bincount(cell, counts**2, self.cells), dtype=np.float64),
            np.stack([np.bincount(cell, line, self.cells) for line in lines], axis=1),
            *(end.reshape(shape) for end in ends),
        )

    def solve(self, sums: ModelSums) -> Streamed:
        """Return the model of all rows, or one for each fold."""
        cells = np.arange(len(sums.moments))
        fifths = np.stack([sums.moments[cells % FOLDS == fold].sum(axis=0) for fold in range(FOLDS)])
        model = self.model.tune_on_folds(self._scale(sums, fifths, cells >= 0)[0])

        def solve_cells(kept: Bools) -> Predictor:
            fixed = constant(sums.low[kept].min(axis=0), sums.high[kept].max(axis=0))
            some, scaling = self._scale(sums, sums.moments[kept].sum(axis=0), kept)
            return model.from_moments(some, fixed, scaling)

        occupied = np.flatnonzero(sums.moments[:, :, 0, 0].any(axis=1))  # small logs leave some empty
        without = tuple(solve_cells(cells != cell) for cell in occupied)
        folds = self.folds if self.folds > 1 else FOLDS
        outside = tuple(solve_cells(cells % folds != fold) for fold in range(folds))
        return Streamed(outside, without) if self.folds > 1 else Streamed((solve_cells(cells >= 0),), without, outside)

    def _scale(self, sums: ModelSums, some: Floats, kept: Bools) -> tuple[Floats, Scaling]:
        """Return moments of some cells, scaled by what their rows are like, with the effective number of rows."""
        effective = sums.moments[kept, :, 0, 0].sum() / (sums.squares[kept].sum() or 1.0)
        return rescale_moments(effective * some, self.scaling, sums.columns[kept].sum(axis=0))


def stream_model(model: RewardModel | None, head: Examples) -> ModelStream | None:
    """Return how to fit a model in one pass over the log, if it can be solved from sums; else nothing."""
    plain, folds = (model.model, model.folds) if isinstance(model, CrossFitted) else (model, 1)
    if not isinstance(plain, Summed):
        return None
    stream = ModelStream(plain, folds, Scaling.of(head.context), head.n_actions)
    capacity.require_sums(stream.cells, stream.n_actions, len(stream.scaling.centre))
    return stream


def fit_on_sample(sample: Examples, model: RewardModel) -> Streamed:
    """Return a model that is fitted on a sample of the rows, each fold predicted by what the others tell."""
    plain, folds = (model.model, model.folds) if isinstance(model, CrossFitted) else (model, FOLDS)
    if not isinstance(plain, TrainedModel):
        rule = "one that can be fitted on some rows and used on others"
        raise ParameterError(f"`reward_model` must be {rule}, got {type(model).__name__}.")
    fold = assign_folds(sample.units, folds)
    with blame(ModelError, "fitting the reward model {} on {} rows", plain.name, len(sample)):
        predictors = tuple(plain.fit(sample.take(np.flatnonzero(fold != number))) for number in range(folds))
    return Streamed(predictors, predictors, name=plain.name)
