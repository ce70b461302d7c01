"""Evidence: the results that an engine computes for one log, one target and one reward model."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.hashing import assign_blocks
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator, LoggedValue
from counterfold.estimators.estimates import Estimate, Moves
from counterfold.estimators.rows import Rows
from counterfold.estimators.sums import Additive, Sums
from counterfold.estimators.unseen_rewards import Chance, Limits, Unseen
from counterfold.evidence.segments.sums import AllSegmentSums, SegmentUnits
from counterfold.log.assignment import Balance
from counterfold.log.contents import Contents
from counterfold.selectors.base import Selection, Selector

SOME_UNSUPPORTED = 0.001
"""Support is missing if at least this share of the target's probability is on actions that the log cannot take."""

TOO_MUCH_UNSUPPORTED = 0.1
"""With at least this share of unsupported probability an answer is unreliable."""

FEW_ROWS = 100.0
"""An answer from fewer effective rows than this calls for caution."""

TOO_FEW_ROWS = 10.0
"""An answer from fewer effective rows than this is unreliable."""

JACKKNIFE_BLOCKS = 20
"""The number of blocks of rows that are left out in turn to measure the noise of fitting a reward model."""

FEW_GROUPS = 20
"""An answer from fewer groups than this calls for caution: the noise of few groups is itself hard to estimate."""


@dataclass(frozen=True)
class Unsupported:
    """The target's probability of actions that the log could never take.

    - `row_count`: the number of rows where there are such actions.
    - `total`: the sum of their probabilities over all decisions.
    """

    row_count: int
    total: float

    @classmethod
    def of(cls, rows: Rows) -> "Unsupported | None":
        """Return the missing support of some rows, or None if it cannot be computed."""
        if rows.unsupported is None:
            return None
        return cls(row_count=int((rows.unsupported > 0).sum()), total=rows.add_up(rows.unsupported))

    def __add__(self, other: "Unsupported") -> "Unsupported":
        return Unsupported(row_count=self.row_count + other.row_count, total=self.total + other.total)


