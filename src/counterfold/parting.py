"""Parts: neighbouring rows that are summed together, such as the rows of one bucket, of one group, or all of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from counterfold.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Parts:
    """Where each part of some rows starts; none of them is empty.

    >>> import numpy as np
    >>> Parts(np.array([0, 3]), 5).sums(np.arange(5.0))
    array([3., 7.])
    """

    starts: Ints
    rows: int

    @classmethod
    def all(cls, rows: int) -> Self:
        """Return one part that holds every row."""
        return cls(np.zeros(1, dtype=np.intp), rows)

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self.starts)

    @cached_property
    def sizes(self) -> Floats:
        """Return the number of rows in each part."""
        return np.diff(self.starts, append=self.rows).astype(np.float64)

    @cached_property
    def of_rows(self) -> Ints:
        """Return the part that each row is in."""
        return np.repeat(np.arange(len(self)), self.sizes.astype(np.intp))

    def sums(self, values: Floats) -> Floats:
        """Return the sums over each part of the last axis."""
        if len(self) == 1:
            return np.asarray(values.sum(axis=-1, keepdims=True))
        return np.asarray(values if len(self) == self.rows else np.add.reduceat(values, self.starts, axis=-1))

    def products(self, many: Floats, one: Floats) -> Floats:
        """Return the sums, over each part, of every line of `many` times `one`."""
        return np.asarray((many @ one)[:, None] if len(self) == 1 else self.sums(many * one))
