"""Files of an object store that are fetched once, to a folder of this machine, and then read like any others."""

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from weakref import finalize

import pyarrow as pa
from pyarrow import fs

from counterfold.base.cached import cached_property
from counterfold.base.errors import DataError
from counterfold.base.progress import bar
from counterfold.io.files import Files
from counterfold.io.formats.base import Piece
from counterfold.io.sources._stream import explain

AT_ONCE, RANGE = 2, 1 << 26
"""How many files are fetched at the same time, and how many bytes of each are asked for at once."""

SHARE = 0.5
"""How much of the room on the disk files may take; more are read from the store in every pass."""


class Listed(NamedTuple):
    """The files of a log in a store: all of `files` are below `base`, and `path` names them, as a pattern or not."""

    system: fs.FileSystem
    base: str
    path: str
    files: Sequence[fs.FileInfo]

    @property
    def fits(self) -> bool:
        """Say whether there is room for all files on the disk of this machine."""
        size: int = sum(one.size for one in self.files)
        return size <= SHARE * shutil.disk_usage(tempfile.gettempdir()).free


@dataclass(frozen=True, eq=False)
class Fetched:
    """The rows of files that are fetched when first asked for, all as they were at that time.

    `address` is what errors call the folder, or the file, that was asked for; `reword` makes what a library says fit to
    be shown.
    """

    listed: Listed
    address: str
    reword: Callable[[str], str]
    format: str | None
    is_in_memory = False

    @property
    def name(self) -> str:
        """Return what errors call the source."""
        return f"`{self.address}`"

    @cached_property
    def folder(self) -> Path:
        """Return the folder for the files, which is gone when nobody needs the rows any longer."""
        folder = tempfile.mkdtemp(prefix="counterfold-")
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @cached_property
    def local(self) -> Files:
        """Return the files on this machine."""
        with explain(self.name, self.reword):
            fetch(self.listed, self.folder, self.name)
        with self.explain():
            return Files.of(self.folder / self.inside, self.format)

    @property
    def inside(self) -> PurePosixPath:
        """Return what names the files in the folder."""
        return PurePosixPath(self.listed.path).relative_to(self.listed.base)

    @property
    def schema(self) -> pa.Schema:
        """Return the columns."""
        with self.explain():
            return self.local.schema

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        with self.explain():
            return self.local.rows

    @property
    def size(self) -> int:
        """Return about how many bytes the rows take in memory."""
        with self.explain():
            return self.local.size

    def table(self) -> pa.Table:
        """Return all rows."""
        with self.explain():
            return self.local.table()

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield all rows, or some columns of them."""
        with self.explain():
            for first, tables in self.local.pieces(columns):
                yield Piece(first, partial(self._read, Piece(first, tables)))

    def _read(self, piece: Piece) -> Iterator[pa.Table]:
        with self.explain():
            yield from piece.tables()

    def require_unchanged(self) -> None:
        """Require that nobody changed the files on this machine; those of the store may change."""
        with self.explain():
            self.local.require_unchanged()

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Let errors name the address of a file, not the place where it was put."""
        try:
            yield
        except DataError as error:
            root = self.address.removesuffix(str(self.inside)).rstrip("/") if self.inside.parts else self.address
            raise DataError(str(error).replace(str(self.folder), root)) from None


def fetch(listed: Listed, folder: Path, name: str) -> None:
    """Write all files to a folder, and require that they did not change meanwhile."""
    places = {one.path: folder / find_place(listed.base, one.path) for one in listed.files}
    for place in places.values():
        place.parent.mkdir(parents=True, exist_ok=True)
    total = sum(one.size for one in listed.files)
    done = accumulate(one.size for one in listed.files)
    with bar(f"Fetching {name}", unit="bytes") as moved, ThreadPoolExecutor(AT_ONCE) as pool:
        copied = pool.map(lambda one: copy_file(listed.system, one, places[one.path]), listed.files)
        for _, size in zip(copied, done, strict=True):
            moved(size, total)
    found = listed.system.get_file_info([one.path for one in listed.files])
    changed = next((one for one, now in zip(listed.files, found, strict=True) if not is_same(one, now)), None)
    if changed is not None:
        raise DataError(f"{name} must not change while it is read, but `{changed.base_name}` did; try again.")


def find_place(base: str, path: str) -> PurePosixPath:
    """Return where a file is below a folder; names that would lead out of it are refused."""
    inside = path.removeprefix(base).strip("/")
    if any(part in {"", ".", ".."} for part in inside.split("/")):
        raise DataError(f"the name of `{path}` must be a path without empty parts, `.` or `..`; rename it.")
    return PurePosixPath(inside)


def copy_file(system: fs.FileSystem, one: fs.FileInfo, place: Path) -> None:
    """Write a file to a place, in few large ranges: each is a request."""
    with system.open_input_file(one.path) as opened, place.open("wb") as written:
        while part := opened.read_buffer(RANGE):
            written.write(part)


def is_same(one: fs.FileInfo, other: fs.FileInfo) -> bool:
    """Say whether a file of a store is what it was."""
    return bool(one.size == other.size and one.mtime_ns == other.mtime_ns)
