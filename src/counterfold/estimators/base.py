"""Estimator: turns rows into one contribution per row; their mean is the estimate, their spread its error."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import ClassVar, Literal, Self

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import list_fields
from counterfold.base.errors import ParameterError, is_own
from counterfold.estimators.estimates import standard_error
from counterfold.estimators.needs import Need
from counterfold.estimators.rows import Rows
from counterfold.log import kernels
from counterfold.log.log import Kind
from counterfold.log.partition import Partition

Rules = Literal["authors", "paper"]
"""Whose form of a tuning rule: its authors', or that of the paper on cross-validation, where it quotes another one."""

MANY = 10_000
"""More clusters than there are actions, so that every action is one."""


class Estimator(ABC):
    """A frozen dataclass whose fields are its parameters."""

    needs: ClassVar[tuple[Need, ...]] = ()
    """What may be missing of `Rows`, and without which the estimator does not apply."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels",)
    """What an action may be."""

    rowwise: ClassVar[bool] = True
    """Whether the terms of a row depend on nothing else, given its predictions."""

    is_linear: ClassVar[bool] = True
    """Whether the estimate is the mean of its only term; else `linearise` and `combine_means` say what it is."""

    is_affine: ClassVar[bool] = False
    """Whether `factor_terms` says how terms follow from predictions, so that sums of these are all that it takes."""

    has_rule: ClassVar[bool] = False
    """Whether its authors gave a rule to choose its parameter, which is `risk`."""

    is_pull: ClassVar[bool] = False
    """Whether it is not a value but how far a row moves one, by what the reward model learns from that row."""

    limits: ClassVar[Mapping[float, str]] = {}
    """What the estimator equals at some values of its parameter: another estimator's name, or a few words."""

    def __init_subclass__(cls) -> None:
        """Take a formula that is not that of the parent for affine only if it says again how."""
        changed = {"contributions", "terms", "combine_means"} & set(vars(cls))
        if changed and not {"factor_terms", "is_affine"} & set(vars(cls)):
            cls.is_affine = False

    @property
    def may_see_context(self) -> bool:
        """Say whether the formula may look at the context, as a user's may; those of this package never do."""
        return not is_own(type(self))

    @abstractmethod
    def contributions(self, rows: Rows) -> Floats:
        """Return one number per row; ratio estimators return linearised ones."""

    def value(self, rows: Rows) -> float:
        """Return the estimate."""
        return float(rows.average(self.contributions(rows)))

    def refit_values(self, rows: Rows, order: Ints, ends: Sequence[int]) -> Floats:
        """Return the estimates on the first rows of an order, up to each of the ascending ends, with models of them."""
        if not self.is_affine:
            pairs = zip(ends, rows.predict_first(order, ends), strict=True)
            rows = rows if self.may_see_context else rows.without_context
            return np.array([self.value(rows.take(order[:end], partial(np.asarray, q))) for end, q in pairs])
        constants, factors = self.factor_terms(rows)
        counts, last = np.ones(len(rows)) if rows.counts is None else rows.counts, np.array(ends) - 1
        sums = np.cumsum((constants * counts)[:, order], axis=1)[:, last]
        sums += rows.add_up_first(order, ends, factors * counts[:, None])
        return self.combine_means(sums / np.cumsum(counts[order])[last])

    def terms(self, rows: Rows) -> Floats:
        """Return what must be summed to know the estimate on any of the rows (terms x n)."""
        return self.contributions(rows)[None]

    def factor_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return what is added to each term (terms x n), and what predictions are multiplied by (terms x n x A)."""
        raise NotImplementedError(f"{type(self).__name__} is not affine")

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        """Return a constant and a factor for each term, by the means (terms x units) of the terms.

        A row's contribution is the constant plus the factors times its terms, and so is the estimate with the means.
        """
        return np.zeros_like(means[0]), np.ones_like(means)

    def combine_means(self, means: Floats) -> Floats:
        """Return the estimate on each of several units from the means of the terms there (terms x units)."""
        return np.asarray(means[0])

    def totals(self, sums_of: Callable[["Estimator"], Floats], sizes: Floats) -> Floats:
        """Return the sum of the contributions over each unit, from the sums of terms and the numbers of rows there."""
        mine = sums_of(self)
        constant, factors = self.linearise(mine.sum(axis=1, keepdims=True) / sizes.sum())
        return np.asarray(constant * sizes + (factors * mine).sum(axis=0))

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        """Return the sums of all terms of several such estimators over units of the rows (grid x terms x units)."""
        return np.stack([partition.sums(one.terms(rows)) for one in grid])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return the default grid of the estimator on these rows."""
        return [cls()]

    @classmethod
    def has_grid(cls) -> bool:
        """Say whether the class has a parameter, whose grid may depend on the rows."""
        return bool(cls.list_parameters())

    @classmethod
    def list_parameters(cls) -> Sequence[str]:
        """Return the names of its parameters."""
        return list_fields(cls)

    @classmethod
    def suggest(cls, rows: Rows, delta: float, rules: Rules) -> Sequence[Self]:
        """Return what the estimator's own tuning rule suggests beyond the grid; rules may fail with chance delta."""
        return []

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        """Return what the estimator's own tuning rule says to minimise over its parameter."""
        raise ParameterError(f"{type(self).__name__} has no tuning rule of its own; use another selector.")

    @property
    def weighted_members(self) -> Sequence[tuple["Estimator", float]]:
        """Return the estimators that it is a weighted mean of, and their shares: itself alone, unless it is one."""
        return [(self, 1.0)]

    def uses(self, need: Need) -> bool:
        """Say whether the contributions depend on something that may be missing."""
        return need in self.needs

    @classmethod
    def find_obstacle(cls, rows: Rows) -> str | None:
        """Return why the estimator does not apply to these rows, if so."""
        return rows.explain_lack(cls.needs, cls.kinds)

    @property
    def name(self) -> str:
        """Return the name with the parameters to four digits, as shown in tables."""
        shown = ", ".join(f"{name}={getattr(self, name):.4g}" for name in self.list_parameters())
        return f"{type(self).__name__}({shown})" if shown else type(self).__name__


