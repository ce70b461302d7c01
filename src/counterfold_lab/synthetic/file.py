"""Synthetic logs in Parquet files, which are written block by block."""

import json
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from counterfold import DataError, ParameterError
from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.base.progress import Progress
from counterfold.base.threads import Pool, count_cores
from counterfold_lab.files import refuse_unwritable, write_atomically
from counterfold_lab.synthetic.generator import Synthetic

METADATA_KEY = b"counterfold"
"""The key of a file's metadata that holds its settings, its number of rows, and the true value of each target."""


@dataclass(frozen=True)
class Destination:
    """A file or, if a number of `files` is given, a folder; with `force` it may replace a log of the same form."""

    path: Path
    files: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        if self.files is None and self.path.suffix != ".parquet":
            raise ParameterError(f"`{self.path}` must end in .parquet, or be a folder for several `--files`.")
        validation.whole(1, files=1 if self.files is None else self.files)
        if self.files is not None and self.path.suffix:
            raise ParameterError(f"`{self.path}` must have no ending, because `--files` go to a folder.")

    def check(self) -> None:
        """Refuse to replace what must stay."""
        path = self.path
        if not path.exists():
            return
        if path.is_dir() != (self.files is not None) or (path.is_dir() and set(path.iterdir()) > set(list_files(path))):
            raise DataError(f"`{path}` must not be there, or be a log of the same form to replace, got something else.")
        if not self.force:
            raise DataError(f"`{path}` must not be there yet: give another name, or `--force` to replace it.")


@dataclass(frozen=True)
class WrittenLog:
    """A log in files, and the true value of each target on it."""

    path: str
    files: int
    rows: int
    bytes: int
    truth: dict[str, float]


def write_log(
    problem: Synthetic, rows: int, to: Destination, threads: int | None = None, progress: Progress | None = None
) -> WrittenLog:
    """Write a log of so many rows; threads do not change a byte, and memory does not grow with the rows."""
    validation.whole(2, rows=rows)
    count = to.files or 1
    if count > rows:
        raise ParameterError(f"`files` must be at most the number of rows ({rows}), got {count}.")
    rows_by_file = [rows // count + (place < rows % count) for place in range(count)]
    pool = Pool(min(4, count_cores()) if threads is None else threads)  # more would wait for the one that writes
    with refuse_unwritable(to.path, "place"):
        to.check()
        sums = write_files(problem, rows_by_file, to, pool, progress)
        size = sum(file.stat().st_size for file in list_files(to.path))
    return WrittenLog(str(to.path), count, rows, size, values_by_target(problem, sums, rows))


def write_files(
    problem: Synthetic, rows_by_file: list[int], to: Destination, pool: Pool, progress: Progress | None
) -> Floats:
    """Write files of so many rows each, and return the sum over all rows of each target's true value."""
    done, total, most = 0, np.zeros(problem.targets), problem.block_rows
    blocks = enumerate(min(most, rows - start) for rows in rows_by_file for start in range(0, rows, most))
    tables = pool.stream(lambda block: make_table(problem, *block), blocks)
    with closing(tables), write_atomically(to.path, folder=to.files is not None) as draft:
        files = [draft / f"part-{number:05}.parquet" for number in range(to.files or 0)] or [draft]
        for file, rows in zip(files, rows_by_file, strict=True):
            sums = np.zeros(problem.targets)
            with pq.ParquetWriter(file, make_table(problem, 0, 1)[0].schema) as writer:
                for table, block_sums in islice(tables, -(-rows // most)):
                    writer.write_table(table)
                    sums += block_sums
                    done += table.num_rows
                    if progress:
                        progress(done, sum(rows_by_file))
                truth = {"rows": rows, "truth": values_by_target(problem, sums, rows)}
                writer.add_key_value_metadata({METADATA_KEY: json.dumps(asdict(problem) | truth)})
            total += sums
    return total


def make_table(problem: Synthetic, number: int, rows: int) -> tuple[pa.Table, Floats]:
    """Return a block as a table, and the sums over its rows of the targets' true values."""
    block, columns = problem.block(number, rows), {}
    for name, array in block.columns.items():
        columns[name] = pa.array(array.ravel())
        if array.ndim > 1:
            starts = np.arange(0, array.size + 1, array.shape[1], dtype=np.int32)
            columns[name] = pa.ListArray.from_arrays(pa.array(starts), columns[name])
    return pa.table(columns), block.sums


def values_by_target(problem: Synthetic, sums: Floats, rows: int) -> dict[str, float]:
    """Return the true value of each target by the name of its column, from sums over so many rows."""
    return dict(zip(problem.target_names, (sums / rows).tolist(), strict=True))


def read_truth(path: Path) -> dict[str, float]:
    """Return the true value of each target on a synthetic log, from the metadata of its files."""
    known = [json.loads((pq.read_metadata(file).metadata or {}).get(METADATA_KEY, "{}")) for file in list_files(path)]
    if not known or not all(known):
        raise DataError(f"`{path}` must be a log that `counterfold synth` made, to know the truth.")
    rows = sum(one["rows"] for one in known)
    return {name: sum(one["rows"] / rows * one["truth"][name] for one in known) for name in known[0]["truth"]}


def list_files(path: Path) -> list[Path]:
    """Return the files of a log, in their order."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
