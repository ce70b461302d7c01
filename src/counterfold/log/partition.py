"""Partition: which rows are summed together, such as those of one bucket or of one group, or all of them."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.base.cached import cached_property


class Partition(ABC):
    """Which rows are summed together."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of units."""

    @property
    @abstractmethod
    def sizes(self) -> Floats:
        """The number of rows in each unit, or of decisions that they stand for."""

    @property
    @abstractmethod
    def of_rows(self) -> Ints:
        """The unit that each row is in."""

    @abstractmethod
    def sums(self, values: Floats) -> Floats:
        """Return the sums over each unit of the last axis."""

    def weigh(self, values: Floats) -> Floats:
        """Return numbers (n x any) times how often each row counts."""
        return values

    def products(self, many: Floats, one: Floats) -> Floats:
        """Return the sums, over each unit, of every line of `many` times `one`."""
        return np.asarray((many @ one)[:, None] if len(self) == 1 else self.sums(many * one))


@dataclass(frozen=True, eq=False)
class Counted(Partition):
    """Units of rows that stand for several decisions each: every row counts so many times.

    >>> Counted(Consecutive(np.array([0, 1]), 3), np.array([1.0, 2.0, 5.0])).sums(np.array([1.0, 1.0, 2.0]))
    array([ 1., 12.])
    """

    units: Partition
    counts: Floats

    def __len__(self) -> int:
        return len(self.units)

    @property
    def of_rows(self) -> Ints:
        return self.units.of_rows

    @cached_property
    def sizes(self) -> Floats:
        return self.units.sums(self.counts)

    def sums(self, values: Floats) -> Floats:
        return self.units.sums(values * self.counts)

    def weigh(self, values: Floats) -> Floats:
        return values * self.counts[:, None]

    def products(self, many: Floats, one: Floats) -> Floats:
        return self.units.products(many, one * self.counts)


@dataclass(frozen=True, eq=False)
class ByNumber(Partition):
    """Units of rows in any order, by the number of each row's unit; some may be empty.

    >>> ByNumber(np.array([1, 0, 1]), 2).sums(np.array([1.0, 2.0, 3.0]))
    array([2., 4.])
    """

    units: Ints
    unit_count: int

    def __len__(self) -> int:
        return self.unit_count

    @property
    def of_rows(self) -> Ints:
        return self.units

    @cached_property
    def sizes(self) -> Floats:
        return np.bincount(self.units, minlength=len(self)).astype(np.float64)

    def sums(self, values: Floats) -> Floats:
        *outer, row_count = values.shape
        lines = values.reshape(math.prod(outer), row_count)  # and not -1, which is ambiguous where there are no rows
        found = [np.bincount(self.units, line, len(self)) for line in lines]
        return np.asarray(found, dtype=np.float64).reshape(*outer, len(self))


@dataclass(frozen=True, eq=False)
class Consecutive(Partition):
    """Units that follow each other, by where each starts; none of them is empty.

    >>> Consecutive(np.array([0, 3]), 5).sums(np.arange(5.0))
    array([3., 7.])
    """

    starts: Ints
    row_count: int

    @classmethod
    def all(cls, row_count: int) -> Self:
        """Return one unit that holds every row."""
        return cls(np.zeros(1, dtype=np.intp), row_count)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def sizes(self) -> Floats:
        return np.diff(self.starts, append=self.row_count).astype(np.float64)

    @cached_property
    def of_rows(self) -> Ints:
        return np.repeat(np.arange(len(self)), self.sizes.astype(np.intp))

    def sums(self, values: Floats) -> Floats:
        if len(self) == 1:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        return np.asarray(values if len(self) == self.row_count else np.add.reduceat(values, self.starts, axis=-1))
