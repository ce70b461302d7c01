"""Ridge regression, one per action, from sums that many subsets of the rows share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterfold import capacity, checks
from counterfold.arrays import Floats, Ints, row_sums
from counterfold.models._moments import (
    LinearModels,
    Solved,
    Summed,
    moments,
    scale_counts,
    solve_positive,
    sort_by_action,
    sum_products,
    table_of,
)
from counterfold.models.base import Examples, Lazy, Predictor, Scaling, constant, constants

WEAK = 1e-6
"""Below this, a penalty on scaled columns cannot hold down rounding errors by itself."""


@dataclass(frozen=True)
class RidgePerAction(Summed):
    r"""A linear model of the reward for each action, with intercept and an L2 penalty on the coefficients.

    $$\hat q(x, a) = b_a + x^\top \beta_a, \qquad
      (b_a, \beta_a) = \arg\min \sum_{i: a_i = a} (r_i - b - x_i^\top \beta)^2 + \alpha \lVert \beta \rVert^2$$

    An action whose logged rewards are all equal predicts that reward; an action never logged predicts 0. This is the
    reward model of the paper's experiments, with `alpha=0.001`.

    >>> import counterfold as cf
    >>> cf.example_rows(cf.RidgePerAction(alpha=0.5)).q.round(3)
    array([[ 0.1, -0.3],
           [ 0.5,  0.1],
           [ 0.9,  0.5],
           [ 1.3,  0.9]])
    """

    alpha: float = 1e-3

    def __post_init__(self) -> None:
        checks.above(0, alpha=self.alpha)

    @property
    def is_aimed(self) -> bool:
        return False

    def fit(self, examples: Examples) -> Predictor:
        scaling = Scaling.of(examples.context)
        scaled = scaling.apply(examples)
        models = self._solve(moments(self._table(scaled), scaled.actions, scaled.n_actions), scaled, scaling)
        return ScaledModels(scaling, *models)

    def from_moments(self, known: Solved, scaling: Scaling) -> Predictor:
        sums, fixed = known.sums, constant(known.low, known.high)
        models = make_linear(sums, fixed, from_sums(sums, self.alpha / scaling.scale**2))
        return ScaledModels(scaling, *models)

    def split_at(self, examples: Examples, cuts: Sequence[int]) -> Iterator[tuple[Lazy, Lazy]]:
        scaling = Scaling.of(examples.context)
        scaled = scaling.apply(examples)
        running = RunningMoments(self._table(scaled), examples.actions, examples.n_actions)

        def predict(some: slice, find_moments: Callable[[int], Floats], cut: int) -> Floats:
            rows = scaled.take(some)
            return self._solve(find_moments(cut), rows, scaling).predict(rows)

        for cut in cuts:
            before, after = slice(cut), slice(cut, None)
            yield partial(predict, before, running.before, cut), partial(predict, after, running.after, cut)

    def _table(self, scaled: Examples) -> Floats:
        """Return the rows [1, x, r], times the root of how much each counts."""
        capacity.require_moments(scaled.n_actions, scaled.context.shape[1] + 2)
        table = table_of(scaled)
        table *= np.sqrt(scale_counts(self.counts(scaled)))[:, None]
        return table

    def _solve(self, sums: Floats, rows: Examples, scaling: Scaling) -> LinearModels:
        """Return the models of all actions from the moments of [1, x, r]."""
        penalty = self.alpha / scaling.scale**2
        fixed = constants(rows)
        learnt = np.flatnonzero(np.isnan(fixed))
        coefficients = np.zeros((len(fixed), len(penalty)))
        coefficients[learnt] = from_sums(sums[learnt], penalty)
        if penalty.size and penalty.min() < WEAK:
            number = np.bincount(rows.actions, minlength=len(fixed))
            for action in learnt[number[learnt] <= len(penalty)].tolist():
                mine = rows.take(np.flatnonzero(rows.actions == action))
                coefficients[action] = from_rows(mine.context, mine.rewards, penalty, scale_counts(self.counts(mine)))
        return make_linear(sums, fixed, coefficients)


@dataclass(frozen=True, eq=False)
class ScaledModels:
    """The models of all actions, and how the context is scaled for them."""

    scaling: Scaling
    intercepts: Floats
    slopes: Floats

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        return LinearModels(self.intercepts, self.slopes).predict(self.scaling.apply(rows))


def make_linear(sums: Floats, fixed: Floats, coefficients: Floats) -> LinearModels:
    """Return the models of all actions; those with a fixed reward need no coefficients."""
    learnt = np.isnan(fixed)
    slopes = np.where(learnt[:, None], coefficients, 0.0)
    count, x, r = np.maximum(sums[:, 0, 0], 1.0), sums[:, 0, 1:-1], sums[:, 0, -1]
    intercepts = np.where(learnt, (r - row_sums(x, slopes)) / count, fixed)
    return LinearModels(intercepts, np.ascontiguousarray(slopes.T))


def from_sums(sums: Floats, penalty: Floats) -> Floats:
    """Return the coefficients of all actions from the normal equations, the first of which is that of the intercept."""
    if len(sums) == 0 or penalty.size == 0:
        return np.empty((len(sums), len(penalty)))
    gram, right = sums[:, :-1, :-1].copy(), sums[:, :-1, -1].copy()
    np.maximum(gram[:, 0, 0], 1.0, out=gram[:, 0, 0])
    diagonal = np.arange(1, 1 + len(penalty))
    if penalty.min() < WEAK:
        leave_out_flat(gram, right, penalty)
    gram[:, diagonal, diagonal] += penalty
    return np.stack([solve_positive(one, values)[1:] for one, values in zip(gram, right, strict=True)])


def leave_out_flat(gram: Floats, right: Floats, penalty: Floats) -> None:
    """Take columns that do not vary out of equations: they leave rounding errors, which weak penalties let grow."""
    square, diagonal = gram.diagonal(axis1=1, axis2=2)[:, 1:], np.arange(1, 1 + len(penalty))
    spread = square - gram[:, 0, 1:] ** 2 / gram[:, :1, 0]
    flat = np.zeros(right.shape, dtype=bool)
    flat[:, 1:] = (penalty < WEAK) & (spread <= 1e-10 * square)
    gram[flat[:, :, None] | flat[:, None, :]] = 0.0
    gram[:, diagonal, diagonal] += flat[:, 1:]
    right[flat] = 0.0


def from_rows(context: Floats, rewards: Floats, penalty: Floats, counts: Floats) -> Floats:
    """Return the coefficients of one action with no more rows than columns, by least squares with the penalty as rows.

    There the normal equations are singular but for the penalty, and a weak one drowns in rounding errors.
    """
    roots = np.sqrt(counts)
    level, mean = (np.average(one, axis=0, weights=counts) for one in (context, rewards))
    rows = np.vstack([roots[:, None] * (context - level), np.diag(np.sqrt(penalty))])
    values = np.concatenate([roots * (rewards - mean), np.zeros(len(penalty))])
    return np.asarray(np.linalg.lstsq(rows, values)[0], dtype=np.float64)


class RunningMoments:
    """Moments before and after ascending cuts: each row is added to those before, and taken from those after, once.

    What is left after a cut is summed anew when half of what it was taken from is gone, so that no digits are lost.
    Moments that were returned for one cut are changed for the next.
    """

    def __init__(self, table: Floats, actions: Ints, n_actions: int) -> None:
        """Start before the first row, with the rows of each action one after the other."""
        self.actions, self.n_actions = actions, n_actions
        self.blocks = sort_by_action(table, actions, n_actions)
        self.done = np.zeros(n_actions, dtype=np.intp)
        self.first = np.zeros((n_actions, table.shape[1], table.shape[1]))
        self.rest, self.known = np.empty(0), 0

    def before(self, cut: int) -> Floats:
        """Return the moments of the rows before the cut."""
        until = np.bincount(self.actions[:cut], minlength=self.n_actions)
        if (until > self.done).any():
            passed = self._of(self.done, until)
            self.first += passed
            if self.known:
                self.rest -= passed
            self.done = until
        return self.first

    def after(self, cut: int) -> Floats:
        """Return the moments of the rows after the cut."""
        self.before(cut)
        left = len(self.actions) - cut
        if 2 * left < self.known or not self.known:
            ends = np.array([len(block) for block in self.blocks])
            self.rest, self.known = self._of(self.done, ends), left
        return self.rest

    def _of(self, start: Ints, stop: Ints) -> Floats:
        """Return the moments of some rows of every action."""
        bounds = zip(self.blocks, start.tolist(), stop.tolist(), strict=True)
        return sum_products([block[first:last] for block, first, last in bounds])
