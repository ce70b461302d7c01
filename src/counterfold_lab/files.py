"""Files of results: a file or folder is written as a whole, or not at all."""

import csv
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from counterfold.base.atomic_files import remove_when_terminated
from counterfold.base.errors import DataError

Row = dict[str, Any]
"""One line of results, by column."""


@contextmanager
def write_atomically(path: Path, *, folder: bool = False) -> Iterator[Path]:
    """Yield a hidden draft beside `path` that takes its place at the end; if that fails, what was there comes back.

    What a link leads to is replaced, and the link stays, as `require_place` has it for all other files.
    """
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    draft, old = (path.with_name(f".{os.getpid()}.{mark}{path.name}") for mark in ("", "old."))
    try:
        if folder:
            draft.mkdir()
        with remove_when_terminated(draft):
            yield draft
        if folder and path.exists():
            path.replace(old)
        draft.replace(path)
    finally:
        if old.exists() and not path.exists():
            old.replace(path)
        for left in (draft, old):
            shutil.rmtree(left, ignore_errors=True)
        if draft.is_file():
            draft.unlink()


@contextmanager
def refuse_unwritable(path: Path, kind: str = "folder") -> Iterator[None]:
    """Turn an error of the file system into one sentence that names the path."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        raise DataError(f"`{path}` must be a {kind} that can be written to: {error}.") from None


def write_parquet(rows: Sequence[Row], path: Path) -> Path:
    """Write rows as Parquet, and return the path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with write_atomically(path) as draft:
        pq.write_table(pa.Table.from_pylist(list(rows)), draft)
    return path


def write_csv(lines: Sequence[Any], path: Path) -> Path:
    """Write instances of a dataclass as the lines of a CSV file, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(asdict(lines[0])), lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(line) for line in lines)
    return path
