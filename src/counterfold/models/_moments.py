"""The sums that linear models are solved from: for each action, the products of [1, x, r] summed over its rows."""

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
from counterfold.models.base import ROWS_PER_BLOCK, Examples, Predictor, Scaling, TrainedModel

TUNING_FOLDS = 5
"""The number of folds on which the settings of a model are chosen."""

MAX_CELLS = 100
"""The largest number of cells that rows are divided into."""

MAX_EQUATION_SYSTEMS = 4000
"""The largest number of systems of equations, one for each cell and action."""

MAX_STORED_SUMS = 1 << 23
"""The largest number of sums in the equations of all cells."""


class Solved(NamedTuple):
    """The totals over some cells that models are solved from.

    - `sums`: moments per action (A x p x p), multiplied by `factor`.
    - `low`, `high`: the least and the largest reward per action.
    - `factor`: makes the counts of the rows add up to their effective number.
    - `effective`: the effective number of rows under the target.
    """

    sums: Floats
    low: Floats
    high: Floats
    factor: float
    effective: float = 0.0


class Summed(TrainedModel):
    """A model that is solved from sums over rows, so that one pass fits it without keeping the rows."""

    is_fast = True

    sees_rows: ClassVar[int] = 0
    """The largest number of rows to keep for `refine`, which follows the solution from sums; 0 if none are needed."""

    def weigh_rows(self, examples: Examples) -> Floats:
        """Return the weight of each row in the loss of the model."""
        return np.ones(len(examples))

    def widen(self, examples: Examples) -> Examples:
        """Return the rows with all features of their logged actions as the context."""
        return examples

    def counts(self, examples: Examples) -> Floats:
        """Return the count of each row, up to a factor that makes the sum the effective number of rows."""
        weights = self.weigh_rows(examples)
        if examples.counts is None:
            return weights
        return weights * examples.counts

    def tune_on_folds(self, folds: Floats) -> Self:
        """Return the model with the settings that predict folds best from the others, given the moments of each."""
        return self

    def refine(self, solved: Any, rows: Examples) -> Predictor:
        """Return the predictor from `from_moments`, refined on some of the rows."""
        return cast(Predictor, solved)

    def refine_outside(self, solved: Sequence[Predictor], rows: Examples, fold: Ints) -> list[Predictor]:
        """Return the predictor of each fold, refined on those of the rows that are outside the fold."""
        refined = []
        for number, predictor in enumerate(solved):
            outside = np.flatnonzero(fold != number)
            refined.append(self.refine(predictor, rows.take(outside)))
        return refined

    @abstractmethod
    def from_moments(self, totals: Solved, scaling: Scaling) -> Predictor:
        """Return the predictor of all actions that solves the equations of these sums."""


Model = TypeVar("Model", bound=Summed)


@dataclass(frozen=True, eq=False)
class ModelSums:
    """Sums from which ridge regressions are solved. Sums of different rows can be added.

    - `moments`: products of [1, x, r] by cell and action (cells x A x p x p).
    - `squares`: squares of the counts of rows, by cell.
    - `masses`: `Examples.masses` and their squares, by cell (2 x cells).
    - `columns`: [1, x, x²], over all rows.
    - `low`, `high`: the least and the largest reward, by cell and action.
    """

    moments: Floats
    squares: Floats
    masses: Floats
    columns: Floats
    low: Floats
    high: Floats

    def __add__(self, other: "ModelSums") -> "ModelSums":
        return ModelSums(
            moments=self.moments + other.moments,
            squares=self.squares + other.squares,
            masses=self.masses + other.masses,
            columns=self.columns + other.columns,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )

    def narrow(self, kept: Sequence[int]) -> "ModelSums":
        """Return the sums for some of the columns only."""
        width = self.moments.shape[-1] - 2
        moment_places = np.array([0, *(1 + place for place in kept), 1 + width])
        column_places = [0, *(1 + place for place in kept), *(1 + width + place for place in kept)]
        return replace(
            self,
            moments=self.moments[..., moment_places[:, None], moment_places],
            columns=self.columns[column_places],
        )

    def take(self, kept: Bools) -> Solved:
        """Return the totals over some cells, in which the rows count as their effective number."""
        factor = self.find_factor(kept)
        mass, square = self.masses[:, kept].sum(axis=1).tolist()
        return Solved(
            sums=factor * self.total(kept),
            low=self.low[kept].min(axis=0),
            high=self.high[kept].max(axis=0),
            factor=factor,
            effective=mass**2 / (square or 1.0),
        )

    def total(self, kept: Bools) -> Floats:
        """Return the moments of some cells, summed over them (A x p x p)."""
        return np.asarray(self.moments.sum(axis=0, where=kept[:, None, None, None]))

    def find_factor(self, kept: Bools) -> float:
        """Return the factor that makes the counts of the rows of some cells add up to their effective number."""
        return float(self.moments[kept, :, 0, 0].sum() / (self.squares[kept].sum() or 1.0))


