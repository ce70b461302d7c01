"""Refitting: the policy that is saved is learnt from all rows, and is not quite worth what those of the folds are."""

from dataclasses import replace

from counterfold.evaluation.result import Evaluation

DOUBT = 0.3
"""The variance of what a policy of all rows earns more or less than those of the folds, in units of the variance of
their estimated difference to the log: on development problems of 500 and 2,000 rows it was 0.28 and 0.37."""


def include_refitting(evaluation: Evaluation) -> Evaluation:
    r"""Return the evaluation of the folds' policies as one of the policy of all rows: with a larger error.

    $$\hat\sigma^2 + 0.3\, \hat\sigma^2_\delta$$

    where $\hat\sigma_\delta$ is the error of the difference to the log. Other rows would have chosen another
    contender, and learnt another policy; the less sure the difference, the farther these are apart.
    """
    estimate = evaluation.estimate
    doubt = DOUBT * evaluation.uplift().stderr ** 2
    return replace(evaluation, estimate=replace(estimate, bias_variance=estimate.bias_variance + doubt))
