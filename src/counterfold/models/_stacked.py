"""Stacked: several reward models and their shares, which are found on rows that none of them saw."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.models._action_predictor import predict_one
from counterfold.models._policy_models import Derived
from counterfold.models.base import Examples, Predictor, TrainedModel, check_predictions

ENOUGH = 20_000
"""From how many rows, at most, a member learns that is not fast to fit."""


@dataclass(frozen=True, eq=False)
class Stacked(Derived):
    """Predictors and their shares; predictions stay within `limits`.

    `linear` is a linear model of the same rows. How far rows move it tells the noise of fitting, about as large as that
    of the mixture, of which nobody knows.
    """

    predictors: tuple[Predictor, ...]
    shares: Floats
    limits: tuple[float, float]
    linear: Predictor

    def __call__(self, rows: Examples) -> Floats:
        """Return the predicted reward of every action (n x A), a few rows at a time."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, "openmp"):  # on busy cores threads wait long
            return self.mix(rows)

    def mix(self, rows: Examples) -> Floats:
        """Return the same by this thread alone."""
        q = np.zeros((len(rows), rows.n_actions))
        step = capacity.count_rows(rows.context.shape[1] + rows.n_actions, max(1, len(rows)))
        for start in range(0, len(rows), step):
            some = rows.take(slice(start, start + step))
            for predict, share in zip(self.predictors, self.shares, strict=True):
                if share > 0:  # what is of no use costs nothing
                    q[start : start + step] += share * check_predictions(predict(some), some)
        return np.clip(q, *self.limits, out=q)


@dataclass(frozen=True, eq=False)
class Stacking:
    """What finds shares on rows that fall into folds; what was predicted once is kept.

    `counts` are how much the mixture is to be right in each row.
    """

    members: Sequence[TrainedModel]
    examples: Examples
    counts: Floats
    fold: Ints
    predicted: dict[bytes, Floats] = field(default_factory=dict)

    def combine(self, kept: Bools, linear: Predictor) -> Predictor:
        """Return the mixture that some of the rows teach; the linear model of them if they are all in one fold."""
        folds = np.unique(self.fold[kept])
        if len(folds) < 2:
            return linear
        found = np.empty((len(kept), len(self.members)))
        for number in folds:
            mine = kept & (self.fold == number)
            found[mine] = self.predict_others(kept & ~mine)[mine]
        rewards = self.examples.rewards[kept]
        shares = find_shares(found[kept], rewards, self.counts[kept])
        limits = float(rewards.min()), float(rewards.max())
        return Stacked(tuple(self.fit_members(kept)), shares, limits, linear)

    def predict_others(self, kept: Bools) -> Floats:
        """Return what each member, fitted on some rows, predicts of the logged actions of the others (n x members)."""
        key = np.packbits(kept).tobytes()
        if key not in self.predicted:
            others, several = self.examples.take(np.flatnonzero(~kept)), self.fit_members(kept)
            found = np.zeros((len(kept), len(self.members)))
            found[~kept] = np.column_stack([predict_one(one, others, others.actions) for one in several])
            self.predicted[key] = found
        return self.predicted[key]

    def fit_members(self, kept: Bools) -> list[Predictor]:
        """Return what each member makes of some rows."""
        from threadpoolctl import threadpool_limits

        every = self.examples.take(np.flatnonzero(kept))
        fewer = every.take(sample_least(every.ids, ENOUGH)) if len(every) > ENOUGH else every
        with threadpool_limits(1, "openmp"):
            return [one.fit(every if one.is_fast else fewer) for one in self.members]


def find_shares(predicted: Floats, rewards: Floats, counts: Floats) -> Floats:
    r"""Return the shares, none below 0 and 1 in sum, with which predictions (n x members) come nearest to rewards.

    With errors $E$, the $s \ge 0$ that minimise $\lVert E s \rVert^2 + (1 - \sum_m s_m)^2$ are a multiple of these
    shares: whatever their sum, it is best to have $\lVert E s \rVert$ as small as that sum allows.

    >>> find_shares(np.array([[1.0, 0.0], [2.0, 4.0]]), np.array([0.5, 3.0]), np.ones(2))
    array([0.5, 0.5])
    """
    from scipy.optimize import nnls

    errors = (predicted - rewards[:, None]) * np.sqrt(counts)[:, None]
    size = np.linalg.norm(errors, axis=0).max() or 1.0
    system = np.vstack([np.linalg.qr(errors / size, mode="r"), np.ones(predicted.shape[1])])
    found = nnls(system, np.append(np.zeros(len(system) - 1), 1.0))[0]
    return np.asarray(found / found.sum())
