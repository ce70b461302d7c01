"""Plain K-fold cross-validation."""

from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.base.threads import Pool
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums
from counterfold.selectors._splits import Split, compute_split_losses, compute_unit_losses
from counterfold.selectors.base import (
    Candidates,
    CrossValidated,
    Rule,
    check_validator,
    choose_validator,
    shuffle_rows,
)


@dataclass(frozen=True)
class KFoldCV(CrossValidated):
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
        check_validator(self.validator)
        validation.whole(2, folds=self.folds)
        validation.one_of(get_args(Rule), rule=self.rule)

    @property
    def least_units(self) -> int:
        return self.folds

    def _require(self, units: int) -> None:
        if units < self.folds:
            raise ParameterError(f"`folds` must be at most the number of rows or groups ({units}), got {self.folds}.")

    def sum_losses(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        self._require(len(sums))
        fold = rng.permutation(np.arange(len(sums)) * self.folds // len(sums))
        ranks = (fold == np.arange(self.folds)[:, None]).astype(np.intp)
        return compute_unit_losses(
            sums, candidates, self.used_validator, ranks, np.ones(len(candidates), dtype=np.intp)
        )

    def losses(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        order, places = shuffle_rows(rows, rng)
        self._require(len(places) + 1)
        ends = places[np.linspace(0, len(places) + 1, self.folds + 1)[1:-1].astype(int) - 1]
        splits = []
        for start, end in pairwise([0, *ends.tolist(), len(rows)]):
            rest = np.concatenate([order[:start], order[end:]])
            splits.append(Split(np.append(rest, order[start:end]), np.full(len(candidates), len(rest))))
        return compute_split_losses(rows, candidates, choose_validator(self.validator, rows), splits, pool)
