"""Files and folders of this machine."""

from os import PathLike
from typing import Any

from counterfold.files import Files
from counterfold.sources._uris import find_scheme
from counterfold.sources.base import RowSource, SourceKind


class LocalPath(SourceKind):
    """The path of a file or a folder, or a pattern of paths like `logs/*.parquet`."""

    @staticmethod
    def takes(value: Any) -> bool:
        return isinstance(value, (str, PathLike)) and find_scheme(value) is None

    @staticmethod
    def open(value: Any) -> RowSource:
        return Files.of(value)
