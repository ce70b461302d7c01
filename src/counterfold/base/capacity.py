"""How much memory there is, how much an evaluation takes, and one sentence where the first is less than the second."""

import os
import sys
from pathlib import Path

from counterfold.base.errors import DataError

LARGE, SHARE = 2 << 30, 8
"""A log whose evaluation takes more bytes than LARGE, or than one SHARE of the memory, is not read as a whole."""

ROOM = 0.75
"""Which share of the memory an evaluation may take: others need some, and so does what is measured by no estimate."""

COPIES, VECTORS = 3, 8
"""An evaluation in memory takes so many times the decoded rows at its peak, and so many numbers for each row besides.

Measured: 3.9 GiB for 1.3 GiB of rows with 22 numbers each, 1.3 GiB for 0.3 GiB of rows with 4 numbers each.
"""

MATRICES = 4
"""How many matrices of rows and actions an evaluation holds at its peak, measured: 3.0 GiB for 5,000 x 20,000."""

FITS = 12
"""How many times the sums over all rows the fit of a linear model takes at its peak, measured."""

NUMBER = 8
"""How many bytes a number takes."""

NUMBERS = 1 << 22
"""How many numbers a matrix of rows and actions may hold where a few rows are worked on at a time."""

CGROUPS = Path("/sys/fs/cgroup")
"""Where Linux writes the limit of a container."""

ACTIONS = 1 << 15
"""How many actions a log may have whose rows are not kept, if a policy's probabilities of all of them are known."""

SUMS = 1 << 28
"""How many bytes the sums may take that a reward model is fitted from, unless a 64th of the memory is more."""

FEWER = "Put rare actions together as one"

WAYS = f"Use a file and engine 'local' (--engine local). {FEWER}, or take fewer rows"


def find_memory() -> int:
    """Return how many bytes this process may use: those of the machine, its container's or its own limit."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * LARGE]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # of the second and the first version of cgroups
        file = CGROUPS / name
        text = file.read_text().strip() if file.is_file() else ""
        known += [int(text)] if text.isdigit() else []
    if sys.platform != "win32":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        known += [limit] if limit > 0 else []
    return min(known)


def estimate_need(rows: int, size: int) -> int:
    """Return how many bytes an evaluation in memory takes at its peak, of rows that take so many bytes decoded."""
    return COPIES * size + VECTORS * NUMBER * rows


def find_limit() -> int:
    """Return how many bytes an evaluation may take before it is done a few rows at a time by itself."""
    return min(LARGE, find_memory() // SHARE)


def find_room() -> int:
    """Return how many bytes an evaluation may take at most."""
    return int(ROOM * find_memory())


def require_memory(what: str, need: int, limit: int | None = None, way: str = WAYS) -> None:
    """Refuse what takes more memory than there is, or than a lower limit, before any of it is taken."""
    most = find_room() if limit is None else limit
    if need > most:
        rule = f"take at most {write_bytes(most)} of memory"
        raise DataError(f"an evaluation must {rule}, but {what} would take about {write_bytes(need)}. {way}.")


def require_rows(rows: int, size: int) -> None:
    """Refuse rows of a decoded size if an evaluation of them would take more memory than there is."""
    require_memory(f"{rows} rows", estimate_need(rows, size))


def require_matrix(what: str, rows: int, actions: int, limit: int | None = None) -> None:
    """Refuse matrices of rows and actions if an evaluation with them would take too much memory."""
    if rows * actions > NUMBERS:  # what is worked on at a time always fits
        require_memory(f"{what} with {actions} actions in {rows} rows", MATRICES * NUMBER * rows * actions, limit)


def explain_shortage() -> str:
    """Return a sentence for when the memory did not suffice although nothing was refused."""
    return f"the evaluation took more memory than there was ({write_bytes(find_memory())} in all). {WAYS}."


def require_few_actions(actions: int) -> None:
    """Refuse more actions than a sample of rows can hold the probabilities of, where rows are not kept."""
    if actions > ACTIONS:
        rule = f"have at most {ACTIONS} actions where all their probabilities or features are read a few rows at a time"
        raise DataError(f"a log must {rule}, got {actions}. {FEWER}, or engine 'memory' if it has few rows.")


def require_moments(actions: int, width: int) -> None:
    """Refuse the sums of a linear model for each action, of which fitting holds several, if they would not fit."""
    need = FITS * NUMBER * actions * width**2
    if need > SUMS:  # what is always there need not be compared with the memory
        what = f"a reward model for {actions} actions and {width - 2} columns of context"
        require_memory(what, need, way=f"{FEWER}, or name fewer columns in `context` (--context)")


def require_sums(cells: int, actions: int, columns: int) -> None:
    """Refuse a reward model whose sums, of which every thread holds some, would take too much memory."""
    limit, need = max(SUMS, find_memory() // 64), NUMBER * cells * actions * (columns + 2) ** 2
    if need > limit:
        rule = f"be fitted from sums of at most {write_bytes(limit)}"
        got = f"got {write_bytes(need)} for {actions} actions and {columns} columns of context"
        raise DataError(
            f"the reward model must {rule}, {got}. {FEWER}, or name fewer columns in `context` (--context)."
        )


def count_rows(numbers: int, most: int) -> int:
    """Return how many rows with so many numbers each are worked on at a time, at most, and one at least."""
    return max(1, min(most, NUMBERS // max(numbers, 1)))


def write_bytes(number: float) -> str:
    """Return a number of bytes for people.

    >>> write_bytes(3 << 29), write_bytes(1 << 28)
    ('1.5 GiB', '256 MiB')
    """
    return f"{number / 2**30:.1f} GiB" if number >= 1 << 30 else f"{number / 2**20:.0f} MiB"