class Observer:
    """A frozen dataclass that summarises rows batch by batch, on every engine.

    Each observer is in a file of its own, which gives it its name.
    """

    sees_target: ClassVar[bool] = True
    """Whether the summary depends on the target. If not, all targets of a log share one summary."""

    @property
    def name(self) -> str:
        """Return the stable name, which is that of the file."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def observe(self, rows: Rows) -> Additive | None:
        """Return a summary of some rows, which is added to those of other rows; None if nothing is needed."""
        return None


def split_observers(observers: Sequence[Observer]) -> tuple[list[Observer], list[Observer]]:
    """Return the observers of the log alone, and those of its targets."""
    of_log = [observer for observer in observers if not observer.sees_target]
    of_targets = [observer for observer in observers if observer.sees_target]
    return of_log, of_targets


def observe_rows(rows: Rows, observers: Sequence[Observer]) -> dict[str, Any]:
    """Return each observer's summary of some rows, by its name; observers without a summary are left out."""
    summaries = {observer.name: observer.observe(rows) for observer in observers}
    return {name: summary for name, summary in summaries.items() if summary is not None}


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """The results about one target, from all rows in memory or from sums over buckets of rows.

    - `rows`: all rows of the log, or a sample that stands for them.
    - `contents`: the contents of the log, such as its rewards and groups.
    - `unsupported`: the missing support; None if only the target's probabilities of logged actions are available.
    - `squared_weight`: the sum of the squared weights of all rows.
    - `observed`: each observer's summary of all rows, by the observer's name.
    - `balance`: the results of the tests of the log alone.
    """

    rows: Rows
    contents: Contents
    unsupported: Unsupported | None
    squared_weight: float
    observed: Mapping[str, Any]
    balance: Balance | None = field(default=None, kw_only=True)

    @property
    def row_count(self) -> int:
        """Return the number of rows in the log."""
        return self.contents.rewards.count

    @property
    def decision_count(self) -> float:
        """Return the number of decisions that the rows stand for: more than the rows if some were not kept."""
        return self.contents.rewards.weight

    @property
    def unsupported_mass(self) -> float:
        """Return the target's mean probability of actions that the log could never take; 0 if it is not available."""
        if self.unsupported is None:
            return 0.0
        return self.unsupported.total / self.decision_count

    @property
    def lacks_support(self) -> bool:
        """Return whether so much support is missing that estimates without a reward model are biased."""
        return self.unsupported_mass >= SOME_UNSUPPORTED

    @property
    def effective_rows(self) -> float:
        """Return the effective sample size of the weights; 0 if all weights are 0."""
        if not self.squared_weight:
            return 0.0
        return self.total_weight**2 / self.squared_weight

    def foresee(self, value: float, effective: float, limits: Limits | None = None) -> Unseen:
        r"""Return how far rewards that were not seen may move a value with this effective sample size.

        $$r_{\text{high}} = r_{\min} + \frac{\sum_i (r_i - r_{\min})^2}{\sum_i (r_i - r_{\min})}, \qquad
          r_{\text{low}} = r_{\max} - \frac{\sum_i (r_{\max} - r_i)^2}{\sum_i (r_{\max} - r_i)}$$

        These are the bounds of such rewards. $r_{\text{low}}$ and the largest reward, or $r_{\text{high}}$ and the
        least reward, are two values that would have the mean and variance of the log's rewards. Where rewards are 0
        or 1, the bounds are 0 and 1. Where purchases are rare, $r_{\text{high}}$ is the mean purchase if each counts
        by its size.

        Unless `limits` of the value are passed, they are the two rewards if there are only two. Otherwise the least or
        the largest reward is a limit if it is the usual one, as that of no purchase, or 0 if none is so common.
        """
        rewards = self.contents.rewards
        variance = rewards.squares / rewards.weight
        above_mean = rewards.high - rewards.mean
        below_mean = rewards.mean - rewards.low
        low = rewards.mean - variance / above_mean if above_mean > 0 else rewards.low
        high = rewards.mean + variance / below_mean if below_mean > 0 else rewards.high

        if limits is None and rewards.is_two_valued:
            limits = (rewards.low, rewards.high)
        elif limits is None:
            usual = self.rows.usual_reward
            lower_limit = usual if usual == rewards.low else -math.inf
            upper_limit = usual if usual == rewards.high else math.inf
            limits = (lower_limit, upper_limit)

        slope = None
        if effective and rewards.squares:
            slope = rewards.cubes / rewards.squares / effective
        chance = Chance(effective, max(value - low, 0.0), max(high - value, 0.0))
        return Unseen((chance,), limits, slope)

    def find_propensity_variance(self, estimator: Estimator) -> float:
        r"""Return the variance that fitting propensities on m of n rows adds to an estimate.

        $$\max(1 - 2 m / n, 0)\, \hat\sigma^2_{fit}$$

        where the last factor is the jackknife variance over fits without one fold each, on these rows. Propensities
        that are fitted on all rows make an estimate less noisy than the true ones do, and nothing is added.
        """
        fitted = self.contents.fitted
        if fitted is None:
            return 0.0
        factor = 1 - 2 * fitted.rows / self.row_count
        if factor <= 0:
            return 0.0
        available = self.rows.logging_probs > 0 if fitted.knows_available else None
        probs_of_fits = fitted.predict_each(self.rows.examples.context, available)
        values = np.array([estimator.value(self.rows.with_policies(probs)) for probs in probs_of_fits])
        return factor * Moves.by_jackknife("", values).variance

    @property
    @abstractmethod
    def mean_weight(self) -> Estimate:
        """Return the mean of the weights, with a contribution of each unit."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """Return the sum of the weights of all rows."""

    @abstractmethod
    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        """Return the estimate of one estimator; its error takes the reward model as fixed."""

    @abstractmethod
    def choose(
        self, selector: Selector, candidates: Sequence[Estimator], rng: np.random.Generator, pool: Pool
    ) -> Selection:
        """Return the selector's choice among the candidates."""

    @abstractmethod
    def sum_units(self, estimators: Sequence[Estimator], pool: Pool) -> Sums:
        """Return the sums of some estimators' terms over at most 1,024 units of rows."""

    @abstractmethod
    def sum_segments(self, estimators: Sequence[Estimator], pool: Pool) -> AllSegmentSums | None:
        """Return the sums of some estimators' terms over units of each segment; None without columns of segments."""

    @abstractmethod
    def estimate_segment(self, name: str, estimator: Estimator, units: SegmentUnits, is_there: Bools) -> Estimate:
        """Return the estimate of one estimator in a segment, with the mean weights, as `estimate` does for the log.

        `is_there` marks the rows of the evidence that are in the segment.
        """

    @abstractmethod
    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        """Return the answer with an error that includes the noise of fitting the reward model."""

    @abstractmethod
    def predict_out_of_sample(self) -> Rows | None:
        """Return the rows, each predicted by a model that was not fitted on it; None without a model."""

    @abstractmethod
    def estimate_out_of_sample(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        """Return an estimate with a reward model that predicts only rows that it was not fitted on.

        It is None if the model of `inside` does so already, or if no model is fitted.
        """


def count_alike(evidence: Evidence) -> float:
    """Return the design effect of groups: the variance of the mean reward over its variance for independent rows."""
    rewards = evidence.contents.rewards
    if evidence.contents.groups is None or not rewards.squares:
        return 1.0
    independent_variance = rewards.squares / rewards.weight / rewards.effective
    grouped_variance = evidence.estimate("log", LoggedValue()).shown_variance
    return max(1.0, grouped_variance / independent_variance)


def refit_on_blocks(answer: Estimate, rows: Rows, estimator: Estimator, pool: Pool) -> Estimate:
    """Return the answer with an error from refits of the reward model on all rows of a log.

    A jackknife leaves out each of several blocks of rows (or groups) in turn and fits the model on the rest. The model
    keeps the settings that were chosen on all rows: a jackknife is valid for values that move smoothly, and a choice
    among a few settings jumps.
    """
    model = rows.model
    if model is None or not model.learns or not estimator.uses("model"):
        return answer
    tuned_rows = replace(rows, model=model.tune(rows.examples))
    block = assign_blocks(rows.examples.units, JACKKNIFE_BLOCKS)
    kept_places = [np.flatnonzero(block != number) for number in range(block.max() + 1)]

    def refit(kept: Ints) -> Floats:
        return estimator.refit_values(tuned_rows, kept, [len(kept)])

    values = np.concatenate(pool.map(refit, kept_places))
    return replace(answer, moves=Moves.by_jackknife("refits on blocks", values))
