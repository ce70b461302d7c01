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

MIN_STABLE_PENALTY = 1e-6
"""A smaller penalty on scaled columns lets rounding errors of the normal equations grow."""


@dataclass(frozen=True)
class RidgePerAction(Summed):
    r"""A linear model of the reward for each action, with intercept and an L2 penalty on the coefficients.

    $$\hat q(x, a) = b_a + x^\top \beta_a, \qquad
      (b_a, \beta_a) = \arg\min \sum_{i: a_i = a} (r_i - b - x_i^\top \beta)^2 + \alpha \lVert \beta \rVert^2$$

    An action whose logged rewards are all equal is predicted to have that reward, and an action that was never logged
    to have 0. This is the reward model of the paper's experiments, with `alpha=0.001`.

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
        refits = self.refit(examples)
        predictors: list[Predictor] = []
        for number in range(folds):
            outside = np.flatnonzero(fold != number)
            # an empty fold has no rows to predict, and a fold with all rows leaves none to train on
            if 0 < len(outside) < len(fold):
                predictors.append(refits.fit_all(outside))
            else:
                predictors.append(predict_nothing)
        return predictors

    def from_moments(self, totals: Solved, scaling: Scaling) -> Predictor:
        actions = np.arange(len(totals.sums))
        return ScaledModels(scaling=scaling, solved=self.solve(totals, scaling, actions))

    def refit(self, examples: Examples) -> "RidgeRefits":
        scaling = Scaling.of(examples.context)
        scaled = scaling.apply(examples)
        return RidgeRefits(model=self, scaling=scaling, scaled=scaled, table=self.tabulate(scaled))

    def tabulate(self, scaled: Examples) -> Floats:
        """Return the rows [1, x, r], times the roots of their counts."""
        capacity.require_moments(scaled.n_actions, scaled.context.shape[1] + 2)
        table = table_of(scaled)
        table *= np.sqrt(scale_counts(self.counts(scaled)))[:, None]
        return table

    def solve(self, totals: Solved, scaling: Scaling, actions: Ints, blocks: Sequence[Floats] = ()) -> Floats:
        """Return the intercept and the slopes of some actions (k x (1 + d)).

        They are solved from sums. `blocks`, if there are any, are the rows of all actions, from which actions with few
        rows are solved if the penalty is too small for the sums.
        """
        constant_reward = constant(totals.low, totals.high)[actions]
        is_fitted = np.isnan(constant_reward)
        penalty = self.alpha / scaling.scale**2
        solved = np.zeros((len(actions), 1 + len(penalty)))
        solved[is_fitted, 1:] = from_sums(totals.sums, actions[is_fitted], penalty)
        if blocks and penalty.size and penalty.min() < MIN_STABLE_PENALTY:
            for place, action in enumerate(actions.tolist()):
                if is_fitted[place] and len(blocks[action]) <= len(penalty):
                    solved[place, 1:] = from_rows(blocks[action], penalty)
        # the first line of the moments has the sums of [1, x, r]: the intercept is the mean of r less x times slopes
        first_line = totals.sums[actions, 0]
        intercepts = ratio(first_line[:, -1] - row_sums(first_line[:, 1:-1], solved[:, 1:]), first_line[:, 0])
        solved[:, 0] = np.where(is_fitted, intercepts, constant_reward)
        return solved


@dataclass(frozen=True, eq=False)
class ScaledModels:
    """The intercept and the slopes of every action (A x (1 + d)), for context with this scaling."""

    scaling: Scaling
    solved: Floats

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A)."""
        return predict(self.scaling.apply(rows).context, self.solved)


def predict(context: Floats, solved: Floats) -> Floats:
    """Return the predicted reward of every action (n x A), from scaled context."""
    q: Floats = context @ solved[:, 1:].T
    q += solved[:, 0]
    return q


