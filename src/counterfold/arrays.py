"""Names for the few array types that are used everywhere, and the one product that is."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def row_sums(left: Floats, right: Floats) -> Floats:
    """Return the sum over actions of the products of two matrices, row by row."""
    return np.asarray(np.einsum("ia,ia->i", left, right))