@dataclass(frozen=True, eq=False)
class ModelStream(Generic[Model]):
    """Fits a model from sums in one pass over the rows, on all rows or cross-fitted.

    Rows fall into cells by the same hash that forms the folds of cross-fitting and tuning, so that a model without a
    fold, or without one cell, is solved from the sums of the other cells. The number of cells is the smallest that
    these folds need or, in logs that are never in memory, about `most_cells`. The sums are taken of columns scaled by
    `scaling`, so that they do not lose digits; in such logs they are rescaled at the end, by the scaling of all rows.
    """

    model: Model
    folds: int
    scaling: Scaling
    n_actions: int
    most_cells: int = 0

    @classmethod
    def of(cls, model: Model, folds: int, head: Examples, most_cells: int = 0) -> Self:
        """Return the stream that fits a model to these rows, or to a longer log that starts with them."""
        scaling = Scaling.of(model.widen(head).context)
        if not most_cells:
            capacity.require_moments(head.n_actions, len(scaling.centre) + 2)
        return cls(model=model, folds=folds, scaling=scaling, n_actions=head.n_actions, most_cells=most_cells)

    @property
    def width(self) -> int:
        """Return the number of columns of the model."""
        return len(self.scaling.centre)

    @cached_property
    def cells(self) -> int:
        """Return the number of cells: a multiple of the number of folds, of cross-fitting and of tuning."""
        sums_per_cell = self.n_actions * (self.width + 2) ** 2
        most_cells = min(self.most_cells, MAX_EQUATION_SYSTEMS // self.n_actions, MAX_STORED_SUMS // sums_per_cell)
        multiple = lcm(self.folds, TUNING_FOLDS)
        return multiple * max(1, round(most_cells / multiple))

    def narrow(self, kept: Sequence[int]) -> Self:
        """Return the stream for some of the columns only."""
        places = np.array(kept, dtype=np.intp)
        scaling = Scaling(centre=self.scaling.centre[places], scale=self.scaling.scale[places])
        return replace(self, scaling=scaling)

    def sums(self, examples: Examples) -> ModelSums:
        """Return the sums of some rows."""
        cell = assign_folds(examples.units, self.cells)
        # one code for each pair of a cell and an action, so that both are summed in one go
        codes: Ints = cell * self.n_actions + examples.actions
        n_codes = self.cells * self.n_actions
        shape = (self.cells, self.n_actions)

        counts = self.model.counts(examples)
        table = np.empty((len(examples), self.width + 2))
        columns = np.zeros(1 + 2 * self.width)
        for start in range(0, len(examples), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            columns += self._fill(table[block], examples.take(block), counts[block])
        products = moments(table, codes, n_codes)

        low, high = extremes(codes, examples.rewards, n_codes)
        masses = examples.masses
        mass_sums = [np.bincount(cell, masses, self.cells), np.bincount(cell, masses**2, self.cells)]
        return ModelSums(
            moments=products.reshape(*shape, *products.shape[1:]),
            squares=np.asarray(np.bincount(cell, counts**2, self.cells), dtype=np.float64),
            masses=np.array(mass_sums, dtype=np.float64),
            columns=columns,
            low=low.reshape(shape),
            high=high.reshape(shape),
        )

    def _fill(self, table: Floats, examples: Examples, counts: Floats) -> Floats:
        """Fill in the rows [1, x, r] of a block, times the roots of their counts, and return the sums of [1, x, x²].

        The products of such rows are those of [1, x, r] times the counts. The sums that are returned have no counts.
        """
        rows = self.scaling.apply(self.model.widen(examples))
        table[:, 0] = 1.0
        table[:, 1:-1] = rows.context
        table[:, -1] = rows.rewards
        sums = np.ones(len(table)) @ table[:, :-1]
        squares = np.einsum("ij,ij->j", rows.context, rows.context)
        table *= np.sqrt(counts)[:, None]
        return np.concatenate([sums, squares])

    def tune(self, sums: ModelSums) -> Model:
        """Return the model with its settings chosen."""
        rescaled, _ = self._rescale(sums)
        return self._tune(rescaled, np.ones(self.cells, dtype=bool))

    def fit(self, sums: ModelSums) -> Predictor:
        """Return the predictor of all rows."""
        model, totals, scaling = self.settle(sums)
        return model.from_moments(totals, scaling)

    def settle(self, sums: ModelSums) -> tuple[Model, Solved, Scaling]:
        """Return the model with its settings chosen, and the totals and the scaling that it is solved from."""
        rescaled, scaling = self._rescale(sums)
        all_cells = np.ones(self.cells, dtype=bool)
        return self._tune(rescaled, all_cells), rescaled.take(all_cells), scaling

    def cross_fit(self, sums: ModelSums, folds: int) -> tuple[Predictor, ...]:
        """Return the predictor of each fold, whose settings, too, are chosen on the rows outside the fold."""
        rescaled, scaling = self._rescale(sums)
        predictors = []
        for fold in range(folds):
            outside = np.arange(self.cells) % folds != fold
            model = self._tune(rescaled, outside)
            predictors.append(model.from_moments(rescaled.take(outside), scaling))
        return tuple(predictors)

    def leave_out_cells(self, sums: ModelSums) -> tuple[Predictor, ...]:
        """Return predictors without one cell each, with the settings of all rows; their spread shows the fit noise."""
        rescaled, scaling = self._rescale(sums)
        model = self._tune(rescaled, np.ones(self.cells, dtype=bool))
        cells = np.arange(self.cells)
        occupied = np.flatnonzero(sums.moments[:, :, 0, 0].any(axis=1))  # cells can be empty in small logs
        return tuple(model.from_moments(rescaled.take(cells != cell), scaling) for cell in occupied)

    def _tune(self, sums: ModelSums, kept: Bools) -> Model:
        """Return the model with the settings that the rows of some cells choose."""
        tuning_fold = np.arange(self.cells) % TUNING_FOLDS
        folds = np.stack([sums.total(kept & (tuning_fold == fold)) for fold in range(TUNING_FOLDS)])
        folds *= sums.find_factor(kept)
        return self.model.tune_on_folds(folds)

    def _rescale(self, sums: ModelSums) -> tuple[ModelSums, Scaling]:
        """Return the sums of columns scaled by the mean and standard deviation of all rows, and that scaling."""
        if not self.most_cells:
            # the scaling was computed from all rows
            return sums, self.scaling
        columns = sums.columns
        count = max(columns[0], 1.0)
        centre = columns[1 : 1 + self.width] / count
        square = columns[1 + self.width :] / count
        variance = square - centre**2
        scale = np.where(variance > 1e-12 * square, np.sqrt(np.maximum(variance, 0.0)), 1.0)

        # the linear map of [1, x, r] to [1, (x - centre) / scale, r]
        change = np.diag(np.concatenate([[1.0], 1 / scale, [1.0]]))
        change[1:-1, 0] = -centre / scale
        scaling = Scaling(
            centre=self.scaling.centre + centre * self.scaling.scale,
            scale=self.scaling.scale * scale,
        )
        return replace(sums, moments=np.asarray(change @ sums.moments @ change.T)), scaling


def table_of(examples: Examples) -> Floats:
    """Return the rows [1, x, r]."""
    table = np.empty((len(examples), examples.context.shape[1] + 2))
    table[:, 0] = 1.0
    table[:, 1:-1] = examples.context
    table[:, -1] = examples.rewards
    return table


def scale_counts(counts: Floats) -> Floats:
    """Return the counts of rows, scaled so that their sum is the effective number of rows."""
    return np.asarray(counts * (counts.sum() / np.square(counts).sum()))


def moments(table: Floats, actions: Ints, n_actions: int) -> Floats:
    """Return, for each action, the products of the table's columns with each other, summed over the action's rows."""
    return sum_products(sort_by_action(table, actions, n_actions))


def sort_by_action(table: Floats, actions: Ints, n_actions: int) -> list[Floats]:
    """Return the rows of each action, in the order of the table."""
    return [np.take(table, places, axis=0) for places in find_actions(actions, n_actions)]


def find_actions(actions: Ints, n_actions: int) -> list[Ints]:
    """Return the places of the rows of each action."""
    order, places = group_rows(actions, n_actions)
    return [order[place] for place in places]


def sum_products(tables: Sequence[Floats]) -> Floats:
    """Return, for each table, the products of its columns with each other, summed over its rows."""
    width = tables[0].shape[1]
    sums = np.zeros((len(tables), width, width))
    for place, rows in enumerate(tables):
        if len(rows):
            np.matmul(rows.T, rows, out=sums[place])
    return sums


def add_products(sums: Floats, tables: Sequence[Floats]) -> None:
    """Add the products of the columns of each table, summed over its rows, to the upper triangle of its matrix."""
    from scipy.linalg.blas import dsyrk

    for matrix, rows in zip(sums, tables, strict=True):
        if len(rows):
            # the transpose is in the column order of BLAS, so that its lower triangle is our upper one
            dsyrk(1.0, rows.T, beta=1.0, c=matrix.T, lower=1, overwrite_c=1)


def solve_positive(grams: Floats, right: Floats, penalty: float = 0.0) -> Floats:
    """Return the solutions of equations that are positive definite up to rounding errors.

    Only the upper triangles of the matrices are read. The penalty is added to each diagonal.
    """
    from scipy.linalg.lapack import dposv

    solved = np.empty_like(right)
    for place, gram in enumerate(grams):
        equations = np.array(gram.T, order="F")  # the same matrix in the column order of LAPACK
        equations[np.diag_indices_from(equations)] += penalty
        _, solved[place], failed = dposv(equations, right[place], lower=1, overwrite_a=1)
        if failed:
            # rounding errors made the matrix indefinite
            penalised = gram.T + penalty * np.eye(len(gram))
            solved[place] = np.linalg.pinv(penalised, hermitian=True) @ right[place]
    return solved
