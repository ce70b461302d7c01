"""The one hash of the package, and the one rule by which rows fall into folds, buckets and samples.

A row has the same hash wherever the log is read, so folds do not depend on a seed, on threads or on batches.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from counterfold.base.arrays import Bools, Floats, Ints

STEP = np.uint64(0x9E3779B97F4A7C15)
"""The increment of SplitMix64, which keeps the hash of 0 from being 0."""

LONGEST, AT_ONCE = 256, 1 << 14
"""So many bytes of a text tell its hash, besides its length; so many rows are hashed at once."""


MANTISSA_BITS, KEPT_BITS = 52, 40
"""The bits of a number behind its point, and how many of them tell which rows are equal.

Engines may compute a number in another order, and then its last bits differ.
"""


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
    several = list(columns)
    keys = np.empty(len(several[0]) if several else 0, dtype=np.intp)
    for start in range(0, len(keys), AT_ONCE):
        few = slice(start, start + AT_ONCE)
        keys[few] = _hash_few([one[few] for one in several])
    return keys


def _hash_few(columns: Sequence[Floats | Ints]) -> Ints:
    """Return the hash of each of a few rows."""
    bits = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        bits ^= (column + 0.0).view(np.uint64)  # so that -0.0 is 0.0
        bits *= STEP
        bits ^= bits >> np.uint64(32)
    return (mix_bits(bits) >> np.uint64(1)).astype(np.intp)


def rank_rows(keys: Ints) -> Ints:
    """Return the rank of each row by its key; rows with the same key keep their order.

    >>> rank_rows(np.array([70, 20, 90, 20]))
    array([2, 0, 3, 1])
    """
    ranks = np.empty(len(keys), dtype=np.intp)
    ranks[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return ranks


def add_hashes(table: Floats) -> Ints:
    """Return the sum of the hashes of each row's numbers, in which neither the order nor the names of columns count.

    >>> one, other = add_hashes(np.array([[1.0, 2.0], [2.0, 1.0]]))
    >>> bool(one == other)
    True
    """
    total = np.zeros(len(table), dtype=np.intp)
    for column in table.T:
        total += hash_rows([drop_last_bits(column)])  # sums that wrap around are as good
    return total


def drop_last_bits(column: Floats | Ints) -> Floats:
    """Return numbers with their first `KEPT_BITS` bits: the last ones differ where sums were added in another order.

    >>> drop_last_bits(np.array([0.1 + 0.2, 5.0])) == drop_last_bits(np.array([0.3, 5.0]))
    array([ True,  True])
    """
    bits = (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)
    dropped = np.uint64(MANTISSA_BITS - KEPT_BITS)
    half = np.uint64(1) << (dropped - np.uint64(1))
    return ((bits + half) >> dropped << dropped).view(np.float64)


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


def hash_texts(data: NDArray[np.uint8], ends: Ints) -> Ints:
    """Return a fixed hash of every text, from 0 to below 2**63, by its length and its first bytes.

    Text i is what `data` holds from `ends[i]` to below `ends[i + 1]`.

    >>> keys = hash_texts(np.frombuffer(b"annabobanna", dtype=np.uint8), np.array([0, 4, 7, 11]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    bits = np.diff(ends).astype(np.uint64)
    for start in range(0, len(bits), AT_ONCE):
        _mix_texts(bits[start : start + AT_ONCE], data, ends[start : start + AT_ONCE + 1])
    return (mix_bits(bits) >> np.uint64(1)).astype(np.intp)


def _mix_texts(bits: NDArray[np.uint64], data: NDArray[np.uint8], ends: Ints) -> None:
    """Mix the first bytes of some texts into their bits, eight at a time."""
    starts, lengths, word = ends[:-1] - ends[0], np.diff(ends), np.arange(8)
    padded = np.append(data[ends[0] : ends[-1]], np.zeros(8, dtype=np.uint8))
    for at in range(0, min(int(lengths.max()), LONGEST), 8):
        rows = np.flatnonzero(lengths > at)
        some = padded[(starts[rows] + at)[:, None] + word]
        some[word >= (lengths[rows] - at)[:, None]] = 0
        bits[rows] = mix_bits(bits[rows] * STEP ^ some.view("<u8")[:, 0])


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


def draw_keys(units: Ints) -> Ints:
    """Return a key for each unit, from 0 to below 2**63; those with the least ones are drawn as a whole.

    >>> draw_keys(np.array([7, 8, 7])) // 2**60
    array([2, 0, 2])
    """
    return hash_numbers(units + (1 << 42))  # another hash than those of folds, samples and thinning


def sample_least(numbers: Ints, size: int, share: float = 1.0) -> Ints:
    """Return the places of the `size` numbers with the least hashes: a random sample, however the rows are cut up.

    Only numbers whose hashes are among the least `share` of all hashes are looked at.
    """
    keys = hash_numbers(numbers + (1 << 40))  # another hash than that of folds, so that no fold is left out
    places = np.flatnonzero(keys < share * 2.0**63) if share < 1 else np.arange(len(keys))
    if len(places) > size:
        places = places[np.argpartition(keys[places], size)[:size]]
    return places[np.argsort(numbers[places])]
