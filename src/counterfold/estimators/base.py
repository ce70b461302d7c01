"""Estimator: turns rows into one contribution per row; their mean is the estimate, their spread its error."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import ClassVar, Self

import numpy as np

from counterfold import kernels
from counterfold.arrays import Floats
from counterfold.errors import ParameterError
from counterfold.estimates import standard_error
from counterfold.log import Kind
from counterfold.parting import Parts
from counterfold.rows import Part, Rows


class Estimator(ABC):
    """A frozen dataclass whose fields are its parameters."""

    needs: ClassVar[tuple[Part, ...]] = ()
    """The parts of `Rows` that may be missing and without which the estimator does not apply."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels",)
    """What an action may be."""

    rowwise: ClassVar[bool] = True
    """Whether the terms of a row depend on nothing else, given its predictions."""

    limits: ClassVar[Mapping[float, str]] = {}
    """What the estimator equals at some values of its parameter: another estimator's name, or a few words."""

    @abstractmethod
    def contributions(self, rows: Rows) -> Floats:
        """Return one number per row; ratio estimators return linearised ones."""

    def value(self, rows: Rows) -> float:
        """Return the estimate."""
        return float(self.contributions(rows).mean())

    def terms(self, rows: Rows) -> Floats:
        """Return what must be summed to know the estimate on any part of the rows (terms x n)."""
        return self.contributions(rows)[None]

    def weighing(self, means: Floats) -> tuple[Floats, Floats]:
        """Return a constant and a factor for each term, by the means (terms x parts) of the terms.

        A row's contribution is the constant plus the factors times its terms, and so is the estimate with the means.
        """
        return np.zeros_like(means[0]), np.ones_like(means)

    def of_means(self, means: Floats) -> Floats:
        """Return the estimate on each part of some rows from the means of the terms there (terms x parts)."""
        if type(self).weighing is Estimator.weighing:
            return np.asarray(means[0])
        constant, factors = self.weighing(means)
        return np.asarray(constant + (factors * means).sum(axis=0))

    @classmethod
    def sums(cls, family: Sequence[Self], rows: Rows, parts: Parts) -> Floats:
        """Return the sums of all terms of several such estimators over parts of the rows (family x terms x parts)."""
        return np.stack([parts.sums(one.terms(rows)) for one in family])

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return the default grid of the estimator on these rows."""
        del rows
        return [cls()]

    @classmethod
    def has_grid(cls) -> bool:
        """Say whether the class has candidates of its own, which may depend on the rows."""
        return cls.candidates.__func__ is not Estimator.candidates.__func__  # type: ignore[attr-defined]

    @classmethod
    def suggested(cls, rows: Rows, delta: float) -> Sequence[Self]:
        """Return what the estimator's own tuning rule suggests beyond the grid; rules may fail with chance delta."""
        del rows, delta
        return []

    def risk(self, rows: Rows, delta: float) -> float:
        """Return what the estimator's own tuning rule says to minimise over its parameter."""
        del rows, delta
        raise ParameterError(f"{type(self).__name__} has no tuning rule of its own; use another selector.")

    def uses(self, part: Part) -> bool:
        """Say whether the contributions depend on a part of the rows that may be missing."""
        return part in self.needs

    @classmethod
    def obstacle(cls, rows: Rows) -> str | None:
        """Return why the estimator does not apply to these rows, if so."""
        return rows.lacks(cls.needs, cls.kinds)

    @property
    def name(self) -> str:
        """Return the name with the parameters to four digits, as shown in tables."""
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={value:.4g}" for name, value in values)
        return f"{type(self).__name__}({shown})" if shown else type(self).__name__


def weight_grid(rows: Rows, size: int = 30) -> list[float]:
    """Return geometric steps between the 5 % and the 95 % quantile of the positive weights; no weight, no grid."""
    positive = rows.weights[rows.weights > 0]
    if len(positive) == 0:
        return []
    low, high = np.quantile(positive, [0.05, 0.95])
    return geometric(low, high, size)


def geometric(low: float, high: float, size: int = 30) -> list[float]:
    """Return geometric steps from `low` to `high`, without repetitions."""
    return sorted(set(np.geomspace(low, high, size).tolist()))


def bounded_risk(estimator: Estimator, rows: Rows, bias: float) -> float:
    """Return the estimated variance of an estimate plus the square of a bound on its bias."""
    return standard_error(estimator.contributions(rows), rows.groups) ** 2 + bias**2


def bandwidths(rows: Rows) -> list[float]:
    """Return bandwidths from a quarter of the rule of thumb to its double."""
    usual = kernels.rule_of_thumb(rows.dose)
    return geometric(usual / 4, usual * 2, 13)
