"""Flipped bits and cuts of a small log in every format, at many places.

An independent parser (Python's csv and json modules) says what a mutated text means: if it cannot be read, it must be
refused; if it can, the number must be that of what stands there. Pages of Parquet have checksums, and compressed
files, too, so that these must be refused or give the same answer. Footers of Parquet and Arrow files have none: there
nothing may crash, and engines must agree.
"""

import numpy as np

from torture.mutations import KINDS, list_mutations, make_entry
from torture.outcomes import judge
from torture.workers import Worker, run_entry

ALL, FEW = (800, 100), (25, 6)
"""How many bits are flipped and how many cuts are made in each format: in all, and in the short form."""


def attack(limits):
    """Yield the result of each mutation."""
    rng = np.random.default_rng(0)
    flips, cuts = FEW if limits.is_quick else ALL
    names = [name for kind in KINDS for name in list_mutations(kind, flips, cuts, rng)]
    if limits.only:
        exact = [one for one in limits.only if one.count("/") == 2]
        names = exact or [name for name in names if limits.wants(name)]
    with Worker() as worker:
        for name in names:
            one = make_entry(name)
            yield judge(one, run_entry(worker, one, one.ways))
