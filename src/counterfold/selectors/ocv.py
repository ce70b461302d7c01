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
    variances of its and the validator's estimates; `split_ratio=0.8` gives all candidates 80 % of the rows instead.
    `rule` adds to the mean loss a standard error, a standard deviation (formula of Algorithm 1) or nothing ("mean").
    The validator is DR by default, and IPS where DR does not apply.

    `ratio_step` rounds the logarithm of the noisy ratio to a multiple of itself: candidates with the same ratio share
    splits, refits and validator, which makes large sets fast. 0.5 changes it by 28 % at most, 0 rounds nothing.

    `refit=False` fits the reward model once, on all rows, instead of on both parts of every split: splits are then made
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
            sums = sum_buckets(rows, list(dict.fromkeys([*candidates, validator])), pool)
            return replace(self, validator=validator).sum_losses(sums, candidates, rng)
        wanted = self.ratios(rows, candidates) * len(rows)
        shuffles = [shuffle_rows(rows, rng) for _ in range(self.splits)]
        splits = [Split(order, find_nearest(places, wanted)) for order, places in shuffles]
        return compute_split_losses(rows, candidates, validator, splits, pool)

    def sum_losses(self, sums: Sums, candidates: Candidates, rng: np.random.Generator) -> Floats:
        wanted = self.shares(candidates, self.used_validator, sums.errors) * len(sums)
        cuts = find_nearest(np.arange(1, len(sums)), wanted)
        ranks = rng.permuted(np.tile(np.arange(len(sums)), (self.splits, 1)), axis=1)
        return compute_unit_losses(sums, candidates, self.used_validator, ranks, cuts)

    def ratios(self, rows: Rows, candidates: Candidates) -> Floats:
        """Return the share of the rows that each candidate gets."""

        def errors(estimators: Candidates) -> Floats:
            return np.array([standard_error(one.contributions(rows), rows.groups, rows.counts) for one in estimators])

        return self.shares(candidates, choose_validator(self.validator, rows), errors)

    def shares(self, candidates: Candidates, validator: Estimator, errors: Callable[[Candidates], Floats]) -> Floats:
        """Return the share of each candidate from its and the validator's error; one half if neither varies."""
        if self.split_ratio != "variance":
            return np.full(len(candidates), self.split_ratio)
        variances = errors([*candidates, validator]) ** 2
        mine, validators = variances[:-1], variances[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = mine / validators
            if self.ratio_step:
                odds = np.exp(self.ratio_step * np.round(np.log(odds) / self.ratio_step))
            share = odds / (1 + odds)
        return np.where(np.isnan(share), np.where(mine > 0, 1.0, 0.5), share)


def find_nearest(places: Ints, wanted: Floats) -> Ints:
    """Return the place nearest to each wanted one, so that neither side of a cut is ever empty."""
    above = np.searchsorted(places, wanted).clip(1, len(places) - 1) if len(places) > 1 else np.zeros(len(wanted), int)
    below = np.maximum(above - 1, 0)
    return np.asarray(np.where(wanted - places[below] <= places[above] - wanted, places[below], places[above]))
