"""Synthetic logs in Parquet, as one file or a folder of several: streamed, and whole or not there at all."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.errors import DataError, ParameterError
from counterfold.experiments.runner import whole
from counterfold.experiments.synthetic.generator import Synthetic
from counterfold.pool import Pool, available_cores
from counterfold.progress import Progress

KEY = b"counterfold"
"""Where a file's metadata says what made it, how many rows it has, and what each target is worth on them."""

ENOUGH = 4
"""More threads than this would only wait for the one that writes, each with a block in memory."""


@dataclass(frozen=True)
class Destination:
    """A file, or a folder of several; `force` lets it take the place of such a file or folder."""

    path: Path
    files: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.files is None:
            if self.path.suffix != ".parquet":
                raise ParameterError(f"`{self.path}` must end in .parquet, or be a folder for several `--files`.")
            return
        checks.whole(1, files=self.files)
        if self.path.suffix:
            raise ParameterError(f"`{self.path}` must have no ending, because `--files` go to a folder.")

    def check(self) -> None:
        """Refuse to take the place of what must stay."""
        path = self.path
        if not path.exists():
            return
        if path.is_dir() != (self.files is not None) or (path.is_dir() and set(path.iterdir()) > set(parts(path))):
            raise DataError(f"`{path}` must not be there, or be a log of the same form to replace, got something else.")
        if not self.force:
            raise DataError(f"`{path}` must not be there yet: give another name, or `--force` to replace it.")

    @contextmanager
    def opened(self) -> Iterator[list[Path]]:
        """Yield the files to write, which take their place together once all is written into them."""
        if self.files is None:
            with whole(self.path) as part:
                yield [part]
        else:
            with whole_folder(self.path) as folder:
                yield [folder / f"part-{number:05}.parquet" for number in range(self.files)]


@dataclass(frozen=True)
class Written:
    """What was written, and the true value of each target on it."""

    path: str
    files: int
    rows: int
    bytes: int
    truth: dict[str, float]


def write(
    problem: Synthetic, rows: int, to: Destination, threads: int | None = None, progress: Progress | None = None
) -> Written:
    """Write a log of so many rows, in memory that does not grow with them; threads never change a byte of it."""
    checks.whole(2, rows=rows)
    count = to.files or 1
    if count > rows:
        raise ParameterError(f"`files` must be at most the number of rows ({rows}), got {count}.")
    shares = [rows // count + (place < rows % count) for place in range(count)]
    pool = Pool(min(ENOUGH, available_cores()) if threads is None else threads)
    to.check()
    try:
        sums = performed(problem, shares, to, pool, progress)
        size = sum(file.stat().st_size for file in parts(to.path))
    except OSError as error:
        raise DataError(f"`{to.path}` must be a place that can be written to: {error}.") from None
    return Written(str(to.path), count, rows, size, values(problem, sums, rows))


def performed(problem: Synthetic, shares: list[int], to: Destination, pool: Pool, progress: Progress | None) -> Floats:
    """Write a file for each share of the rows, and return the sum over all rows of each target's true value."""
    done, total = 0, np.zeros(problem.targets)
    most = problem.block_rows
    pieces = enumerate(min(most, share - start) for share in shares for start in range(0, share, most))
    with closing(pool.stream(lambda piece: table_of(problem, *piece), pieces)) as blocks, to.opened() as files:
        for file, share in zip(files, shares, strict=True):
            sums = np.zeros(problem.targets)
            with pq.ParquetWriter(file, table_of(problem, 0, 1)[0].schema) as writer:
                for table, more in islice(blocks, -(-share // most)):
                    writer.write_table(table)
                    sums += more
                    done += table.num_rows
                    if progress:
                        progress(done, sum(shares))
                truth = {"rows": share, "truth": values(problem, sums, share)}
                writer.add_key_value_metadata({KEY: json.dumps(asdict(problem) | truth)})
            total += sums
    return total


def table_of(problem: Synthetic, number: int, rows: int) -> tuple[pa.Table, Floats]:
    """Return a block as a table, and the sums over its rows of the targets' true values."""
    block = problem.block(number, rows)
    return pa.table({name: column_of(array) for name, array in block.columns.items()}), block.sums


def column_of(array: NDArray[Any]) -> pa.Array:
    """Return a vector as numbers, and a matrix as lists."""
    if array.ndim == 1:
        return pa.array(array)
    starts = np.arange(0, array.size + 1, array.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(array.ravel()))


def values(problem: Synthetic, sums: Floats, rows: int) -> dict[str, float]:
    """Return the true value of each target by its column."""
    return dict(zip(problem.target_names, (sums / rows).tolist(), strict=True))


def truth_of(path: Path) -> dict[str, float]:
    """Return the true value of each target on a synthetic log, as its files' metadata tell."""
    known = [json.loads((pq.read_metadata(file).metadata or {}).get(KEY, "{}")) for file in parts(path)]
    if not known or not all(known):
        raise DataError(f"`{path}` must be a log that `counterfold synth` made, to know the truth.")
    rows = sum(one["rows"] for one in known)
    return {name: sum(one["rows"] / rows * one["truth"][name] for one in known) for name in known[0]["truth"]}


def parts(path: Path) -> list[Path]:
    """Return the files of a log, in their order."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that takes the path's place once all is written into it, as `whole` does with a file."""
    part, old = (path.with_name(f".{os.getpid()}.{word}{path.name}") for word in ("", "old."))
    try:
        part.mkdir()
        yield part
        if path.exists():
            path.replace(old)
        part.replace(path)
    finally:
        if old.exists() and not path.exists():
            old.replace(path)
        for folder in (part, old):
            shutil.rmtree(folder, ignore_errors=True)
