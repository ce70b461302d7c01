"""Names for the few array types that are used everywhere, and the few operations that are."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def take_rows(array: NDArray[Scalar], index: Ints | slice) -> NDArray[Scalar]:
    """Return some rows of an array; a slice copies nothing."""
    return array[index] if isinstance(index, slice) else np.take(array, index, axis=0)


def group_rows(codes: Ints, number: int) -> tuple[Ints, list[slice]]:
    """Return the places of rows by their codes, below a number, and where among these the rows of each code are.

    >>> group_rows(np.array([1, 0, 1]), 3)
    (array([1, 0, 2]), [slice(0, 1, None), slice(1, 3, None), slice(3, 3, None)])
    """
    order = np.argsort(codes.astype(np.uint16) if number <= 1 << 16 else codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=number)).tolist()
    return order, [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def row_sums(left: Floats, right: Floats) -> Floats:
    """Return the sum over actions of the products of two matrices, row by row."""
    return np.asarray(np.einsum("ia,ia->i", left, right))


def ratio(above: Floats, below: Floats) -> Floats:
    """Return the ratio, 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)


def is_numbers(value: object, *shape: int, kinds: str = "iuf") -> bool:
    """Say whether a value is an array of some shape, of finite numbers of one of numpy's kinds.

    >>> is_numbers(np.zeros((2, 3)), 2, 3), is_numbers(np.zeros(2), 2, kinds="i"), is_numbers([0.0], 1)
    (True, False, False)
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds or value.shape != shape:
        return False
    return bool(np.isfinite(value).all())


def as_plain(value: Any) -> Any:
    """Return 7.0 as 7, and anything else as it is."""
    is_whole = isinstance(value, (float, Decimal)) and value == value // 1
    return int(value) if is_whole else value


def count_different(codes: Ints) -> int:
    """Return how many different codes there are.

    >>> count_different(np.array([3, 1, 3]))
    2
    """
    return 1 + int(np.count_nonzero(np.diff(np.sort(codes)))) if len(codes) else 0


def count_least(values: NDArray[Scalar], most: int) -> tuple[NDArray[Scalar], Ints]:
    """Return the `most` least of the different values, in ascending order, and how often each is there.

    >>> count_least(np.array([3.0, 1.0, 2.0, 1.0]), 2)
    (array([1., 2.]), array([2, 1]))
    """
    some = values
    if len(values) > 64 * most:  # sorting those below a quantile of a few is enough, unless nearly all are equal
        some = values[values <= np.partition(values[::16], most)[most]]
    found, counts = np.unique(some, return_counts=True)
    if len(found) < most and len(some) < len(values):
        found, counts = np.unique(values, return_counts=True)
    return found[:most], counts[:most]


def bound_largest(values: Floats, number: int) -> float:
    """Return a bound that the `number` largest values reach, and few others: all of them are not sorted for that.

    >>> bound_largest(np.arange(1000.0), 3) <= 997
    True
    """
    tops = np.maximum.reduceat(values, np.arange(0, len(values), 64)) if len(values) else values
    return float(np.partition(tops, -number)[-number]) if len(tops) > number else -np.inf


def stack_columns(columns: Sequence[NDArray[Scalar]]) -> NDArray[Scalar] | None:
    """Return columns of equal length as a matrix; nothing of none."""
    return np.column_stack(columns) if columns else None
