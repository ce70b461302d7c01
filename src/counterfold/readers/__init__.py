"""Readers: one file for each format, chosen by the end of a file's name."""

from pathlib import Path

from counterfold import registry
from counterfold.errors import DataError
from counterfold.readers.base import COMPRESSIONS, Reader


def find_reader(file: Path) -> Reader:
    """Return what reads a file, by the end of its name."""
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    endings = [ending.lower() for ending in file.suffixes if ending.lower() not in COMPRESSIONS]
    for reader in readers:
        if endings and endings[-1] in reader.suffixes:
            return reader
    known = ", ".join(suffix for reader in readers for suffix in reader.suffixes)
    raise DataError(f"`{file}` must end in one of {known}, got `{''.join(file.suffixes) or file.name}`.")
