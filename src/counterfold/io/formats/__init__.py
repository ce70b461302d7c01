"""Readers: one file for each format, chosen by its name or by the end of a file's name."""

from collections.abc import Collection
from functools import cache
from pathlib import PurePath

from counterfold.base import messages, registry
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.notation import split_head
from counterfold.io.formats.base import COMPRESSIONS, Reader


@cache
def list_readers() -> dict[str, Reader]:
    """Return what reads files of each ending."""
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    return {suffix: reader for reader in readers for suffix in reader.suffixes}


def find_ending(file: PurePath) -> str:
    """Return the end of a file's name that tells its format, before any compression's."""
    return next((one.lower() for one in reversed(file.suffixes) if one.lower() not in COMPRESSIONS), "")


def find_reader(file: PurePath, name: str | None = None) -> Reader:
    """Return what reads a file, by the name of its format, which may carry settings, or by the end of its own."""
    if name is not None:
        return build_reader(name)
    readers = list_readers()
    if find_ending(file) in readers:
        return readers[find_ending(file)]
    known = ", ".join(readers)
    way = "Name its format if it is one of these: `format='csv'` (--format csv)."
    raise DataError(f"`{file}` must end in one of {known}, got `{''.join(file.suffixes) or file.name}`. {way}")


def build_reader(name: str) -> Reader:
    """Return what reads a format, by its name or by an ending of its files, such as `jsonl`."""
    known, endings = registry.names("readers"), list_readers()
    written, _ = split_head(name) if isinstance(name, str) else ("", "")
    word = written
    ending = f".{word.lower().removeprefix('.')}"
    if word not in known and ending in endings:
        word = type(endings[ending]).__module__.rpartition(".")[2].replace("_", "-")
    if word not in known:
        hint = messages.suggest(str(name), known)
        raise ParameterError(f"`format` must be one of {', '.join(known)}, got {messages.shorten(name)}.{hint}")
    found: Reader = registry.build("readers", word + name[len(written) :])
    return found


def suggest_format(columns: Collection[str]) -> str:
    """Return a sentence that suggests the format of a table with such columns, if they are those of another tool."""
    for name in registry.names("readers"):
        if any(set(signs) <= set(columns) for signs in registry.find("readers", name).signs):
            way = f"give the file with `format={name!r}` (--format {name})"
            return f" Its columns are those of the format {name!r}: {way}."
    return ""