def require_frozen(kind: type[Estimator]) -> None:
    """Refuse a class that is no frozen dataclass: estimators are looked up, and equal ones must count as one."""
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen
    if not frozen:
        hint = "Write `@dataclass(frozen=True)` above the class, and its parameters as fields."
        raise ParameterError(f"the estimator {kind.__name__} must be a frozen dataclass. {hint}")


@dataclass(frozen=True)
class LoggedValue(Estimator):
    """The mean reward of the log, which is the value of the policy that logged it.

    >>> from counterfold.estimators.examples import example_rows
    >>> LoggedValue().value(example_rows())
    0.5
    """

    kinds = ("labels", "doses")

    def contributions(self, rows: Rows) -> Floats:
        return rows.rewards


def weight_grid(rows: Rows, size: int = 30) -> list[float]:
    """Return geometric steps between the 5 % and the 95 % quantile of the positive weights; no weight, no grid."""
    positive = rows.weights[rows.weights > 0]
    if len(positive) == 0:
        return []
    low, high = np.quantile(positive, [0.05, 0.95])
    return space_geometrically(low, high, size)


def space_geometrically(low: float, high: float, size: int = 30) -> list[float]:
    """Return geometric steps from `low` to `high`, without repetitions."""
    return sorted(set(np.geomspace(low, high, size).tolist()))


def bounded_risk(estimator: Estimator, rows: Rows, bias: float) -> float:
    """Return the estimated variance of an estimate plus the square of a bound on its bias."""
    return standard_error(estimator.contributions(rows), rows.groups, rows.counts) ** 2 + bias**2


def bandwidths(rows: Rows) -> list[float]:
    """Return bandwidths from a quarter of the rule of thumb to its double."""
    usual = kernels.choose_bandwidth(rows.dose)
    return space_geometrically(usual / 4, usual * 2, 13)