@dataclass(frozen=True, eq=False)
class RidgeRefits(Refits):
    """Ridge regressions on the first rows of an order, from sums to which each row is added once.

    `scaled` are all rows, with their context scaled, and `table` are their rows [1, x, r], times the roots of counts.
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
        """Return the sums. No row is predicted, because they follow from the sums of factors times [1, x]."""
        context = np.take(self.scaled.context, order[: ends[-1]], axis=0)
        factor_sums = np.zeros((*factors.shape[::2], 1 + context.shape[1]))  # terms x A x (1 + d)
        sums = np.empty((len(factors), len(ends)))
        for place, (start, end, solved) in enumerate(zip([0, *ends[:-1]], ends, self.fit(order, ends), strict=True)):
            added = factors[:, order[start:end]].transpose(0, 2, 1)
            factor_sums[:, :, 0] += added.sum(axis=2)
            factor_sums[:, :, 1:] += added @ context[start:end]
            sums[:, place] = (factor_sums * solved).sum(axis=(1, 2))
        return sums

    def fit_all(self, order: Ints) -> ScaledModels:
        """Return the models of the rows in `order`."""
        [solved] = self.fit(order, [len(order)])
        return ScaledModels(scaling=self.scaling, solved=solved)

    def fit(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the intercepts and slopes of the models of the rows before each of the ascending ends."""
        first_rows = order[: ends[-1]]
        actions = self.scaled.actions[first_rows]
        rewards = self.scaled.rewards[first_rows]
        n_actions = self.scaled.n_actions
        width = self.table.shape[1]
        blocks = [np.take(self.table, first_rows[places], axis=0) for places in find_actions(actions, n_actions)]
        factors = self.find_factors(order, ends)

        sums = np.zeros((n_actions, width, width))
        low = np.full(n_actions, np.inf)
        high = np.full(n_actions, -np.inf)
        solved = np.zeros((n_actions, width - 1))
        n_before = np.zeros(n_actions, dtype=np.intp)  # how many rows of each action were added to the sums
        for place, (start, end) in enumerate(pairwise([0, *ends])):
            n_after = n_before + np.bincount(actions[start:end], minlength=n_actions)
            bounds = zip(blocks, n_before.tolist(), n_after.tolist(), strict=True)
            add_products(sums, [block[before:after] for block, before, after in bounds])
            np.minimum.at(low, actions[start:end], rewards[start:end])
            np.maximum.at(high, actions[start:end], rewards[start:end])
            if factors is None:
                scaled_sums = sums
                changed = np.flatnonzero(n_after > n_before)
            else:
                # a new factor changes the models of all actions that have rows
                scaled_sums = factors[place] * sums
                changed = np.flatnonzero(n_after)
            totals = Solved(sums=scaled_sums, low=low, high=high, factor=1.0)
            rows_so_far = [block[:after] for block, after in zip(blocks, n_after.tolist(), strict=True)]
            solved = solved.copy()  # callers may keep what was yielded before
            solved[changed] = self.model.solve(totals, self.scaling, changed, rows_so_far)
            n_before = n_after
            yield solved

    def find_factors(self, order: Ints, ends: Sequence[int]) -> Floats | None:
        """Return the factor of the sums before each end that makes the rows count as their effective number.

        The counts in `table` add up to the effective number of all rows. Without counts no factor is needed.
        """
        counts = self.scaled.counts
        if counts is None:
            return None
        first_counts = counts[order[: ends[-1]]]
        last_places = np.array(ends) - 1
        undo_table = np.square(counts).sum() / counts.sum()
        return np.asarray(undo_table * (first_counts.cumsum() / np.square(first_counts).cumsum())[last_places])


def from_sums(sums: Floats, actions: Ints, penalty: Floats) -> Floats:
    """Return the slopes of some actions (k x d) from the normal equations, the first of which is for the intercept."""
    if len(actions) == 0 or penalty.size == 0:
        return np.empty((len(actions), len(penalty)))
    # indexing by an array copies, so that the sums stay as they are
    gram = sums[actions, :-1, :-1]
    right = sums[actions, :-1, -1]
    gram[:, 0, 0] += gram[:, 0, 0] == 0  # an action without rows has an intercept of 0
    diagonal = np.arange(1, 1 + len(penalty))
    if penalty.min() < MIN_STABLE_PENALTY:
        leave_out_flat(gram, right, penalty)
    gram[:, diagonal, diagonal] += penalty
    return solve_positive(gram, right)[:, 1:]


def leave_out_flat(gram: Floats, right: Floats, penalty: Floats) -> None:
    """Remove columns that do not vary from the equations, in place; their slopes become 0.

    Such columns leave only rounding errors in the equations, which grow if the penalty is weak.
    """
    square = gram.diagonal(axis1=1, axis2=2)[:, 1:]
    spread = square - gram[:, 0, 1:] ** 2 / gram[:, :1, 0]
    is_flat = np.zeros(right.shape, dtype=bool)
    is_flat[:, 1:] = (penalty < MIN_STABLE_PENALTY) & (spread <= 1e-10 * square)
    gram[is_flat[:, :, None] | is_flat[:, None, :]] = 0.0
    diagonal = np.arange(1, 1 + len(penalty))
    gram[:, diagonal, diagonal] += is_flat[:, 1:]
    right[is_flat] = 0.0


def from_rows(block: Floats, penalty: Floats) -> Floats:
    """Return the slopes of an action with no more rows than columns, by least squares with the penalty as extra rows.

    With so few rows the normal equations are singular without the penalty, and a weak penalty is smaller than rounding
    errors.
    """
    roots = block[:, :1]
    context = block[:, 1:-1] / roots
    rewards = block[:, -1] / roots[:, 0]
    counts = scale_counts(roots[:, 0] ** 2)
    centre = np.average(context, axis=0, weights=counts)
    mean = np.average(rewards, axis=0, weights=counts)
    rows = np.vstack([np.sqrt(counts)[:, None] * (context - centre), np.diag(np.sqrt(penalty))])
    values = np.concatenate([np.sqrt(counts) * (rewards - mean), np.zeros(len(penalty))])
    return np.asarray(np.linalg.lstsq(rows, values)[0], dtype=np.float64)
