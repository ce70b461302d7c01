"""Estimator: turns rows into one contribution per row; their mean is the estimate, their spread its error."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import ClassVar, Self

import numpy as np

from counterfold.arrays import Floats
from counterfold.rows import Part, Rows

NEEDS: dict[Part, str] = {
    "target_probs": "needs the target's probabilities of all actions, but only those of the logged actions were given",
    "logging_probs": "needs the logging policy's probabilities of all actions, but only propensities were given",
    "model": "needs a reward model, but there is none",
}
"""Why an estimator does not apply, for each part of `Rows` that may be missing."""


class Estimator(ABC):
    """A frozen dataclass whose fields are its parameters."""

    needs: ClassVar[tuple[Part, ...]] = ()
    """The parts of `Rows`, among the keys of `NEEDS`, without which the estimator does not apply."""

    @abstractmethod
    def contributions(self, rows: Rows) -> Floats:
        """Return one number per row; ratio estimators return linearised ones."""

    def value(self, rows: Rows) -> float:
        """Return the estimate."""
        return float(self.contributions(rows).mean())

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        """Return the default grid of the estimator on these rows."""
        del rows
        return [cls()]

    @classmethod
    def obstacle(cls, rows: Rows) -> str | None:
        """Return why the estimator does not apply to these rows, if so."""
        return next((NEEDS[part] for part in cls.needs if not rows.knows(part)), None)

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


def shares(weights: Floats) -> Floats:
    """Return the weights divided by their mean; all 0 if there is nothing to divide."""
    return weights / (float(weights.mean()) or 1.0)
