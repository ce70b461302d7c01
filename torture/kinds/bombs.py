"""Small files that are large once they are read, under a limit on memory.

Each is evaluated by the engine that counterfold chooses, in a process that may use 8 GiB of addresses. It must end
within ten minutes, with an answer or a refusal, and never hold more than 2 GiB in memory.
"""

import gzip
import json
import tempfile
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from torture.children import finish, start
from torture.logs import LABELS, is_far, know_answer, make_rows, write_csv
from torture.outcomes import Result, find_unclear

ADDRESSES, MOST, SECONDS = 8 << 30, 2 << 30, 600


def write_groups(path, table, count):
    """Write a table many times, a row group each."""
    with pq.ParquetWriter(path, table.schema, compression="zstd") as out:
        for _ in range(count):
            out.write_table(table, row_group_size=table.num_rows)
    return path


def make_lists(folder, groups=40):
    """Write 8 million rows with the probabilities of 10 actions."""
    rows = 200_000
    action = np.random.default_rng(0).integers(10, size=rows)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.full(rows * 10, 0.1)), 10).cast(pa.list_(pa.float64()))
    columns = {"action": action, "reward": (action == 3) * 1.0, "logging_probs": lists, "target": lists}
    return write_groups(folder / "log.parquet", pa.table(columns), groups), float(np.mean(columns["reward"]))


def make_constant(folder, groups=60):
    """Write 60 million rows that are nearly all the same."""
    rows = 1_000_000
    action = pa.array(np.arange(rows) % 2)
    half = np.full(rows, 0.5)
    table = pa.table({"action": action, "reward": np.arange(rows) % 2 * 1.0, "propensity": half, "target": half})
    return write_groups(folder / "log.parquet", table, groups), 0.5


def make_text(folder, megabytes=1500):
    """Write a compressed CSV of 1.5 GB."""
    head, _, body = write_csv().partition("\n")
    block = body * (1_000_000 // len(body))
    with gzip.open(folder / "log.csv.gz", "wt", compresslevel=1) as out:
        out.write(head + "\n")
        for text in repeat(block, megabytes):
            out.write(text)
    return folder / "log.csv.gz", know_answer().value


def make_maps(folder, actions=20_000, rows=3000):
    """Write the probabilities of 20,000 actions as maps."""
    keys = pa.array([f"a{number}" for number in range(actions)] * 50).dictionary_encode().cast(pa.string())
    items = pa.array(np.full(actions * 50, 1 / actions))
    maps = pa.MapArray.from_arrays(pa.array(np.arange(51, dtype=np.int32) * actions), keys, items)
    names = [f"a{number}" for number in np.random.default_rng(0).integers(actions, size=50)]
    columns = {"action": names, "reward": np.arange(50) % 2 * 1.0, "logging_probs": maps, "target": maps}
    return write_groups(folder / "log.parquet", pa.table(columns), rows // 50), 0.5


def make_labels(folder, rows=3_000_000):
    """Write two labels of 1 MB in 3 million rows."""
    labels = pa.array(["a" * 1_000_000, "b" * 1_000_000])
    codes = pa.array(np.arange(rows) % 2, pa.int32())
    half = np.full(rows, 0.5)
    action = pa.DictionaryArray.from_arrays(codes, labels)
    table = pa.table({"action": action, "reward": np.arange(rows) % 2 * 1.0, "propensity": half, "target": half})
    pq.write_table(table, folder / "log.parquet", compression="zstd", row_group_size=rows)
    return folder / "log.parquet", 0.5


def make_blobs(folder, rows=1_000_000):
    """Write a column that nobody needs: one text of 100 kB in every of a million rows."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 100_000]))
    half, bits = np.full(rows, 0.5), np.arange(rows) % 2
    table = pa.table({"action": bits, "reward": bits * 1.0, "propensity": half, "target": half, "note": text})
    pq.write_table(table, folder / "log.parquet", compression="zstd")
    return folder / "log.parquet", 0.5


def make_nested(folder, depth=5_000_000):
    """Write a line of JSON that is nested 5 million deep."""
    lines = [json.dumps(row) for row in make_rows()]
    lines[7] = lines[7][:-1] + ', "deep": ' + "[" * depth + "]" * depth + "}"
    (folder / "log.jsonl").write_text("\n".join(lines))
    return folder / "log.jsonl", know_answer().value


def make_line(folder, megabytes=3000):
    """Write 3 GB of one letter in one line, compressed."""
    with gzip.open(folder / "log.csv.gz", "wb", compresslevel=1) as out:
        out.write(write_csv().encode())
        for _ in range(megabytes):
            out.write(b"x" * 1_000_000)
    return folder / "log.csv.gz", None


def make_columns(folder, count=2000, rows=20_000):
    """Write 2,000 columns of context."""
    rng = np.random.default_rng(0)
    columns = {f"x{number}": rng.integers(9, size=rows).astype(np.float32) for number in range(count)}
    half, bits = np.full(rows, 0.5), rng.integers(2, size=rows)
    labels = np.array(LABELS)[bits]
    table = pa.table(columns | {"action": labels, "reward": bits * 1.0, "propensity": half, "target": half})
    pq.write_table(table, folder / "log.parquet", compression="zstd", row_group_size=2000)
    return folder / "log.parquet", float(bits.mean())


BOMBS = {
    "8 million rows with 10 actions": make_lists,
    "60 million constant rows": make_constant,
    "1.5 GB of CSV in gzip": make_text,
    "20,000 actions as maps": make_maps,
    "two labels of 1 MB in 3 million rows": make_labels,
    "a text of 100 kB in a million rows": make_blobs,
    "JSON nested 5 million deep": make_nested,
    "a line of 3 GB in gzip": make_line,
    "2,000 columns of context": make_columns,
}
QUICK = ("JSON nested 5 million deep",)


def attack(limits):
    """Yield the result of each bomb, one at a time."""
    for name, make in BOMBS.items():
        if limits.wants(f"bombs/{name}") and (not limits.is_quick or name in QUICK):
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                yield explode(f"bombs/{name}", *make(Path(folder)))


def explode(name, path, value):
    """Return how the evaluation of a file ended, with its peak of memory; targets are the logging policies."""
    size = path.stat().st_size
    code, out, err = finish(start(["-m", "torture.measured", ADDRESSES, path, "auto"]), SECONDS)
    if code is None:
        return Result(name, "hung", f"no end within {SECONDS} seconds")
    if code != 0:
        return Result(name, "crashed", f"exit code {code}: {err[-800:]}")
    found = json.loads(out.splitlines()[-1])
    measured = {"MB on disk": f"{size / 1e6:.1f}", "peak in MiB": str(found["peak"] >> 20)}
    if found["end"] == "crashed" or found["peak"] > MOST:
        return Result(name, "crashed", f"{found['text']}, with a peak of {found['peak'] / 2**30:.1f} GiB", measured)
    if found["end"] == "refused":
        unclear = find_unclear(found["text"])
        return Result(name, "unclear" if unclear else "refused", f"{unclear} {found['text'][:300]}".strip(), measured)
    is_right = value is not None and not is_far(value, found["value"], 1e-6)
    return Result(name, "right" if is_right else "silent", found["text"], measured)
