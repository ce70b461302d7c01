"""Stacked: several reward models and their shares, which are fitted to held-out predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.models._action_predictor import predict_one
from counterfold.models._policy_models import Derived
from counterfold.models.base import Examples, Predictor, TrainedModel, check_predictions

MAX_ROWS_FOR_SLOW_MEMBERS = 20_000
"""The largest number of rows that members are trained on, unless they are fast to fit."""


@dataclass(frozen=True, eq=False)
class Stacked(Derived):
    """A mixture of predictors.

    - `shares`: of the predictors; they add up to 1.
    - `limits`: predictions are clipped to this range.
    - `linear`: a linear model of the same rows. The noise of fitting the mixture is unknown, and about as large as that
      of this model, which can be computed.
    """

    predictors: tuple[Predictor, ...]
    shares: Floats
    limits: tuple[float, float]
    linear: Predictor

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A), a few rows at a time."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "openmp"):  # threads wait for each other if the cores are busy
            return self.mix(rows)

    def mix(self, rows: Examples) -> Floats:
        """Return the predicted rewards, without limiting the number of threads."""
        q = np.zeros((len(rows), rows.n_actions))
        step = capacity.count_rows(rows.context.shape[1] + rows.n_actions, max(1, len(rows)))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            block_rows = rows.take(block)
            for predict, share in zip(self.predictors, self.shares, strict=True):
                if share > 0:  # predictors without a share cost no time
                    q[block] += share * check_predictions(predict(block_rows), block_rows)
        return np.clip(q, *self.limits, out=q)


@dataclass(frozen=True, eq=False)
class Stacking:
    """Fits mixtures of members to parts of the rows.

    - `counts`: the weight of each row in the loss of the mixture.
    - `fold`: the fold of each row, within which all members predict it.
    - `predicted`: held-out predictions that were computed before, by the rows that members were trained on. They serve
      every mixture that needs them.
    """

    members: Sequence[TrainedModel]
    examples: Examples
    counts: Floats
    fold: Ints
    predicted: dict[bytes, Floats] = field(default_factory=dict)

    def combine(self, kept: Bools, linear: Predictor) -> Predictor:
        """Return the mixture fitted to some of the rows, or `linear`, their linear model, if they are in one fold."""
        folds = np.unique(self.fold[kept])
        if len(folds) < 2:
            return linear
        predicted = np.empty((len(kept), len(self.members)))
        for number in folds:
            held_out = kept & (self.fold == number)
            predicted[held_out] = self.predict_others(kept & ~held_out)[held_out]
        rewards = self.examples.rewards[kept]
        shares = find_shares(predicted[kept], rewards, self.counts[kept])
        return Stacked(
            predictors=tuple(self.fit_members(kept)),
            shares=shares,
            limits=(float(rewards.min()), float(rewards.max())),
            linear=linear,
        )

    def predict_others(self, kept: Bools) -> Floats:
        """Return the predictions of members trained on some rows, for the logged actions of the others (n x members).

        They are 0 in the rows that members are trained on.
        """
        key = np.packbits(kept).tobytes()
        if key not in self.predicted:
            others = self.examples.take(np.flatnonzero(~kept))
            predictors = self.fit_members(kept)
            predicted = np.zeros((len(kept), len(self.members)))
            predicted[~kept] = np.column_stack([predict_one(predict, others, others.actions) for predict in predictors])
            self.predicted[key] = predicted
        return self.predicted[key]

    def fit_members(self, kept: Bools) -> list[Predictor]:
        """Return each member trained on some rows."""
        from threadpoolctl import threadpool_limits

        rows = self.examples.take(np.flatnonzero(kept))
        sample = rows
        if len(rows) > MAX_ROWS_FOR_SLOW_MEMBERS:
            sample = rows.take(sample_least(rows.ids, MAX_ROWS_FOR_SLOW_MEMBERS))
        with threadpool_limits(1, "openmp"):
            return [member.fit(rows if member.is_fast else sample) for member in self.members]


def find_shares(predicted: Floats, rewards: Floats, counts: Floats) -> Floats:
    r"""Return the non-negative shares with sum 1 that minimise the squared error of mixed predictions (n x members).

    With errors $E$, the $s \ge 0$ that minimise $\lVert E s \rVert^2 + (1 - \sum_m s_m)^2$ are a multiple of these
    shares, because for each sum of $s$ the minimum has the smallest $\lVert E s \rVert$ that this sum allows.

    >>> find_shares(np.array([[1.0, 0.0], [2.0, 4.0]]), np.array([0.5, 3.0]), np.ones(2))
    array([0.5, 0.5])
    """
    from scipy.optimize import nnls

    errors = (predicted - rewards[:, None]) * np.sqrt(counts)[:, None]
    size = np.linalg.norm(errors, axis=0).max() or 1.0
    # the triangular factor has the same norms as the errors, in as many rows as there are members
    system = np.vstack([np.linalg.qr(errors / size, mode="r"), np.ones(predicted.shape[1])])
    right = np.append(np.zeros(len(system) - 1), 1.0)
    multiple = nnls(system, right)[0]
    return np.asarray(multiple / multiple.sum())
