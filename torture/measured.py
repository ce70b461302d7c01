"""The child process of bombs and soaks: it evaluates under a limit and says how that ended, and what it took.

`python -m torture.measured LIMIT PATH ENGINE` evaluates a file; `python -m torture.measured soak COUNT` many times.
"""

import json
import os
import resource
import sys
import tempfile
import warnings
from pathlib import Path


def main():
    """Print the outcome as a line of JSON."""
    warnings.simplefilter("ignore")
    first, *rest = sys.argv[1:]
    found = soak(int(rest[0])) if first == "soak" else evaluate(int(first), *rest)
    print(json.dumps(found))


def evaluate(limit, path, engine):
    """Return how the evaluation of a file ended; the limit is of addresses, and keeps the machine alive."""
    import counterfold as cf

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        found = cf.evaluate(path, candidates=["ips"], reward_model=None, progress=False, engine=engine)
    except cf.CounterfoldError as error:
        return {"end": "refused", "text": str(error), "peak": read_peak()}
    except MemoryError as error:
        return {"end": "crashed", "text": f"out of memory: {error}", "peak": read_peak()}
    return {"end": "answered", "text": f"value {found.value:.6g}", "value": found.value, "peak": read_peak()}


def read_peak():
    """Return the most bytes that this process ever had in memory; getrusage would count what its parent had, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def soak(count):
    """Return the memory, open files and threads after each of many evaluations of small logs."""
    import counterfold as cf
    from torture.cases import PLAIN
    from torture.logs import write_csv, write_parquet

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "log.parquet", Path(folder) / "log.csv"]
        paths[0].write_bytes(write_parquet())
        paths[1].write_text(write_csv())
        for number in range(count):
            options = PLAIN if number % 10 else {"progress": False}  # some with all that is done by default
            engine = ("memory", "local")[number % 2]
            cf.evaluate(cf.LogScan(paths[number // 2 % 2]), engine=engine, **options)
            lines.append([read_memory(), *map(count_entries, ("/proc/self/fd", "/proc/self/task"))])
    return {"end": "answered", "lines": lines}


def count_entries(folder):
    """Return how many files a folder holds."""
    return len([*Path(folder).iterdir()])


def read_memory():
    """Return how many bytes this process has in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
