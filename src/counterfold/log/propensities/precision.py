"""Precision: how well logged probabilities are known that were counted in draws of the policy, or rounded."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.base import messages, validation
from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold.base.notation import read_amount

RULE = "`propensity_precision` must be like '1000 draws', '3 digits' or 'float16'"


class Precision(ABC):
    """How well probabilities are known, as a text says it."""

    @property
    @abstractmethod
    def text(self) -> str:
        """Return what answers call it."""

    @property
    @abstractmethod
    def step(self) -> float:
        """Return by how much two probabilities differ that are not told apart."""

    @abstractmethod
    def correct(self, propensity: Floats) -> Floats:
        """Return propensities of logged actions, none of them 0, whose inverses are right on average."""

    @abstractmethod
    def find_errors(self, propensity: Floats) -> Floats:
        """Return how wrong corrected propensities may still be on average, in relation to themselves."""

    def even_out(self, probs: Floats) -> Floats:
        """Return rows of probabilities divided by their sums where those are off by no more than the steps explain."""
        totals = probs.sum(axis=1, keepdims=True)
        is_near = np.abs(totals - 1) <= self.step * probs.shape[1] / 2 + validation.SUM_TOLERANCE
        return np.asarray(np.divide(probs, totals, out=probs.copy(), where=is_near & (totals > 0)))


@dataclass(frozen=True)
class Draws(Precision):
    r"""Probabilities are shares of `number` draws of the policy, other draws than that of the logged action.

    $$p' = \frac{k + 1}{m + 1}, \qquad \mathbb{E}\, \frac1{p'} = \frac{1 - (1 - p)^{m + 1}}p$$

    where k of m draws were the logged action. The mean of $1 / \hat p$ is too large, and infinite as k may be 0.

    >>> Draws(99).correct(np.array([0.0, 0.5]))
    array([0.01 , 0.505])
    """

    number: int
    units: ClassVar[tuple[str, ...]] = ("draws",)
    largest_number: ClassVar[int] = validation.LARGEST_COUNT

    @property
    def text(self) -> str:
        return f"shares of {self.number:,} draws"

    @property
    def step(self) -> float:
        return 1 / self.number

    def correct(self, propensity: Floats) -> Floats:
        return np.asarray((self.number * propensity + 1) / (self.number + 1))

    def find_errors(self, propensity: Floats) -> Floats:
        return np.asarray((1 - propensity) ** (self.number + 1))


@dataclass(frozen=True)
class Digits(Precision):
    """Probabilities are rounded to `number` digits behind the point; one that became 0 is taken for half the least.

    >>> Digits(3).correct(np.array([0.0, 0.5]))
    array([2.5e-04, 5.0e-01])
    """

    number: int
    units: ClassVar[tuple[str, ...]] = ("digit", "digits")
    largest_number: ClassVar[int] = 15

    @property
    def text(self) -> str:
        return f"rounded to {self.number} digit{'' if self.number == 1 else 's'}"

    @property
    def step(self) -> float:
        return float(f"1e-{self.number}")

    def correct(self, propensity: Floats) -> Floats:
        return np.maximum(propensity, self.step / 4)  # in the middle of what is rounded to 0

    def find_errors(self, propensity: Floats) -> Floats:
        return np.minimum(self.step / (2 * propensity), 1.0)


@dataclass(frozen=True)
class Half(Precision):
    """Probabilities are in half precision, which has 11 bits, and knows nothing below 6e-8.

    >>> bool(Half().find_errors(np.array([0.1]))[0] < 0.001)
    True
    """

    text = "of half precision"
    step = 2.0**-11

    def correct(self, propensity: Floats) -> Floats:
        return np.maximum(propensity, 2.0**-26)

    def find_errors(self, propensity: Floats) -> Floats:
        return np.minimum(self.step + 2.0**-25 / propensity, 1.0)


def as_precision(value: Any) -> Precision | None:
    """Return how well probabilities are known, if that is said.

    >>> as_precision("1000 draws").step, as_precision("3 digits").step, as_precision(None)
    (0.001, 0.001, None)
    """
    if value is None or isinstance(value, Precision):
        return value
    if isinstance(value, str) and value.strip() == "float16":
        return Half()
    amount = read_amount(value) if isinstance(value, str) else None
    if amount is not None and amount.number.isdecimal():
        # As a float first: `int` refuses texts of thousands of digits.
        number = float(amount.number)
        if amount.unit in Draws.units and 1 <= number <= Draws.largest_number:
            return Draws(int(amount.number))
        if amount.unit in Digits.units and 1 <= number <= Digits.largest_number:
            return Digits(int(amount.number))
    raise ParameterError(f"{RULE}, got {messages.shorten(value)}.")
