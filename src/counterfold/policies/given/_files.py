"""Files that hold a model."""

from os import PathLike
from pathlib import Path

from counterfold.base.errors import DataError
from counterfold.base.messages import show

LARGEST_FILE = 1 << 31
"""A model takes no more bytes; a larger file is something else."""


def read_model_file(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that holds a model."""
    file, name = Path(path), show(path)
    try:
        is_file, size = file.is_file(), file.stat().st_size if file.is_file() else 0
        content = file.read_bytes() if is_file and size <= LARGEST_FILE else None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"file `{name}` of `target` could not be read: {reason}.") from None
    if content == b"":
        raise DataError(f"file `{name}` of `target` must hold a model, got an empty file.")
    if content is not None:
        return content
    if is_file:
        raise DataError(f"file `{name}` of `target` must be a model of at most {LARGEST_FILE >> 30} GiB.")
    raise DataError(f"file `{name}` of `target` must be there, got {'a folder' if file.is_dir() else 'none'}.")
