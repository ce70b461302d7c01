"""Files and folders of this machine."""

from os import PathLike
from typing import Any

from counterfold.io.files import Files
from counterfold.io.sources._uris import find_scheme, read_path
from counterfold.io.sources.base import RowSource, SourceKind


class LocalPath(SourceKind):
    """The path of a file or a folder, or a pattern of paths like `logs/*.parquet`."""

    @staticmethod
    def takes(value: Any) -> bool:
        return isinstance(value, (str, PathLike)) and find_scheme(value) in {None, "file"}

    @staticmethod
    def open(value: Any) -> RowSource:
        return Files.of(find_file(value))

    @staticmethod
    def open_as(value: Any, format_: str) -> RowSource:
        return Files.of(find_file(value), format_)


def find_file(value: str | PathLike[str]) -> str | PathLike[str]:
    """Return the path of a file, which may be given as an address."""
    return value if find_scheme(value) is None else f"/{read_path(str(value)).lstrip('/')}"
