"""What is at a path, and whether it is still the same later."""

import glob
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from counterfold.base.errors import DataError

OTHER_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class State(NamedTuple):
    """What tells one version of a file from another: its place on the disk, its size, and when it was last written."""

    place: tuple[int, int]
    size: int
    written: int

    @classmethod
    def of(cls, file: Path) -> "State":
        """Return the state of a file now."""
        with explain_path(file):
            found = file.stat()
        return cls((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns)


def find_path(source: str | PathLike[str]) -> Path:
    """Return the file or folder that a path names, and refuse whatever else it may be."""
    text = os.fspath(source)
    if not text.strip():
        raise DataError("`source` must be the path of a file or folder, got an empty text; is a variable not set?")
    path = Path(text)
    with explain_path(path):
        path = path.expanduser()
        str(path).encode()
        if is_pattern(path):
            return path
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            path.open("rb").close()
    if stat.S_IFMT(mode) in OTHER_KINDS:
        what = OTHER_KINDS[stat.S_IFMT(mode)]
        raise DataError(f"`{path}` must be a file, got {what}, which can be read only once; write its rows to a file.")
    return path


def is_pattern(path: Path) -> bool:
    """Say whether a path stands for all that are like it, such as `logs/*.parquet`, and not for a file of that name."""
    return glob.has_magic(str(path)) and not os.path.lexists(path)


def has_path(source: str | PathLike[str]) -> bool:
    """Say whether there is something at a path, be it good or bad."""
    try:
        return not os.fspath(source).strip() or os.path.lexists(Path(source).expanduser())
    except (OSError, RuntimeError, ValueError):
        return True


@contextmanager
def explain_path(path: Path) -> Iterator[None]:
    """Turn what is wrong with a path into one sentence."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"`{path}` must be a file or folder, but there is none.") from None
    except UnicodeEncodeError:
        name = str(path).encode(errors="replace").decode()
        raise DataError(f"`{name}` must have a name in UTF-8; rename it.") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise DataError(f"`{path}` could not be opened: {reason}.") from None
