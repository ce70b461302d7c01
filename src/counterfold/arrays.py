"""Names for the few array types that are used everywhere, and the few operations that are."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def take_rows(array: NDArray[Scalar], index: Ints | slice) -> NDArray[Scalar]:
    """Return some rows of an array; a slice copies nothing."""
    return array[index] if isinstance(index, slice) else np.take(array, index, axis=0)


def row_sums(left: Floats, right: Floats) -> Floats:
    """Return the sum over actions of the products of two matrices, row by row."""
    return np.asarray(np.einsum("ia,ia->i", left, right))


def ratio(above: Floats, below: Floats) -> Floats:
    """Return the ratio, 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
