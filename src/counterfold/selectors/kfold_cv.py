"""Plain K-fold cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.errors import ParameterError
from counterfold.estimators.base import Estimator
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors._splits import Split, compute_split_losses, compute_unit_losses
from counterfold.selectors.base import Rule, Validated, add_pessimism, shuffle_rows, trusted
from counterfold.sums import Sums


@dataclass(frozen=True)
class KFoldCV(Validated):
    r"""Score a candidate on all folds but one by the validator on that one, each fold in turn.

    $$L_k = \bigl(\hat V(D \setminus D_k) - \tilde V(D_k)\bigr)^2$$

    This is what supervised learning does; the paper's ablation shows how much better `OCV` is.

    Cief, Kveton, Kompan (2025), "Cross-validated off-policy evaluation", variants A and B of the ablation.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> cf.KFoldCV(folds=2).select(rows, [cf.IPS(), cf.DM(), cf.DR()], np.random.default_rng(0), cf.Pool()).chosen
    1
    """

    folds: int = 10
    rule: Rule = "mean"

    def __post_init__(self) -> None:
        checks.whole(2, folds=self.folds)
        checks.one_of(get_args(Rule), rule=self.rule)

    @property
    def least_units(self) -> int:
        return self.folds

    def scores(self, rows: Rows, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool) -> Floats:
        return add_pessimism(self.losses(rows, candidates, rng, pool), self.rule)

    def score_sums(self, sums: Sums, candidates: Sequence[Estimator], rng: np.random.Generator) -> Floats:
        self._require(len(sums))
        fold = rng.permutation(np.arange(len(sums)) * self.folds // len(sums))
        inside = (fold != np.arange(self.folds)[:, None]).astype(np.float64)
        return add_pessimism(compute_unit_losses(sums, candidates, self.judge, inside), self.rule)

    def _require(self, units: int) -> None:
        if units < self.folds:
            raise ParameterError(f"`folds` must be at most the number of rows or groups ({units}), got {self.folds}.")

    def losses(self, rows: Rows, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool) -> Floats:
        """Return the loss of each candidate on each fold (candidates x folds)."""
        order, places = shuffle_rows(rows, rng)
        self._require(len(places) + 1)
        ends = places[np.linspace(0, len(places) + 1, self.folds + 1)[1:-1].astype(int) - 1]
        folds = np.split(order, ends)
        splits = [
            Split(
                np.concatenate([*folds[:number], *folds[number + 1 :], fold]),
                np.full(len(candidates), len(rows) - len(fold)),
            )
            for number, fold in enumerate(folds)
        ]
        return compute_split_losses(rows, candidates, trusted(self.validator, rows), splits, pool)
