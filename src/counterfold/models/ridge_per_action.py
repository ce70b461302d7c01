"""Ridge regression, one per action, from sums that many subsets of the rows share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from counterfold.base import capacity, validation
from counterfold.base.arrays import Floats, Ints, ratio, row_sums
from counterfold.models._constants import constant
from counterfold.models._moments import (
    Solved,
    Summed,
    add_products,
    find_actions,
    scale_counts,
    solve_positive,
    table_of,
)
from counterfold.models.base import Examples, Predictor, Refits, Scaling, predict_nothing

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
        validation.above(0, alpha=self.alpha)

    @property
    def is_aimed(self) -> bool:
        return False

    def fit(self, examples: Examples) -> Predictor:
        return self.refit(examples).fit_all(np.arange(len(examples)))

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        refits, outside = self.refit(examples), [np.flatnonzero(fold != number) for number in range(folds)]
        return [
            refits.fit_all(some) if 0 < len(some) < len(fold) else predict_nothing  # as there is nobody to predict
            for some in outside
        ]

    def from_moments(self, totals: Solved, scaling: Scaling) -> Predictor:
        actions = np.arange(len(totals.sums))
        return ScaledModels(scaling=scaling, solved=self.solve(totals, scaling, actions))

    def refit(self, examples: Examples) -> "RidgeRefits":
        scaling = Scaling.of(examples.context)
        scaled = scaling.apply(examples)
        return RidgeRefits(self, scaling, scaled, self.tabulate(scaled))

    def tabulate(self, scaled: Examples) -> Floats:
        """Return the rows [1, x, r], times the root of how much each counts."""
        capacity.require_moments(scaled.n_actions, scaled.context.shape[1] + 2)
        table = table_of(scaled)
        table *= np.sqrt(scale_counts(self.counts(scaled)))[:, None]
        return table

    def solve(self, known: Solved, scaling: Scaling, actions: Ints, blocks: Sequence[Floats] = ()) -> Floats:
        """Return the intercept and the slopes of some actions (k x (1 + d)), from sums and, if known, from rows."""
        fixed, penalty = constant(known.low, known.high)[actions], self.alpha / scaling.scale**2
        solved, learnt = np.zeros((len(actions), 1 + len(penalty))), np.isnan(fixed)
        solved[learnt, 1:] = from_sums(known.sums, actions[learnt], penalty)
        if blocks and penalty.size and penalty.min() < WEAK:
            for place, action in enumerate(actions.tolist()):
                if learnt[place] and len(blocks[action]) <= len(penalty):
                    solved[place, 1:] = from_rows(blocks[action], penalty)
        first = known.sums[actions, 0]
        intercepts = ratio(first[:, -1] - row_sums(first[:, 1:-1], solved[:, 1:]), first[:, 0])
        solved[:, 0] = np.where(learnt, intercepts, fixed)
        return solved


@dataclass(frozen=True, eq=False)
class ScaledModels:
    """The intercept and the slopes of every action (A x (1 + d)), and how the context is scaled for them."""

    scaling: Scaling
    solved: Floats

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        return predict(self.scaling.apply(rows).context, self.solved)


def predict(context: Floats, solved: Floats) -> Floats:
    """Return the predicted reward of every action (n x A), on context that was scaled."""
    q: Floats = context @ solved[:, 1:].T
    q += solved[:, 0]
    return q


@dataclass(frozen=True, eq=False)
class RidgeRefits(Refits):
    """Ridge regressions on the first rows of an order, from sums to which each row is added once.

    `scaled` are all rows, with their context scaled, and `table` is what they add to sums.
    """

    model: RidgePerAction
    scaling: Scaling
    scaled: Examples
    table: Floats

    def predict(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        context = np.take(self.scaled.context, order[: ends[-1]], axis=0)
        for end, solved in zip(ends, list(self.fit(order, ends)), strict=True):
            yield predict(context[:end], solved)

    def add_up(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        """Return the sums; those of products of factors and context suffice, so that no row is predicted."""
        context = np.take(self.scaled.context, order[: ends[-1]], axis=0)
        sums = np.zeros((*factors.shape[::2], 1 + context.shape[1]))
        found = np.empty((len(factors), len(ends)))
        for place, (start, end, solved) in enumerate(zip([0, *ends[:-1]], ends, self.fit(order, ends), strict=True)):
            some = factors[:, order[start:end]].transpose(0, 2, 1)
            sums[:, :, 0] += some.sum(axis=2)
            sums[:, :, 1:] += some @ context[start:end]
            found[:, place] = (sums * solved).sum(axis=(1, 2))
        return found

    def fit_all(self, order: Ints) -> ScaledModels:
        """Return the models of some rows."""
        [solved] = self.fit(order, [len(order)])
        return ScaledModels(self.scaling, solved)

    def fit(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the intercepts and slopes of the models of the rows before each of the ascending ends."""
        first, n_actions = order[: ends[-1]], self.scaled.n_actions
        actions, rewards = self.scaled.actions[first], self.scaled.rewards[first]
        blocks = [np.take(self.table, first[places], axis=0) for places in find_actions(actions, n_actions)]
        sums = np.zeros((n_actions, *2 * self.table.shape[1:]))
        low, high = np.full(n_actions, np.inf), np.full(n_actions, -np.inf)
        done, solved = np.zeros(n_actions, dtype=np.intp), np.zeros((n_actions, self.table.shape[1] - 1))
        factors = self.find_factors(order, ends)
        for place, (start, end) in enumerate(pairwise([0, *ends])):
            until = done + np.bincount(actions[start:end], minlength=n_actions)
            bounds = zip(blocks, done.tolist(), until.tolist(), strict=True)
            add_products(sums, [block[first:last] for block, first, last in bounds])
            np.minimum.at(low, actions[start:end], rewards[start:end])
            np.maximum.at(high, actions[start:end], rewards[start:end])
            known = [block[:last] for block, last in zip(blocks, until.tolist(), strict=True)]
            changed, solved = np.flatnonzero(until > done if factors is None else until), solved.copy()
            scaled = sums if factors is None else factors[place] * sums
            solved[changed] = self.model.solve(Solved(scaled, low, high, 1.0), self.scaling, changed, known)
            done = until
            yield solved

    def find_factors(self, order: Ints, ends: Sequence[int]) -> Floats | None:
        """Return what sums before each end are multiplied by, as rows count in all as the effective number of these."""
        counts = self.scaled.counts
        if counts is None:
            return None
        first, last = counts[order[: ends[-1]]], np.array(ends) - 1
        every = np.square(counts).sum() / counts.sum()
        return np.asarray(every * (first.cumsum() / np.square(first).cumsum())[last])


