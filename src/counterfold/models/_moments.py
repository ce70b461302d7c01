"""What linear models are solved from: sums over rows, for each action, of products of [1, x, r] with each other."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Bools, Floats, Ints, group_rows
from counterfold.base.cached import cached_property
from counterfold.base.hashing import assign_folds
from counterfold.models._constants import extremes
from counterfold.models.base import Examples, Predictor, Scaling, TrainedModel

FOLDS = 5
"""On how many folds the settings of a model are chosen."""

CELLS, SYSTEMS, NUMBERS = 100, 4000, 1 << 23
"""Rows are divided into at most this many cells, with at most so many systems of equations, and numbers in these."""

NEAR = 1 << 14
"""How many rows are scaled at a time, so that they stay near the processor."""


class Solved(NamedTuple):
    """The sums of some rows that models are solved from (A x p x p), and the least and largest reward per action.

    `factor` is what sums were multiplied by, so that rows count in all as their effective number, and `effective` how
    many rows of the target these are worth.
    """

    sums: Floats
    low: Floats
    high: Floats
    factor: float
    effective: float = 0.0


class Summed(TrainedModel):
    """A model that can be solved from sums, so that it is fitted in one pass over rows that are gone then."""

    is_fast = True

    sees_rows: ClassVar[int] = 0
    """How many rows are to be seen again, at most, once the model is solved from their sums; see `refine`."""

    def weigh_rows(self, examples: Examples) -> Floats:
        """Return how much the model is to be right in each row."""
        return np.ones(len(examples))

    def widen(self, examples: Examples) -> Examples:
        """Return the rows with all columns that the model sees of the logged actions."""
        return examples

    def counts(self, examples: Examples) -> Floats:
        """Return how much each row counts, up to a factor that makes the sum the effective number of rows."""
        weights = self.weigh_rows(examples)
        return weights if examples.counts is None else weights * examples.counts

    def tune_on_folds(self, folds: Floats) -> Self:
        """Return the model with its settings chosen by what each of several folds says of the others' models."""
        return self

    def refine(self, solved: Any, rows: Examples) -> Predictor:
        """Return what some of the rows make of what `from_moments` made of the sums of all."""
        return cast(Predictor, solved)

    def refine_outside(self, solved: Sequence[Predictor], rows: Examples, fold: Ints) -> list[Predictor]:
        """Return what the rows outside of each fold make of the model that was solved from all of these."""
        return [self.refine(one, rows.take(np.flatnonzero(fold != number))) for number, one in enumerate(solved)]

    @abstractmethod
    def from_moments(self, known: Solved, scaling: Scaling) -> Predictor:
        """Return the models of all actions."""


Model = TypeVar("Model", bound=Summed)


@dataclass(frozen=True, eq=False)
class ModelSums:
    """Sums from which ridge regressions are solved, for each cell of rows and each action; they add up.

    `squares` are those of how much rows count, by cell, and `masses` (2 x cells) sums of how much the target counts
    them, and of its square; `columns` are sums of [1, x, x²] over all rows.
    """

    moments: Floats
    squares: Floats
    masses: Floats
    columns: Floats
    low: Floats
    high: Floats

    def __add__(self, other: "ModelSums") -> "ModelSums":
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        masses, columns = self.masses + other.masses, self.columns + other.columns
        return ModelSums(self.moments + other.moments, self.squares + other.squares, masses, columns, low, high)

    def narrow(self, kept: Sequence[int]) -> "ModelSums":
        """Return the sums as if only some columns had been there."""
        width = self.moments.shape[-1] - 2
        lines = np.array([0, *(1 + place for place in kept), 1 + width])
        moments = self.moments[..., lines[:, None], lines]
        columns = [0, *(1 + place for place in kept), *(1 + width + place for place in kept)]
        return replace(self, moments=moments, columns=self.columns[columns])

    def take(self, kept: Bools) -> Solved:
        """Return the sums of some cells, in which rows count as much as they tell."""
        factor = self.find_factor(kept)
        low, high = self.low[kept].min(axis=0), self.high[kept].max(axis=0)
        mass, square = self.masses[:, kept].sum(axis=1).tolist()
        return Solved(factor * self.total(kept), low, high, factor, mass**2 / (square or 1.0))

    def total(self, kept: Bools) -> Floats:
        """Return the moments of some cells (A x p x p)."""
        return np.asarray(self.moments.sum(axis=0, where=kept[:, None, None, None]))

    def find_factor(self, kept: Bools) -> float:
        """Return what makes the sum of how much the rows of some cells count their effective number."""
        return float(self.moments[kept, :, 0, 0].sum() / (self.squares[kept].sum() or 1.0))


