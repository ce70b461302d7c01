"""Files that hold a model."""

from os import PathLike
from pathlib import Path

from counterfold.errors import DataError
from counterfold.messages import show

LARGEST_FILE = 1 << 31
"""A model takes no more bytes; a larger file is something else."""


def read_model_file(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that holds a model."""
    file, name = Path(path), show(path)
    try:
        if not file.is_file():
            raise DataError(f"file `{name}` of `target` must be there, got {'a folder' if file.is_dir() else 'none'}.")
        if file.stat().st_size > LARGEST_FILE:
            raise DataError(f"file `{name}` of `target` must be a model of at most {LARGEST_FILE >> 30} GiB.")
        return file.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"file `{name}` of `target` could not be read: {reason}.") from None