def from_sums(sums: Floats, actions: Ints, penalty: Floats) -> Floats:
    """Return the coefficients of some actions from the normal equations, the first of which is of the intercept."""
    if len(actions) == 0 or penalty.size == 0:
        return np.empty((len(actions), len(penalty)))
    gram, right = sums[actions, :-1, :-1], sums[actions, :-1, -1]
    gram[:, 0, 0] += gram[:, 0, 0] == 0
    diagonal = np.arange(1, 1 + len(penalty))
    if penalty.min() < WEAK:
        leave_out_flat(gram, right, penalty)
    gram[:, diagonal, diagonal] += penalty
    return solve_positive(gram, right)[:, 1:]


def leave_out_flat(gram: Floats, right: Floats, penalty: Floats) -> None:
    """Take columns that do not vary out of equations: they leave rounding errors, which weak penalties let grow."""
    square, diagonal = gram.diagonal(axis1=1, axis2=2)[:, 1:], np.arange(1, 1 + len(penalty))
    spread = square - gram[:, 0, 1:] ** 2 / gram[:, :1, 0]
    flat = np.zeros(right.shape, dtype=bool)
    flat[:, 1:] = (penalty < WEAK) & (spread <= 1e-10 * square)
    gram[flat[:, :, None] | flat[:, None, :]] = 0.0
    gram[:, diagonal, diagonal] += flat[:, 1:]
    right[flat] = 0.0


def from_rows(block: Floats, penalty: Floats) -> Floats:
    """Return the coefficients of one action with no more rows than columns, by least squares with the penalty as rows.

    There the normal equations are singular but for the penalty, and a weak one drowns in rounding errors.
    """
    roots = block[:, :1]
    context, rewards, counts = block[:, 1:-1] / roots, block[:, -1] / roots[:, 0], scale_counts(roots[:, 0] ** 2)
    level, mean = (np.average(one, axis=0, weights=counts) for one in (context, rewards))
    rows = np.vstack([np.sqrt(counts)[:, None] * (context - level), np.diag(np.sqrt(penalty))])
    values = np.concatenate([np.sqrt(counts) * (rewards - mean), np.zeros(len(penalty))])
    return np.asarray(np.linalg.lstsq(rows, values)[0], dtype=np.float64)