@dataclass(frozen=True, eq=False)
class ModelStream(Generic[Model]):
    """Fits a model that can be solved from sums, or a cross-fitted one of it, in one pass.

    Rows fall into cells by the same hash by which cross-fitting and tuning form folds, so that a model without a fold,
    or without one cell, is solved from the sums of the other cells. There are as many cells as these folds need or, in
    logs that are never in memory, about `most_cells`. `scaling` keeps digits; that of all rows is known at the end.
    """

    model: Model
    folds: int
    scaling: Scaling
    n_actions: int
    most_cells: int = 0

    @classmethod
    def of(cls, model: Model, folds: int, head: Examples, most_cells: int = 0) -> Self:
        """Return how to fit a model to these rows, or to many that are like them."""
        scaling = Scaling.of(model.widen(head).context)
        if not most_cells:
            capacity.require_moments(head.n_actions, len(scaling.centre) + 2)
        return cls(model, folds, scaling, head.n_actions, most_cells)

    @property
    def width(self) -> int:
        """Return how many columns the model sees."""
        return len(self.scaling.centre)

    @cached_property
    def cells(self) -> int:
        """Return how many cells there are."""
        numbers, folds = self.n_actions * (self.width + 2) ** 2, lcm(self.folds, FOLDS)
        wanted = min(self.most_cells, SYSTEMS // self.n_actions, NUMBERS // numbers)
        return folds * max(1, round(wanted / folds))

    def narrow(self, kept: Sequence[int]) -> Self:
        """Return the stream as if only some columns had been there."""
        places = np.array(kept, dtype=np.intp)
        return replace(self, scaling=Scaling(self.scaling.centre[places], self.scaling.scale[places]))

    def sums(self, examples: Examples) -> ModelSums:
        """Return the sums of some rows."""
        cell, counts = assign_folds(examples.units, self.cells), self.model.counts(examples)
        codes: Ints = cell * self.n_actions + examples.actions
        number, shape = self.cells * self.n_actions, (self.cells, self.n_actions)
        table, columns = np.empty((len(examples), self.width + 2)), np.zeros(1 + 2 * self.width)
        for start in range(0, len(examples), NEAR):
            near = slice(start, start + NEAR)
            columns += self._fill(table[near], examples.take(near), counts[near])
        found = moments(table, codes, number)
        ends, masses = extremes(codes, examples.rewards, number), examples.masses
        squares, *summed = (np.bincount(cell, one, self.cells) for one in (counts**2, masses, masses**2))
        return ModelSums(
            found.reshape(*shape, *found.shape[1:]),
            np.asarray(squares, dtype=np.float64),
            np.array(summed, dtype=np.float64),
            columns,
            *(end.reshape(shape) for end in ends),
        )

    def _fill(self, table: Floats, examples: Examples, counts: Floats) -> Floats:
        """Fill in a few rows [1, x, r], times the roots of their counts, and return the sums of [1, x, x²]."""
        rows = self.scaling.apply(self.model.widen(examples))
        table[:, 0], table[:, 1:-1], table[:, -1] = 1.0, rows.context, rows.rewards
        plain, squares = np.ones(len(table)) @ table[:, :-1], np.einsum("ij,ij->j", rows.context, rows.context)
        table *= np.sqrt(counts)[:, None]
        return np.concatenate([plain, squares])

    def tune(self, sums: ModelSums) -> Model:
        """Return the model with its settings chosen."""
        return self._tune(self._rescale(sums)[0], np.ones(self.cells, dtype=bool))

    def fit(self, sums: ModelSums) -> Predictor:
        """Return the model of all rows."""
        model, known, scaling = self.settle(sums)
        return model.from_moments(known, scaling)

    def settle(self, sums: ModelSums) -> tuple[Model, Solved, Scaling]:
        """Return the model with its settings chosen, and what of all rows it is solved from."""
        known, scaling = self._rescale(sums)
        every = np.ones(self.cells, dtype=bool)
        return self._tune(known, every), known.take(every), scaling

    def cross_fit(self, sums: ModelSums, folds: int) -> tuple[Predictor, ...]:
        """Return the model of the rows outside each fold, which choose its settings, too."""
        known, scaling = self._rescale(sums)
        several = [np.arange(self.cells) % folds != fold for fold in range(folds)]
        return tuple(self._tune(known, kept).from_moments(known.take(kept), scaling) for kept in several)

    def leave_out_cells(self, sums: ModelSums) -> tuple[Predictor, ...]:
        """Return models without one cell each, with the settings that all rows choose; how they differ is noise."""
        known, scaling = self._rescale(sums)
        model, cells = self._tune(known, np.ones(self.cells, dtype=bool)), np.arange(self.cells)
        occupied = np.flatnonzero(sums.moments[:, :, 0, 0].any(axis=1))  # small logs leave some empty
        return tuple(model.from_moments(known.take(cells != cell), scaling) for cell in occupied)

    def _tune(self, known: ModelSums, kept: Bools) -> Model:
        cells = np.arange(self.cells)
        folds = np.stack([known.total(kept & (cells % FOLDS == fold)) for fold in range(FOLDS)])
        folds *= known.find_factor(kept)
        return self.model.tune_on_folds(folds)

    def _rescale(self, sums: ModelSums) -> tuple[ModelSums, Scaling]:
        """Return the sums and the scaling that columns would have, had it been known what all rows are like."""
        if not self.most_cells:
            return sums, self.scaling  # it was
        columns = sums.columns
        count = max(columns[0], 1.0)
        centre, square = columns[1 : 1 + self.width] / count, columns[1 + self.width :] / count
        spread = square - centre**2
        scale = np.where(spread > 1e-12 * square, np.sqrt(np.maximum(spread, 0.0)), 1.0)
        change = np.diag(np.concatenate([[1.0], 1 / scale, [1.0]]))
        change[1:-1, 0] = -centre / scale
        known = Scaling(self.scaling.centre + centre * self.scaling.scale, self.scaling.scale * scale)
        return replace(sums, moments=np.asarray(change @ sums.moments @ change.T)), known


def table_of(examples: Examples) -> Floats:
    """Return the rows [1, x, r]."""
    table = np.empty((len(examples), examples.context.shape[1] + 2))
    table[:, 0], table[:, 1:-1], table[:, -1] = 1.0, examples.context, examples.rewards
    return table


def scale_counts(counts: Floats) -> Floats:
    """Return how much rows count, with a sum that is the effective number of rows."""
    return np.asarray(counts * (counts.sum() / np.square(counts).sum()))


def moments(table: Floats, actions: Ints, n_actions: int) -> Floats:
    """Return per action the products of the table's columns with each other, summed over the action's rows."""
    return sum_products(sort_by_action(table, actions, n_actions))


def sort_by_action(table: Floats, actions: Ints, n_actions: int) -> list[Floats]:
    """Return the rows of every action, in the order of the table."""
    return [np.take(table, places, axis=0) for places in find_actions(actions, n_actions)]


def find_actions(actions: Ints, n_actions: int) -> list[Ints]:
    """Return the places of every action."""
    order, places = group_rows(actions, n_actions)
    return [order[place] for place in places]


def sum_products(several: Sequence[Floats]) -> Floats:
    """Return the products of the columns with each other, summed over each of several groups of rows."""
    width = several[0].shape[1]
    sums = np.zeros((len(several), width, width))
    for place, rows in enumerate(several):
        if len(rows):
            np.matmul(rows.T, rows, out=sums[place])
    return sums


def add_products(sums: Floats, several: Sequence[Floats]) -> None:
    """Add to the upper triangle of each matrix the products of the columns with each other, summed over its rows."""
    from scipy.linalg.blas import dsyrk

    for one, rows in zip(sums, several, strict=True):
        if len(rows):
            dsyrk(1.0, rows.T, beta=1.0, c=one.T, lower=1, overwrite_c=1)


def solve_positive(several: Floats, right: Floats, penalty: float = 0.0) -> Floats:
    """Return the solutions of equations that are positive definite but for rounding errors, by upper triangles.

    The penalty is added to the diagonal of each.
    """
    from scipy.linalg.lapack import dposv

    solved = np.empty_like(right)
    for place, gram in enumerate(several):
        equations = np.array(gram.T, order="F")  # the same matrix, as LAPACK wants it
        equations[np.diag_indices_from(equations)] += penalty
        _, solved[place], failed = dposv(equations, right[place], lower=1, overwrite_a=1)
        if failed:
            penalised = gram.T + penalty * np.eye(len(gram))
            solved[place] = np.linalg.pinv(penalised, hermitian=True) @ right[place]
    return solved
