"""Evidence: all that an engine knows of one log, one target and one reward model."""

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

SOME_UNSUPPORTED, TOO_MUCH_UNSUPPORTED = 0.001, 0.1
"""Support counts as missing if the first share of the target's probability lacks it; the second one is too much."""

FEW_ROWS, TOO_FEW_ROWS = 100.0, 10.0
"""An answer from fewer effective rows is to be taken with caution, or not at all."""

BLOCKS = 20
"""How many blocks of rows are left out in turn to see the noise of fitting a reward model."""

FEW_GROUPS = 20
"""An answer from fewer groups is to be taken with caution: their noise is hardly known."""


@dataclass(frozen=True)
class Unsupported:
    """In how many rows the target may take actions that the log could never take; `total` sums their probabilities."""

    row_count: int
    total: float

    @classmethod
    def of(cls, rows: Rows) -> "Unsupported | None":
        """Return where some rows lack support, if that is known."""
        missing = rows.unsupported
        return None if missing is None else cls(int((missing > 0).sum()), rows.add_up(missing))

    def __add__(self, other: "Unsupported") -> "Unsupported":
        return Unsupported(self.row_count + other.row_count, self.total + other.total)


class Observer:
    """A frozen dataclass that looks at rows, a few at a time, whichever engine reads them.

    It is one file in its folder, and its name is the file's.
    """

    sees_target: ClassVar[bool] = True
    """Whether what it observes depends on the target. If not, all targets of a log share one observation."""

    @property
    def name(self) -> str:
        """Return the stable name, which is that of the file."""
        return type(self).__module__.rpartition(".")[2].replace("_", "-")

    def observe(self, rows: Rows) -> Additive | None:
        """Return what must be known of some rows; that of others is added to it."""
        return None


def split_observers(observers: Sequence[Observer]) -> tuple[list[Observer], list[Observer]]:
    """Return the observers of the log alone, and those of its targets."""
    of_log = [one for one in observers if not one.sees_target]
    of_targets = [one for one in observers if one.sees_target]
    return of_log, of_targets


