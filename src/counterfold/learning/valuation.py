"""Valuation: what the winner is worth, by rows that had no part in choosing it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.progress import Progress, show_progress
from counterfold.evaluation.result import Evaluation
from counterfold.learning.comparison import NORMAL_QUANTILE, choose_contender, evaluate_finalists, subtract_log
from counterfold.learning.contenders import IMITATION
from counterfold.learning.contest import Contest
from counterfold.learning.folds import FoldPolicies
from counterfold.policies.learned.policy import Policy

N_DRAWN_LOGS = 1 << 13
"""So many logs are drawn to see how choosing changes the distribution of the value."""

TAIL = 0.975
"""The probability of the quantile that is compared with the one of a normal variable."""

CLEAR = 2.8
"""Two contenders earn the same in drawn logs, unless they are so many standard errors of their difference apart.

Of 2, 3, 5 and 8 independent contenders without any gain, 4.4, 6.2, 9.0 and 10.2 % beat the log if nothing is done,
3.1, 3.3, 3.8 and 3.4 % with 2 standard errors, and 2.9, 2.8, 3.0 and 2.8 % with 2.8 (2,500 draws of normal fold sums).
"""

RETRAINING_DOUBT = 0.15
"""The variance of the gain of the saved policy over those of the folds, beyond what more rows are worth to learners.

