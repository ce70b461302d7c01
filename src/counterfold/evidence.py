"""Evidence: all that an engine knows of one log, one target and one reward model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfold.balance import Balance
from counterfold.estimates import Estimate
from counterfold.estimators.base import Estimator
from counterfold.log import Contents
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selection, Selector
from counterfold.sums import Sums

SOME_UNSUPPORTED = 0.001
"""Support counts as missing if at least this share of the target's probability lacks it."""


@dataclass(frozen=True)
class Unsupported:
    """In how many rows the target may take actions that the log could never take; `total` sums their probabilities."""

    row_count: int
    total: float

    @classmethod
    def of(cls, rows: Rows) -> "Unsupported | None":
        """Return where some rows lack support, if that is known."""
        missing = rows.unsupported
        return None if missing is None else cls(int((missing > 0).sum()), float(missing.sum()))

    def __add__(self, other: "Unsupported") -> "Unsupported":
        return Unsupported(self.row_count + other.row_count, self.total + other.total)


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What can be asked about one target, whether all rows are at hand or only sums over buckets of them.

    `rows` are all rows of the log, or a sample that stands for them. `contents` says what the log holds. `unsupported`
    is missing where the target is known for the logged actions alone, or gives doses. `observed` holds what each
    diagnostic observed in all rows, by the diagnostic's name. `balance` is what tests of the log alone found.
    """

    rows: Rows
    contents: Contents
    unsupported: Unsupported | None
    observed: Mapping[str, Any]
    balance: Balance | None = field(default=None, kw_only=True)

    @property
    def row_count(self) -> int:
        """Return the number of rows in the log."""
        return self.contents.rewards.count

    @property
    def unsupported_mass(self) -> float:
        """Return the target's mean probability of actions that the log could never take, 0 where that is unknown."""
        return 0.0 if self.unsupported is None else self.unsupported.total / self.row_count

    @property
    def lacks_support(self) -> bool:
        """Say whether so much support is missing that estimates without a reward model are biased."""
        return self.unsupported_mass >= SOME_UNSUPPORTED

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
    def include_fitting(self, answer: Estimate, estimator: Estimator, pool: Pool) -> Estimate:
        """Return the answer with an error that includes the noise of fitting the reward model."""

    @abstractmethod
    def estimate_out_of_sample(self, inside: Estimate, estimator: Estimator) -> Estimate | None:
        """Return an estimate as it is where the reward model predicts only rows that it was not fitted on.

        There is none where the model does so already, or where nothing is fitted.
        """
