"""How much memory there is, how much an evaluation takes, and one sentence where the first is less than the second."""

import os
import sys
from pathlib import Path

from counterfold.errors import DataError

LARGE, SHARE = 2 << 30, 8
"""A log whose evaluation takes more bytes than LARGE, or than one SHARE of the memory, is not read as a whole."""

COPIES = 3
"""How many times the decoded rows an evaluation in memory takes at its peak, measured."""

NUMBER = 8
"""How many bytes a number takes."""

NUMBERS = 1 << 22
"""How many numbers a matrix of rows and actions may hold where a few rows are worked on at a time."""

CGROUPS = ("memory.max", "memory/memory.limit_in_bytes")
"""Where a container's limit is written, below /sys/fs/cgroup, in the second and the first version of cgroups."""

WAYS = "Use a file and engine 'local' (--engine local), fewer rows, or fewer actions (as one action `other`)"


def find_memory() -> int:
    """Return how many bytes this process may use: those of the machine, its container's or its own limit."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * LARGE]
    for name in CGROUPS:
        file = Path("/sys/fs/cgroup", name)
        text = file.read_text().strip() if file.is_file() else ""
        known += [int(text)] if text.isdigit() else []
    if sys.platform != "win32":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        known += [limit] if limit > 0 else []
    return min(known)


def estimate_need(rows: int, row_bytes: float) -> int:
    """Return how many bytes an evaluation in memory takes at its peak, with so many bytes of decoded data in a row."""
    return int(COPIES * rows * row_bytes)


def is_too_large(need: int) -> bool:
    """Say whether an evaluation takes so much that it is done a few rows at a time unless the user says otherwise."""
    return need > min(LARGE, find_memory() // SHARE)


def require_memory(what: str, need: int, way: str = WAYS) -> None:
    """Refuse what takes more memory than there is, before any of it is taken."""
    memory = find_memory()
    if need > memory:
        got = f"{what} would take about {write_bytes(need)}"
        raise DataError(f"the evaluation must fit into the memory, {write_bytes(memory)}, but {got}. {way}.")


def require_matrix(what: str, rows: int, columns: int) -> None:
    """Refuse a matrix of rows and actions if an evaluation with it would take more memory than there is."""
    require_memory(f"{what} with {columns} actions in {rows} rows", estimate_need(rows, NUMBER * columns))


def count_rows(numbers: int, most: int) -> int:
    """Return how many rows with so many numbers each are worked on at a time, at most, and one at least."""
    return max(1, min(most, NUMBERS // max(numbers, 1)))


def write_bytes(number: float) -> str:
    """Return a number of bytes for people.

    >>> write_bytes(3 << 29), write_bytes(5000)
    ('1.5 GiB', '0.0 GiB')
    """
    return f"{number / 2**30:.1f} GiB"
