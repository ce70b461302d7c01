"""Readers: one file for each format, chosen by the end of a file's name."""

from functools import cache
from pathlib import PurePath

from counterfold import registry
from counterfold.errors import DataError
from counterfold.readers.base import COMPRESSIONS, Reader


@cache
def list_readers() -> dict[str, Reader]:
    """Return what reads files of each ending."""
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    return {suffix: reader for reader in readers for suffix in reader.suffixes}


def find_ending(file: PurePath) -> str:
    """Return the end of a file's name that tells its format, before any compression's."""
    return next((one.lower() for one in reversed(file.suffixes) if one.lower() not in COMPRESSIONS), "")


def find_reader(file: PurePath) -> Reader:
    """Return what reads a file, by the end of its name."""
    readers = list_readers()
    if find_ending(file) in readers:
        return readers[find_ending(file)]
    known = ", ".join(readers)
    raise DataError(f"`{file}` must end in one of {known}, got `{''.join(file.suffixes) or file.name}`.")
