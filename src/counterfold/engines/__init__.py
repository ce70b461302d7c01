"""Engines, which read logs that are too large for memory, one file each; `engine_for` chooses one."""

import os
from os import PathLike
from pathlib import Path

from counterfold import checks, readers
from counterfold.engines.base import Engine
from counterfold.errors import ParameterError
from counterfold.pool import Pool
from counterfold.readers import LogScan

WHERE = ("auto", "memory", "local", "spark")
"""Where a log may be evaluated; "auto" takes memory if it is large enough for the log."""

LARGE, SHARE = 2 << 30, 8
"""How many bytes a log may have in memory, and that it may take an eighth of the machine's."""


def engine_for(scan: LogScan, where: str, threads: int | None) -> Engine | None:
    """Return the engine that reads a log, or none if it is to be read into memory."""
    checks.one_of(WHERE, engine=where)
    spark = type(scan.source).__module__.startswith("pyspark.")
    path = Path(scan.source) if isinstance(scan.source, (str, PathLike)) else None
    if spark and where not in {"auto", "spark"}:
        raise ParameterError(f"`engine` must be 'spark' for a Spark DataFrame, got {where!r}.")
    if where in {"local", "spark"} and path is None and not spark:
        raise ParameterError(
            f"`engine` must be 'memory' for what is in memory, got {where!r} for {type(scan.source).__name__}."
        )
    if spark or where == "spark":
        from counterfold.engines.spark import Spark

        return Spark.of(scan.source)
    if where == "auto" and path is not None:
        where = "local" if size(path) > min(LARGE, memory() // SHARE) else "memory"
    if where == "local" and path is not None:
        from counterfold.engines.local import Local

        readers.reader_of(path)
        return Local(path, Pool(threads))
    return None


def size(path: Path) -> int:
    """Return about how many bytes a file would take in memory."""
    reader = readers.reader_of(path)
    with readers.readable(path, reader):
        return reader.size(path)


def memory() -> int:
    """Return the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * LARGE
