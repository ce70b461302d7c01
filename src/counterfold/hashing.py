"""The one hash of the package, and the one rule by which rows fall into folds, buckets and samples.

A row has the same hash wherever the log is read, so folds do not depend on a seed, on threads or on batches.
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from counterfold.arrays import Bools, Floats, Ints

STEP = np.uint64(0x9E3779B97F4A7C15)
"""The increment of SplitMix64, which keeps the hash of 0 from being 0."""


def mix_bits(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the finaliser of SplitMix64: neighbouring numbers get bits that look random."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def hash_numbers(numbers: Ints) -> Ints:
    """Return a fixed hash of every number, from 0 to below 2**63."""
    return (mix_bits(numbers.astype(np.uint64) + STEP) >> np.uint64(1)).astype(np.intp)


def hash_rows(columns: Iterable[Floats | Ints]) -> Ints:
    """Return a fixed hash of every row of some columns of numbers, from 0 to below 2**63; equal rows have equal ones.

    >>> left, right = np.array([0.5, 0.5, 1.5]), np.array([1.0, 1.0, 1.0])
    >>> keys = hash_rows([left, right])
    >>> bool(keys[0] == keys[1]), bool(keys[0] == keys[2])
    (True, False)
    """
    bits: NDArray[np.uint64] | None = None
    for column in columns:
        numbers = (column + 0.0).view(np.uint64)  # so that -0.0 is 0.0
        bits = numbers if bits is None else np.bitwise_xor(bits, numbers, out=bits)
        bits *= STEP
        bits ^= bits >> np.uint64(32)
    return np.empty(0, dtype=np.intp) if bits is None else (mix_bits(bits) >> np.uint64(1)).astype(np.intp)


def hash_labels(labels: NDArray[np.generic]) -> Ints:
    """Return a number for each label, the same for the same label anywhere; whole numbers stand for themselves."""
    if labels.dtype.kind in "iub":
        return labels.astype(np.intp)
    every = labels.tolist()  # not one text per row: long ones take room but once
    place = {label: number for number, label in enumerate(dict.fromkeys(every))}
    digests = [blake2b(str(label).encode(), digest_size=8).digest() for label in place]
    known = (np.frombuffer(b"".join(digests), dtype=np.int64) >> 1).astype(np.intp)
    hashes = known[np.fromiter(map(place.__getitem__, every), dtype=np.intp, count=len(every))]
    if labels.dtype.kind == "f":  # 7.0 is 7, as in rows where all are whole
        return np.where(labels == np.floor(labels), labels.astype(np.intp), hashes)
    return hashes


def assign_folds(units: Ints, folds: int) -> Ints:
    """Return the fold of each row from the number of its unit; all rows of a unit are in the same fold.

    >>> assign_folds(np.array([7, 8, 7]), 5)
    array([3, 1, 3])
    """
    return hash_numbers(units) % folds


def assign_blocks(units: Ints, blocks: int) -> Ints:
    """Return the block of each row, such that blocks hold equally many units, or one more."""
    unique, where = np.unique(units, return_inverse=True)
    block = np.empty(len(unique), dtype=np.intp)
    block[np.argsort(hash_numbers(unique))] = np.arange(len(unique)) % blocks
    return block[where]


def thin_rows(numbers: Ints, shares: Floats) -> Bools:
    """Return which rows stay if each stays with a probability of its own; a row does or does not wherever it is read.

    >>> thin_rows(np.array([1, 2, 3, 4]), np.array([0.0, 0.5, 0.5, 1.0]))
    array([False,  True,  True,  True])
    """
    return hash_numbers(numbers + (1 << 41)) < shares * 2.0**63  # another hash than those of folds and samples


def sample_least(numbers: Ints, size: int, share: float = 1.0) -> Ints:
    """Return the places of the `size` numbers with the least hashes: a random sample, however the rows are cut up.

    Only numbers whose hashes are among the least `share` of all hashes are looked at.
    """
    keys = hash_numbers(numbers + (1 << 40))  # another hash than that of folds, so that no fold is left out
    places = np.flatnonzero(keys < share * 2.0**63) if share < 1 else np.arange(len(keys))
    if len(places) > size:
        places = places[np.argpartition(keys[places], size)[:size]]
    return places[np.argsort(numbers[places])]