def observe_rows(rows: Rows, observers: Sequence[Observer]) -> dict[str, Any]:
    """Return what each observer sees in some rows, by its name; nothing of those that look at none."""
    observed = {one.name: one.observe(rows) for one in observers}
    return {name: found for name, found in observed.items() if found is not None}


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What can be asked about one target, whether all rows are at hand or only sums over buckets of them.

    `rows` are all rows of the log, or a sample that stands for them. `contents` says what the log holds. `unsupported`
    is missing where the target is known for the logged actions alone. `squared_weight` is the sum of the squared
    weights of all rows. `observed` holds what each observer saw in all rows, by the observer's name. `balance`
    is what tests of the log alone found.
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
        """Return how many decisions the rows stand for: as many as there are, unless some were not kept."""
        return self.contents.rewards.weight

    @property
    def unsupported_mass(self) -> float:
        """Return the target's mean probability of actions that the log could never take, 0 where that is unknown."""
        return 0.0 if self.unsupported is None else self.unsupported.total / self.decision_count

    @property
    def lacks_support(self) -> bool:
        """Say whether so much support is missing that estimates without a reward model are biased."""
        return self.unsupported_mass >= SOME_UNSUPPORTED

    @property
    def effective_rows(self) -> float:
        """Return how many equally weighted rows would be as informative; 0 where there is no weight."""
        return self.total_weight**2 / self.squared_weight if self.squared_weight else 0.0

    def foresee(self, value: float, effective: float, limits: Limits | None = None) -> Unseen:
        r"""Return how far rewards that were not seen may move a value that the log has so many effective rows for.

        $$r_{\text{high}} = r_{\min} + \frac{\sum_i (r_i - r_{\min})^2}{\sum_i (r_i - r_{\min})}, \qquad
          r_{\text{low}} = r_{\max} - \frac{\sum_i (r_{\max} - r_i)^2}{\sum_i (r_{\max} - r_i)}$$

        These are what such rewards may be: the other one of two values that would have the mean and variance of the
        log's rewards. Where rewards are 0 or 1 they are 0 and 1; where purchases are rare, $r_{\text{high}}$ is the
        mean purchase if each counts by its size. Limits that are not stated are known where there are two rewards; and
        no value is beyond the least, or largest, reward if that is 0 or the usual one, as for no purchase.
        """
        rewards = self.contents.rewards
        variance = rewards.squares / rewards.weight
        above, below = rewards.high - rewards.mean, rewards.mean - rewards.low
        low = rewards.mean - variance / above if above > 0 else rewards.low
        high = rewards.mean + variance / below if below > 0 else rewards.high
        known = (rewards.low, rewards.high)
        if not rewards.is_two_valued:
            usual = self.rows.usual_reward
            known = (usual if usual == rewards.low else -math.inf, usual if usual == rewards.high else math.inf)
        slope = rewards.cubes / rewards.squares / effective if effective and rewards.squares else None
        chance = Chance(effective, max(value - low, 0.0), max(high - value, 0.0))
        return Unseen((chance,), known if limits is None else limits, slope)

    def find_propensity_variance(self, estimator: Estimator) -> float:
        r"""Return what the noise of fitting propensities on m of n rows adds to the variance of an estimate.

        $$\max(1 - 2 m / n, 0)\, \hat\sigma^2_{fit}$$

        where the last factor is the jackknife variance over fits without one fold each, on these rows. Fitted on all
        rows, propensities make an estimate less noisy than true ones do, and nothing is added.
        """
        fitted = self.contents.fitted
        share = 0.0 if fitted is None else 1 - 2 * fitted.rows / self.row_count
        if fitted is None or share <= 0:
            return 0.0
        available = self.rows.logging_probs > 0 if fitted.knows_available else None
        several = fitted.predict_each(self.rows.examples.context, available)
        values = np.array([estimator.value(self.rows.with_policies(probs)) for probs in several])
        return share * Moves.by_jackknife("", values).variance

    @property
    @abstractmethod
    def mean_weight(self) -> Estimate:
        """Return the mean of the weights, with a contribution for each unit."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """Return the sum of the weights of all rows."""

    @abstractmethod
    def estimate(self, name: str, estimator: Estimator) -> Estimate:
        """Return what one estimator says, its error as if the reward model were fixed."""

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
        """Return the sums of some estimators' terms over units of each segment; nothing if no columns are cut."""

    @abstractmethod
    def estimate_segment(self, name: str, estimator: Estimator, units: SegmentUnits, is_there: Bools) -> Estimate:
        """Return what one estimator says of a segment, as `estimate` says it of the log, with the mean weights.

        `is_there` says which of the rows of the evidence are in the segment.
        """

    @abstractmethod
    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        """Return the answer with an error that includes the noise of fitting the reward model."""

    @abstractmethod
    def predict_out_of_sample(self) -> Rows | None:
        """Return the rows with predictions for each by a model that was not fitted on it; nothing without a model."""

    @abstractmethod
    def estimate_out_of_sample(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        """Return an estimate as it is where the reward model predicts only rows that it was not fitted on.

        There is none where the model does so already, or where nothing is fitted.
        """


def count_alike(evidence: Evidence) -> float:
    """Return how many rows of a group tell as much as one independent row: the design effect of the rewards' mean."""
    rewards = evidence.contents.rewards
    if evidence.contents.groups is None or not rewards.squares:
        return 1.0
    plain = rewards.squares / rewards.weight / rewards.effective
    return max(1.0, evidence.estimate("log", LoggedValue()).shown_variance / plain)


def refit_on_blocks(answer: Estimate, rows: Rows, estimator: Estimator, pool: Pool) -> Estimate:
    """Return the answer with an error from refits of the reward model on all rows of a log.

    A jackknife leaves out each of several blocks of rows (or groups) in turn and fits the model on the rest. The
    model keeps the settings that all rows chose: the jackknife is for values that move smoothly, and a choice among
    a few settings jumps.
    """
    model = rows.model
    if model is None or not model.learns or not estimator.uses("model"):
        return answer
    tuned_rows = replace(rows, model=model.tune(rows.examples))
    block = assign_blocks(rows.examples.units, BLOCKS)
    kept_places = [np.flatnonzero(block != number) for number in range(block.max() + 1)]

    def refit(kept: Ints) -> Floats:
        return estimator.refit_values(tuned_rows, kept, [len(kept)])

    values = np.concatenate(pool.map(refit, kept_places))
    return replace(answer, moves=Moves.by_jackknife("refits on blocks", values))
