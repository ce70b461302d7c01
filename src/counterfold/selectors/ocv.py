"""Off-policy cross-validation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import standard_error
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Sums, sum_buckets
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
class OCV(CrossValidated):
    r"""Score a candidate on one part of the rows by an unbiased validator on the rest, on many random splits.

    $$L_k = \bigl(\hat V(\hat D_k) - \tilde V(\tilde D_k)\bigr)^2, \qquad
      \text{score} = \bar L + \frac{1}{\sqrt K} \sqrt{\frac{1}{K-1} \sum_k (L_k - \bar L)^2}$$

    Each candidate has its own split ratio, $|\hat D_k| / |\tilde D_k| = \hat\sigma^2 / \tilde\sigma^2$, from the
    variances of its own estimate and the validator's. `split_ratio=0.8` gives all candidates 80 % of the rows instead.
    `rule` adds a standard error, a standard deviation (formula of Algorithm 1) or nothing ("mean") to the mean loss.
    The validator is DR by default, and IPS where DR does not apply.

    The logarithm of the ratio, which is noisy, is rounded to a multiple of `ratio_step`. Candidates with the same ratio
    share splits, refits and the validator, which makes large sets fast. A step of 0.5 changes the ratio by at most
    28 %, and 0 rounds nothing.

    `refit=False` fits the reward model once, on all rows, instead of on both parts of every split. Splits then consist
    of buckets of rows, and a thousand of them cost hardly more than ten.

    Cief, Kveton, Kompan (2025), "Cross-validated off-policy evaluation".

    >>> import numpy as np
    >>> import counterfold as cf
    >>> rows = cf.example_rows()
    >>> cf.OCV(splits=4).select(rows, [cf.IPS(), cf.DM(), cf.DR()], np.random.default_rng(0), cf.Pool()).chosen
    1
    """

    splits: int = 10
    split_ratio: float | Literal["variance"] = "variance"
    rule: Rule = "standard_error"
    ratio_step: float = 0.5
    refit: bool = True

    def __post_init__(self) -> None:
        check_validator(self.validator)
        validation.one_of(get_args(Rule), rule=self.rule)
        validation.whole(1 if self.rule == "mean" else 2, splits=self.splits)
        validation.at_least(0, ratio_step=self.ratio_step)
        validation.true_or_false(refit=self.refit)
        if not isinstance(self.split_ratio, str) or self.split_ratio != "variance":
            validation.inside(0, 1, split_ratio=self.split_ratio)

    def without_refits(self) -> Self:
        return replace(self, refit=False)

    def losses(self, rows: Rows, candidates: Candidates, rng: np.random.Generator, pool: Pool) -> Floats:
        validator = choose_validator(self.validator, rows)
        if not self.refit:
            estimators = list(dict.fromkeys([*candidates, validator]))
            sums = sum_buckets(rows, estimators, pool)
            return replace(self, validator=validator).sum_losses(sums, candidates, rng)
        wanted_cuts = self.ratios(rows, candidates) * len(rows)
        splits = []
        for _ in range(self.splits):
            order, possible_cuts = shuffle_rows(rows, rng)
            splits.append(Split(order, find_nearest(possible_cuts, wanted_cuts)))
        return compute_split_losses(rows, candidates, validator, splits, pool)

    def sum_losses(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        n_units = len(sums)
        wanted_cuts = self.shares(candidates, self.used_validator, sums.errors) * n_units
        cuts = find_nearest(np.arange(1, n_units), wanted_cuts)
        ranks = rng.permuted(np.tile(np.arange(n_units), (self.splits, 1)), axis=1)
        return compute_unit_losses(sums, candidates, self.used_validator, ranks=ranks, cuts=cuts)

    def ratios(self, rows: Rows, candidates: Candidates) -> Floats:
        """Return the share of the rows that each candidate gets."""

        def compute_errors(estimators: Candidates) -> Floats:
            return np.array(
                [
                    standard_error(estimator.contributions(rows), groups=rows.groups, sizes=rows.counts)
                    for estimator in estimators
                ]
            )

        return self.shares(candidates, choose_validator(self.validator, rows), compute_errors)

    def shares(
        self, candidates: Candidates, validator: Estimator, compute_errors: Callable[[Candidates], Floats]
    ) -> Floats:
        """Return the share of the rows for each candidate, from the standard errors of it and of the validator.

        It is one half if neither varies.
        """
        if self.split_ratio != "variance":
            return np.full(len(candidates), self.split_ratio)
        variances = compute_errors([*candidates, validator]) ** 2
        candidate_variances = variances[:-1]
        validator_variance = variances[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = candidate_variances / validator_variance
            if self.ratio_step:
                odds = np.exp(self.ratio_step * np.round(np.log(odds) / self.ratio_step))
            share = odds / (1 + odds)
        # Not a number: the odds are 0 / 0 if neither varies, and infinite if only the candidate varies.
        share_without_odds = np.where(candidate_variances > 0, 1.0, 0.5)
        return np.where(np.isnan(share), share_without_odds, share)


def find_nearest(places: Ints, wanted: Floats) -> Ints:
    """Return for each wanted place the nearest one of the sorted `places`.

    As cuts are possible only between rows, neither side of a cut is ever empty.
    """
    above = np.zeros(len(wanted), int)
    if len(places) > 1:
        above = np.searchsorted(places, wanted).clip(1, len(places) - 1)
    below = np.maximum(above - 1, 0)
    is_below_nearer = wanted - places[below] <= places[above] - wanted
    return np.asarray(np.where(is_below_nearer, places[below], places[above]))