It is in units of the variance of their estimated difference to the log, and was chosen on development problems.
"""


@dataclass(frozen=True, eq=False)
class WinnerValue:
    """What the winner is worth.

    - `evaluation`: its evaluation by rows that had no part in choosing it.
    - `decisions`: what policies like it do in rows that they were not trained on (n x A).
    - `chosen_by_fold`: the contender that is chosen for each fold by all others; empty if folds do not choose.
    """

    evaluation: Evaluation
    decisions: Floats
    chosen_by_fold: Mapping[int, str] = field(default_factory=dict)


class Valuation(ABC):
    """A way to value policies by rows that had no part in choosing them."""

    @property
    def sample_size(self) -> int | None:
        """Return the number of rows that policies are trained on, if these are a sample of the log."""
        return None

    @abstractmethod
    def value_winner(self, name: str, policy: Policy) -> WinnerValue:
        """Return what the winner is worth, from its name and its policy, which is trained on all training rows."""

    @abstractmethod
    def value_imitation(self, policy: Policy) -> Evaluation:
        """Return what the imitation of the log is worth, which nobody chose among others."""


@dataclass(frozen=True, eq=False)
class OutOfFoldValuation(Valuation):
    """Values policies on a log in memory, where every row is a training row.

    In each fold, it values the contender that the other folds choose. The policies that choose, and those that are
    valued, are trained without the fold. Otherwise the value of the luckiest contender would be reported.
    """

    contest: Contest
    policies: FoldPolicies
    progress: Progress | bool = False

    def value_winner(self, name: str, policy: Policy) -> WinnerValue:
        chosen_by_fold = {}
        numbers = self.policies.numbers
        with show_progress("Choosing", progress=self.progress) as move:
            for done, number in enumerate(numbers):
                if move is not None:
                    move(done, len(numbers))
                chosen_by_fold[number] = self.choose_without(number)
        decisions = self.policies.stitch(chosen_by_fold)
        evaluation = self.evaluate_stitched(name, chosen_by_fold, decisions)
        return WinnerValue(evaluation=evaluation, decisions=decisions, chosen_by_fold=chosen_by_fold)

    def value_imitation(self, policy: Policy) -> Evaluation:
        decisions = self.policies.decide_by(IMITATION)
        return self.contest.evaluate({"policy": decisions})["policy"]

    def choose_without(self, number: int) -> str:
        """Return the contender that all folds but one choose."""
        names = list(self.contest.contenders)
        if len(names) == 1:
            return names[0]
        return choose_contender(self.evaluate_without(number), self.contest.complexity).name

    def evaluate_without(self, number: int) -> dict[str, Evaluation]:
        """Return the evaluations of the best contenders, as if the rows of one fold did not exist.

        Neither policies nor reward models are trained on these rows, and no estimator is chosen by them. Otherwise the
        choice would depend on what their rewards have in common with those of other rows, which is what policies earn
        there.
        """
        kept = np.flatnonzero(self.policies.fold != number)
        decisions = {name: probs[kept] for name, probs in self.policies.decide(number).items()}
        return evaluate_finalists(self.contest.take(kept), decisions)

    def evaluate_stitched(self, name: str, chosen_by_fold: Mapping[int, str], decisions: Floats) -> Evaluation:
        """Return the evaluation of the decisions that are chosen for the folds, as one of the saved policy.

        The error is larger because rows choose, and because the saved policy is trained anew. If every fold and all
        rows choose the same constant arm, the saved policy is the one that is valued, and only choosing matters.
        """
        contest = self.contest
        error_ratio = self.find_error_ratio(name)
        is_constant = contest.contenders[name].is_constant and contest.rules.limits is None
        if is_constant and set(chosen_by_fold.values()) == {name}:
            evaluation = contest.evaluate({"policy": decisions})["policy"]
            return widen_for_choosing(evaluation, error_ratio)
        evaluations = contest.evaluate({"policy": decisions, "fewer": self.decide_by_fewer(chosen_by_fold)})
        return widen_for_retraining(
            evaluations["policy"],
            fewer=evaluations["fewer"],
            n_folds=len(self.policies.numbers),
            error_ratio=error_ratio,
        )

    def find_error_ratio(self, winner: str) -> float:
        """Return the factor by which choosing makes the error of the value larger."""
        decisions = self.policies.decisions
        examples = self.contest.rows.examples
        return find_error_ratio(
            subtract_log(self.contest.rows, decisions),
            units=examples.units,
            counts=examples.counts,
            fold=self.policies.fold,
            winner=list(decisions).index(winner),
        )

    def decide_by_fewer(self, chosen_by_fold: Mapping[int, str]) -> Floats:
        """Return the decisions (n x A) of the chosen contenders if they are trained without one more fold.

        They are the mean over all other folds.
        """
        numbers = self.policies.numbers
        decisions = np.zeros_like(self.contest.rules.possible, dtype=np.float64)
        for number in numbers:
            contender = self.contest.contenders[chosen_by_fold[number]]
            others = [other for other in numbers if other != number]
            for other in others:
                probs = self.policies.decide_without_two(contender, number, other)
                decisions[self.policies.fold == number] += probs / len(others)
        return decisions


def find_error_ratio(differences: Floats, *, units: Ints, counts: Floats | None, fold: Ints, winner: int) -> float:
    r"""Return the factor by which the error of the value is larger because the other folds choose for each fold.

    The value is right on average, because no row takes part in its own choice. But folds agree too often: a contender
    that was lucky in most rows is chosen for all of them, and its value is that of the luckiest. So the value is
    farther from the truth than rows that are independent of the choice would be.

    The `differences` (n x contenders) are those of contenders to the log in each row, by policies that were not trained
    on it; `winner` is the column of the one that all rows choose. Logs are drawn in which contenders earn the
    same unless they clearly do not. The sums $S_{kc}$ of the differences in a fold are normal, with the covariances of
    the contenders. Every fold takes the contender $c(k)$ with the largest lower bound in the others, and the result is

    $$q_{0.975}\Big(\sum_k S_{k c(k)} \Big/ \sqrt{\textstyle\sum_k \operatorname{Var} S_{k c(k)}}\Big) \Big/ 1.96$$

    or 1 if that is more.
    """
    n_rows, n_contenders = differences.shape
    if n_contenders == 1:
        return 1.0
    counts = np.ones(n_rows) if counts is None else counts
    means = np.average(differences, axis=0, weights=counts)
    covariance = find_covariance(differences - means, counts, units)
    gaps = find_clear_gaps(means, covariance, winner)

    _, places = np.unique(fold, return_inverse=True)
    shares = np.bincount(places, weights=counts) / counts.sum()
    other_shares = 1 - shares[:, None]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(0).standard_normal((N_DRAWN_LOGS, len(shares), n_contenders))
    sums = draws @ root.T * np.sqrt(shares)[:, None]
    others = (sums.sum(axis=1, keepdims=True) - sums) / other_shares
    variances = covariance.diagonal()
    bounds = others - gaps - NORMAL_QUANTILE * np.sqrt(variances / other_shares)
    chosen = bounds.argmax(axis=2)
    totals = np.take_along_axis(sums, chosen[:, :, None], axis=2).sum(axis=(1, 2))
    stderrs = np.sqrt(variances[chosen] @ shares)
    standardised = totals / np.where(stderrs > 0, stderrs, 1.0)
    return max(1.0, float(np.quantile(standardised, TAIL)) / NORMAL_QUANTILE)


def find_covariance(deviations: Floats, counts: Floats, units: Ints) -> Floats:
    """Return the covariances of the mean deviations; rows of one unit count as one observation."""
    _, places = np.unique(units, return_inverse=True)
    sums = np.column_stack([np.bincount(places, weights=counts * column) for column in deviations.T])
    return np.asarray(sums.T @ sums / counts.sum() ** 2)


def find_clear_gaps(means: Floats, covariance: Floats, winner: int) -> Floats:
    """Return how much less than the winner each contender earns, 0 where that is not clear."""
    gaps = means[winner] - means
    variances = covariance.diagonal()
    squared_errors = variances + variances[winner] - 2 * covariance[winner]
    is_clear = np.square(gaps) > CLEAR**2 * squared_errors
    return np.where(is_clear, gaps, 0.0)


def widen_for_choosing(evaluation: Evaluation, error_ratio: float) -> Evaluation:
    """Return an evaluation whose difference to the log has an error that is larger by a factor."""
    variance = (error_ratio**2 - 1) * evaluation.uplift().stderr ** 2
    return replace(evaluation, estimate=evaluation.estimate.add_doubt(variance, beyond=(0.0, 0.0)))


def widen_for_retraining(
    evaluation: Evaluation, *, fewer: Evaluation, n_folds: int, error_ratio: float = 1.0
) -> Evaluation:
    r"""Return the evaluation of the folds' policies as one of the saved policy, which is trained on all rows.

    The variance is larger,

    $$\hat\sigma^2 + \max(0.15,\, f^2 - 1)\, \hat\sigma^2_\delta$$

    where $\hat\sigma_\delta$ is the error of the difference to the log, and $f$ (`error_ratio`) the factor by which
    choosing makes it larger. With other rows, another contender would have been chosen, and another policy trained; the
    less certain the difference, the farther these are apart. Neither contributions nor moves show that, so it is added
    to whatever the error is. Both doubts are about what would have been chosen with other rows, so the larger one
    includes the other.

    The upper end is higher by the value of one more fold to learners, if it has any. `fewer` is the evaluation of the
    same contenders, trained without one more fold. If the loss against the best policy is inversely proportional to the
    number of rows, the step from K - 1 of K folds to all of them is $(K - 2) / K$ times the one before,

    $$\frac{K - 2}{K}\, \max(\hat V - \hat V_{\text{fewer}}, 0)$$

    The value stays, and the lower end is lower by the larger error alone, because a gain that was not seen is not
    promised.
    """
    doubt = max(RETRAINING_DOUBT, error_ratio**2 - 1) * evaluation.uplift().stderr ** 2
    gained = (n_folds - 2) / n_folds * max(evaluation.value - fewer.value, 0.0)
    return replace(evaluation, estimate=evaluation.estimate.add_doubt(doubt, beyond=(0.0, gained)))
