"""What linear models are solved from: sums over rows, for each action, of products of [1, x, r] with each other."""

from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np

from counterfold import capacity
from counterfold.arrays import Floats, Ints
from counterfold.models.base import Examples, Predictor, Scaling, TrainedModel

FOLDS = 5
"""On how many folds the settings of a model are chosen; those of a large log must be the same."""


class LinearModels(NamedTuple):
    """Intercepts and slopes (d x A) of the models of all actions, on context that was scaled."""

    intercepts: Floats
    slopes: Floats

    def predict(self, scaled: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        q: Floats = scaled.context @ self.slopes
        q += self.intercepts
        return q


class Summed(TrainedModel):
    """A model that can be solved from sums, so that it is fitted in one pass over rows that are gone then."""

    def weigh_rows(self, examples: Examples) -> Floats:
        """Return how much the model is to be right in each row."""
        return np.ones(len(examples))

    def counts(self, examples: Examples) -> Floats:
        """Return how much each row counts, up to a factor that makes the sum the effective number of rows."""
        weights = self.weigh_rows(examples)
        return weights if examples.counts is None else weights * examples.counts

    def table(self, scaled: Examples) -> Floats:
        """Return the rows [1, x, r], times the root of how much each counts."""
        table = table_of(scaled)
        table *= np.sqrt(scale_counts(self.counts(scaled)))[:, None]
        return table

    def tune_on_folds(self, folds: Floats) -> Self:
        """Return the model with its settings chosen by what each of several folds says of the others' models."""
        return self

    @abstractmethod
    def from_moments(self, sums: Floats, fixed: Floats, scaling: Scaling) -> Predictor:
        """Return the models of all actions from sums, and what `constants` said of the rows."""


def rescale_moments(sums: Floats, scaling: Scaling, columns: Floats) -> tuple[Floats, Scaling]:
    """Return the moments and the scaling that columns would have, had it been known what all rows are like.

    The scaling that sums (... x A x p x p) were taken with is only that of the first rows of a log; `columns` are the
    number of rows and, for each column, the sum and the sum of squares over them.
    """
    width = len(scaling.centre)
    count = max(columns[0], 1.0)
    centre, square = columns[1 : 1 + width] / count, columns[1 + width :] / count
    spread = square - centre**2
    scale = np.where(spread > 1e-12 * square, np.sqrt(np.maximum(spread, 0.0)), 1.0)
    change = np.diag(np.concatenate([[1.0], 1 / scale, [1.0]]))
    change[1:-1, 0] = -centre / scale
    known = Scaling(scaling.centre + centre * scaling.scale, scaling.scale * scale)
    return np.asarray(change @ sums @ change.T), known


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
    order = np.argsort(actions.astype(np.uint16) if n_actions <= 1 << 16 else actions, kind="stable")
    ends = np.cumsum(np.bincount(actions, minlength=n_actions))
    capacity.require_moments(n_actions, table.shape[1])
    sums = np.zeros((n_actions, table.shape[1], table.shape[1]))
    for action, rows in enumerate(np.split(np.take(table, order, axis=0), ends[:-1])):
        if len(rows):
            sums[action] = rows.T @ rows
    return sums


def solve_positive(gram: Floats, right: Floats) -> Floats:
    """Return the solution of equations that are positive definite but for rounding errors."""
    from scipy.linalg.lapack import dposv

    _, solution, failed = dposv(gram.T, right)  # the same matrix, as LAPACK wants it
    return np.asarray(np.linalg.pinv(gram, hermitian=True) @ right if failed else solution)
