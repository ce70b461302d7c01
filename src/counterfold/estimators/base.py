"""Estimator: computes one contribution per row; their mean is the estimate, their spread gives its error."""

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
"""The form of a tuning rule: that of its authors, or that of the paper on cross-validation where it differs."""

MORE_CLUSTERS_THAN_ACTIONS = 10_000
"""A number of clusters with which every action is a cluster of its own."""


class Estimator(ABC):
    """A frozen dataclass whose fields are its parameters."""

    needs: ClassVar[tuple[Need, ...]] = ()
    """Optional data of `Rows` that the estimator requires."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels",)
    """The kinds of actions that the estimator supports."""

    rowwise: ClassVar[bool] = True
    """Whether the terms of a row depend only on that row and its predictions."""

    is_linear: ClassVar[bool] = True
    """Whether the estimate is the mean of its only term. If not, `linearise` and `combine_means` define it."""

    is_affine: ClassVar[bool] = False
    """Whether terms are an affine function of predictions, which `factor_terms` defines.

    Sums of predictions are then enough to refit the estimate.
    """

    has_rule: ClassVar[bool] = False
    """Whether its authors gave a rule to choose its parameter; `risk` computes what the rule minimises."""

    is_pull: ClassVar[bool] = False
    """Whether it is not a value, but how far a row moves a value through the training of the reward model."""

    limits: ClassVar[Mapping[float, str]] = {}
    """The equivalents of the estimator at some values of its parameter: another estimator's name, or a few words."""

    def __init_subclass__(cls) -> None:
        """Reset `is_affine` in a subclass that changes the formula but does not define `factor_terms` for it."""
        defined = set(vars(cls))
        changes_formula = bool({"contributions", "terms", "combine_means"} & defined)
        states_whether_affine = bool({"factor_terms", "is_affine"} & defined)
        if changes_formula and not states_whether_affine:
            cls.is_affine = False

    @property
    def may_see_context(self) -> bool:
        """Whether the formula may use the context. A user's may; those of this package never do."""
        return not is_own(type(self))

    @abstractmethod
    def contributions(self, rows: Rows) -> Floats:
        """Return one number per row; ratio estimators return linearised ones."""

    def value(self, rows: Rows) -> float:
        """Return the estimate."""
        return float(rows.average(self.contributions(rows)))

    def refit_values(self, rows: Rows, order: Ints, ends: Sequence[int]) -> Floats:
        """Return the estimates on the rows before each of the ascending ends, with models refitted on these rows."""
        if not self.is_affine:
            predictions = rows.predict_first(order, ends)
            if not self.may_see_context:
                rows = rows.without_context
            return np.array(
                [
                    self.value(rows.take(order[:end], partial(np.asarray, predicted)))
                    for end, predicted in zip(ends, predictions, strict=True)
                ]
            )
        constants, factors = self.factor_terms(rows)
        counts = np.ones(len(rows)) if rows.counts is None else rows.counts
        last = np.array(ends) - 1
        sums = np.cumsum((constants * counts)[:, order], axis=1)[:, last]
        sums += rows.add_up_first(order, ends, factors * counts[:, None])
        return self.combine_means(sums / np.cumsum(counts[order])[last])

    def terms(self, rows: Rows) -> Floats:
        """Return the terms whose sums over rows determine the estimate on these rows (terms x n)."""
        return self.contributions(rows)[None]

    def factor_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the constants (terms x n) and the factors of predictions (terms x n x A) that make up the terms."""
        raise NotImplementedError(f"{type(self).__name__} is not affine")

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        """Return a constant, and a factor for each term, at the means of the terms (terms x units).

        A row's contribution is the constant plus the factors times its terms. The estimate is the same of the means.
        """
        return np.zeros_like(means[0]), np.ones_like(means)

    def combine_means(self, means: Floats) -> Floats:
        """Return the estimate on each unit from the means of the terms there (terms x units)."""
        return np.asarray(means[0])

    def totals(self, sums_of: Callable[["Estimator"], Floats], sizes: Floats) -> Floats:
        """Return the sum of the contributions over each unit, from the sums of terms and the numbers of rows there."""
        sums = sums_of(self)
        constant, factors = self.linearise(sums.sum(axis=1, keepdims=True) / sizes.sum())
        return np.asarray(constant * sizes + (factors * sums).sum(axis=0))

    @classmethod
    def sums(cls, grid: Sequence[Self], rows: Rows, partition: Partition) -> Floats:
        """Return the sums of all terms of a grid of such estimators over units of the rows (grid x terms x units)."""
        return np.stack([partition.sums(estimator.terms(rows)) for estimator in grid])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return the default grid of the estimator on these rows."""
        return [cls()]

    @classmethod
    def has_grid(cls) -> bool:
        """Return whether the class has a parameter. Its grid may depend on the rows."""
        return bool(cls.list_parameters())

    @classmethod
    def list_parameters(cls) -> Sequence[str]:
        """Return the names of its parameters."""
        return list_fields(cls)

    @classmethod
    def suggest(cls, rows: Rows, delta: float, rules: Rules) -> Sequence[Self]:
        """Return candidates beyond the grid that the estimator's own tuning rule suggests.

        A rule may fail with probability `delta`.
        """
        return []

    def risk(self, rows: Rows, delta: float, rules: Rules) -> float:
        """Return the risk that the estimator's own tuning rule minimises over its parameter."""
        raise ParameterError(f"{type(self).__name__} has no tuning rule of its own; use another selector.")

    @property
    def weighted_members(self) -> Sequence[tuple["Estimator", float]]:
        """Return the members of a mixture with their shares; any other estimator is its only member."""
        return [(self, 1.0)]

    def uses(self, need: Need) -> bool:
        """Return whether the contributions depend on this optional data."""
        return need in self.needs

    @classmethod
    def find_obstacle(cls, rows: Rows) -> str | None:
        """Return why the estimator does not apply to these rows, or None if it does."""
        return rows.explain_lack(cls.needs, cls.kinds)

    @property
    def name(self) -> str:
        """Return the name with the parameters rounded to four digits, as shown in tables."""
        shown = ", ".join(f"{name}={getattr(self, name):.4g}" for name in self.list_parameters())
        return f"{type(self).__name__}({shown})" if shown else type(self).__name__


def require_frozen(kind: type[Estimator]) -> None:
    """Require a frozen dataclass: estimators are keys of dictionaries, and equal ones must count as one."""
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
    """Return geometric steps between the 5 % and the 95 % quantile of the positive weights; none if all are 0."""
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
    stderr = standard_error(estimator.contributions(rows), groups=rows.groups, sizes=rows.counts)
    return stderr**2 + bias**2


def bandwidths(rows: Rows) -> list[float]:
    """Return bandwidths from a quarter of the rule of thumb to twice of it."""
    rule_of_thumb = kernels.choose_bandwidth(rows.dose)
    return space_geometrically(rule_of_thumb / 4, rule_of_thumb * 2, size=13)
