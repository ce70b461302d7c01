"""Diagnostics: how far the log can answer for one target, as numbers and as a verdict with its reasons."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from counterfold.estimates import Estimate
from counterfold.log import Log
from counterfold.target import Target

Verdict = Literal["good", "caution", "not answerable"]

FEW_EFFECTIVE_ROWS, TOO_FEW_EFFECTIVE_ROWS = 100, 10
LARGE_SHARE = 0.1
SOME_UNSUPPORTED, TOO_MUCH_UNSUPPORTED = 0.001, 0.1
SURPRISING = 0.001
FEW_GROUPS = 20


@dataclass(frozen=True)
class Diagnostics:
    r"""What the weights say about trust.

    - `effective_rows`: $(\sum w)^2 / \sum w^2$, the number of equally weighted rows that would be as informative.
    - `largest_weight`, `largest_share`: the largest weight, and its share of all weights, which is how much of the
      estimate hangs on that one row.
    - `mean_weight`, `mean_weight_p`: should be 1, less what lacks support; a small p-value of the two-sided normal test
      says that the propensities or the target's probabilities are wrong, or that rare large weights are missing.
    - `unsupported_rows`, `unsupported_mass`: rows in which the target may take an action that the log could never take,
      and its probability on average; None if the target is known for the logged actions alone, or gives doses.
    - `bandwidth`: on a log of doses, how near to the target's a logged dose must be to get any weight, by a rule of
      thumb; estimators choose their own. None where actions are labels.
    - `reward_low`, `reward_high`: the range of the rewards.
    - `model_shift`: by how many standard errors the answer moves when the reward model predicts only rows that it was
      not fitted on; None if the answer needs no fitted model. A large one says that the model flatters itself.
    - `disagreement`: how far the answer is from SNIPS, or for doses from the kernel estimator with that `bandwidth`, in
      standard errors of the difference row by row. A large one says that the answer is biased, as its interval does
      not tell; None before there is an answer.
    - `groups`: the number of groups, if rows belong to groups; few of them make the interval too narrow.
    - `verdict`, `reasons`: "good", "caution" or "not answerable" (from this log), and why.
    """

    rows: int
    effective_rows: float
    largest_weight: float
    largest_share: float
    mean_weight: float
    mean_weight_p: float
    unsupported_rows: int | None
    unsupported_mass: float | None
    bandwidth: float | None
    reward_low: float
    reward_high: float
    model_shift: float | None
    disagreement: float | None
    groups: int | None
    verdict: Verdict
    reasons: tuple[str, ...]


def diagnose(log: Log, target: Target) -> Diagnostics:
    """Return the diagnostics of one target on one log."""
    weights = target.logged / log.propensity
    total = weights.sum()
    missing = target.unsupported(log)
    mass = 0.0 if missing is None else float(missing.mean())
    found = Diagnostics(
        rows=len(log),
        effective_rows=float(total**2 / np.square(weights).sum()) if total else 0.0,
        largest_weight=float(weights.max()),
        largest_share=float(weights.max() / total) if total else 1.0,
        mean_weight=float(weights.mean()),
        mean_weight_p=mean_test(Estimate("mean weight", weights, log.group), expected=1 - mass),
        unsupported_rows=None if missing is None else int((missing > 0).sum()),
        unsupported_mass=None if missing is None else mass,
        bandwidth=target.bandwidth,
        reward_low=float(log.reward.min()),
        reward_high=float(log.reward.max()),
        groups=None if log.group is None else int(log.group.max()) + 1,
        model_shift=None,
        disagreement=None,
        verdict="good",
        reasons=(),
    )
    return judged(found)


def doubted(found: Diagnostics, reason: str) -> Diagnostics:
    """Return the diagnostics with one more reason for caution."""
    if found.verdict == "good":
        return replace(found, verdict="caution", reasons=(reason,))
    return replace(found, reasons=(*found.reasons, reason))


def mean_test(mean: Estimate, expected: float) -> float:
    """Return the two-sided p-value of the hypothesis that the weights' mean is as expected."""
    gap = abs(mean.value - expected)
    if gap <= 1e-9:
        return 1.0
    return math.erfc(gap / mean.stderr / math.sqrt(2)) if mean.stderr else 0.0


def judged(found: Diagnostics) -> Diagnostics:
    """Return the diagnostics with the verdict and the sentences that explain it."""
    effective, share, mass = found.effective_rows, found.largest_share, found.unsupported_mass or 0.0
    odd = f"the mean weight is {found.mean_weight:.3g} where {1 - mass:.3g} is expected (p = {found.mean_weight_p:.1g})"
    never, suspects = "the target never takes a logged action", "the propensities"
    if found.bandwidth is not None:
        never = f"no logged dose is within {found.bandwidth:.3g} of the target's"
        suspects = "the densities, and that the target's doses lie well within the logged ones"
    against = {
        never: effective == 0,
        f"the log is worth only {effective:.3g} rows for this target": 0 < effective < FEW_EFFECTIVE_ROWS,
        f"one row has {share:.0%} of all weight": effective > 0 and share >= LARGE_SHARE,
        f"{mass:.2%} of the target's probability is on actions that the log could never take": mass >= SOME_UNSUPPORTED,
        f"{odd}: check {suspects}": effective > 0 and found.mean_weight_p < SURPRISING,
        f"there are only {found.groups} groups": found.groups is not None and found.groups < FEW_GROUPS,
    }
    reasons = tuple(reason for reason, holds in against.items() if holds)
    if effective < TOO_FEW_EFFECTIVE_ROWS or mass >= TOO_MUCH_UNSUPPORTED:
        return replace(found, verdict="not answerable", reasons=reasons)
    if reasons:
        return replace(found, verdict="caution", reasons=reasons)
    nothing = f"the log is worth {effective:.0f} of its rows for this target, and nothing speaks against them"
    return replace(found, verdict="good", reasons=(nothing,))
