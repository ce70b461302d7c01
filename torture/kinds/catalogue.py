"""Corrupted files and calls, each with what may happen, on every engine, through Python and the command line.

Every entry is run in each of its ways: memory, local, both through the command line, and a part of them on Spark. A
worker process has 4 GiB of addresses and 20 seconds for one of them; if it dies or hangs, a fresh one goes on. The
worst way decides, and ways that do not say the same are "silent".
"""

from torture.catalogue import EVERYWHERE, find_entries
from torture.outcomes import judge
from torture.spark import find_obstacle
from torture.workers import Worker, run_entry

OWN = ("python", "command", "process")


def attack(limits):
    """Yield the result of each entry."""
    entries = [one for one in find_entries().values() if limits.wants(one.name)]
    with Worker() as worker, Worker(is_limited=False) as spark:
        for one in entries:
            if limits.is_quick and one.is_slow:
                continue
            endings = run_entry(worker, one, (*EVERYWHERE, *OWN))
            if "spark" in one.ways and not limits.is_quick and find_obstacle() is None:
                endings |= run_entry(spark, one, ("spark",))
            if endings:
                yield judge(one, endings)
