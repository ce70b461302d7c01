"""Names for the few array types that are used everywhere, and the few operations that are."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def taken(array: NDArray[Scalar], index: Ints | slice) -> NDArray[Scalar]:
    """Return some rows of an array; a slice copies nothing."""
    return array[index] if isinstance(index, slice) else np.take(array, index, axis=0)


def row_sums(left: Floats, right: Floats) -> Floats:
    """Return the sum over actions of the products of two matrices, row by row."""
    return np.asarray(np.einsum("ia,ia->i", left, right))


def scattered(units: Ints) -> Ints:
    """Return a fixed hash of every number (the finaliser of splitmix64), so that periodic logs give random folds."""
    bits = units.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) >> np.uint64(1)).astype(np.intp)
