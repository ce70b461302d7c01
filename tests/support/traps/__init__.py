"""Traps: logs with a mistake that people really make and with a known truth, and how each of them must end.

A trap is a function of a random generator, in any file of this folder, that returns a `Case`; the decorator says in
words what the mistake is and how it must end. The tests run every trap on every engine that can read it, and `page.py`
makes the page of the docs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import counterfold as cf

RIGHT, REFUSED = "right", "refused"
"""How a trap may end, besides by a finding of some name that makes the verdict worse than good."""

ROW_GROUP = 700


@dataclass(frozen=True, eq=False)
class Case:
    """What a user would evaluate: a source, a target and more options, and what the target is truly worth.

    A table is written as Parquet for every engine; a text as CSV; anything else (a log, a data frame, a function that
    makes one of these and may be refused) is for memory alone. `columns` are arguments of `LogScan`. `truth` is None
    where no number is right. Where `baseline` is given, the question is how much more than that target the first one
    earns, and `truth` is that difference.
    """

    source: Any
    target: Any = "target"
    truth: float | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    baseline: Any = None

    @property
    def engines(self):
        """Return the engines that can read the source."""
        return ("memory", "local") if isinstance(self.source, (pa.Table, str)) else ("memory",)


@dataclass(frozen=True, eq=False)
class Trap:
    """A mistake, the function that makes a log with it, and how it must end: right, refused or by a finding's name."""

    name: str
    mistake: str
    ends: str
    make: Callable[[np.random.Generator], Case]

    def case(self):
        """Return the log, the same every time."""
        return self.make(np.random.default_rng([ord(letter) for letter in self.name]))


@dataclass(frozen=True)
class Ending:
    """How a trap ended: `words` by right, refused, wrong, or the names of findings: what a user reads, and what to do.

    `left_out` says which columns were not taken for context, and why.
    """

    words: Mapping[str, tuple[str, str]]
    left_out: tuple[str, ...] = ()

    @property
    def ends(self):
        """Return the ways in which it ended."""
        return tuple(self.words)


TRAPS: dict[str, Trap] = {}


def trap(mistake, ends):
    """Register a function as a trap; its name, with dashes, is the trap's."""

    def register(make):
        name = make.__name__.replace("_", "-")
        TRAPS[name] = Trap(name, mistake, ends, make)
        return make

    return register


def find_traps():
    """Return every trap by its name."""
    for module in iter_modules(__path__):
        if module.name != "page":
            import_module(f"{__name__}.{module.name}")
    return TRAPS


def spring(case, engine, folder):
    """Evaluate the case and return how it ended."""
    try:
        found, value, low, high = evaluate(case, engine, Path(folder))
    except cf.CounterfoldError as error:
        return Ending({REFUSED: (str(error), "")})
    doubts = {one.name: (one.problem, one.remedy) for one in found.diagnostics.findings if one.severity != "note"}
    if doubts:
        return Ending(doubts)
    is_right = case.truth is not None and low <= case.truth <= high
    read = f"{value:.4g}, interval {low:.4g} to {high:.4g}, truth {case.truth}"
    left_out = tuple(f"`{name}` is no context: {why}" for name, why in found.contents.left_out.items())
    return Ending({RIGHT if is_right else "wrong": (read, "")}, left_out)


def evaluate(case, engine, folder):
    """Return the evaluation, and the number that is asked for with its interval."""
    source, columns = write(case.source, folder), dict(case.columns)
    source = source if isinstance(source, cf.Log) else cf.LogScan(source, **columns)
    targets = {"target": case.target} | ({} if case.baseline is None else {"baseline": case.baseline})
    results = cf.evaluate(source, targets, engine=engine, progress=False, **case.options)
    found = results["target"]
    if case.baseline is None:
        return found, found.value, *found.interval
    gap = found.uplift(results["baseline"])
    return found, gap.value, *gap.interval()


def write(source, folder):
    """Return a path for a table or a text, what a function makes, and anything else as it is."""
    if callable(source):
        return source()
    if isinstance(source, pa.Table):
        pa.parquet.write_table(source, folder / "log.parquet", row_group_size=ROW_GROUP)
        return folder / "log.parquet"
    if isinstance(source, str):
        (folder / "log.csv").write_text(source)
        return folder / "log.csv"
    return source
