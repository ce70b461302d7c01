"""Refitting: the policy that is saved is learnt from all rows, and is not quite worth what those of the folds are."""

from dataclasses import replace

from counterfold.evaluation.result import Evaluation

DOUBT = 0.15
"""The variance of what a policy of all rows earns more or less than those of the folds, beyond what more rows are worth
to learners, in units of the variance of their estimated difference to the log; chosen on development problems."""


def include_refitting(valued: Evaluation, fewer: Evaluation, folds: int, choosing: float = 1.0) -> Evaluation:
    r"""Return the evaluation of the folds' policies as one of the policy of all rows.

    Its error is larger,

    $$\hat\sigma^2 + \max(0.15,\, f^2 - 1)\, \hat\sigma^2_\delta$$

    where $\hat\sigma_\delta$ is the error of the difference to the log, and $f$ (`choosing`) how many times as large
    choosing makes it. Other rows would have chosen another contender, and learnt another policy; the less sure the
    difference, the farther these are apart. No contribution and no move shows that, so it is added to whatever the
    error is. Both doubts are about what other rows would have chosen, so the larger one holds the other.

    Its upper end is higher by what one fold more is worth to learners, if it is worth anything. `fewer` is the
    evaluation of the same contenders, learnt without another fold, too. If what is missing to the best falls as one
    over the number of rows, the step from K - 1 of K folds to all is $(K - 2) / K$ times the one before,

    $$\frac{K - 2}{K}\, \max(\hat V - \hat V_{\text{fewer}}, 0)$$

    The value stays, and the lower end is lower by the larger error alone: nobody is promised what was not seen.
    """
    estimate = valued.estimate
    doubt = max(DOUBT, choosing**2 - 1) * valued.uplift().stderr ** 2
    gained = (folds - 2) / folds * max(valued.value - fewer.value, 0.0)
    return replace(valued, estimate=estimate.add_doubt(doubt, beyond=(0.0, gained)))
