"""The files of a folder that is one log, and what the names of its folders say of their rows."""

import filecmp
import glob
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from counterfold.base.errors import DataError
from counterfold.io.files.paths import State, explain_path, is_pattern
from counterfold.io.formats.base import leave_out

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder, behind `KEY=`, whose rows have no value."""

TABLES = {
    "_delta_log": ("Delta", "deltalake.DeltaTable(path).to_pyarrow_dataset()"),
    ".hoodie": ("Hudi", "an engine that knows its format"),
    "metadata/version-hint.text": ("Iceberg", "pyiceberg's table.scan().to_arrow()"),
    "metadata/*.metadata.json": ("Iceberg", "pyiceberg's table.scan().to_arrow()"),
}
"""What is only in folders of tables with a history, some files of which hold rows that are gone; what reads them."""

NAMED = "it is in the names of folders; name it in `context` if it helps to predict rewards"


@dataclass(frozen=True)
class Part:
    """One file of a log; `keys` are what the names of its folders say, such as {"day": "7"} for `day=7`."""

    file: Path
    state: State
    keys: Mapping[str, str | None] = field(default_factory=dict)


def list_parts(path: Path) -> list[Part]:
    """Return the file at a path, or all files of the folder or pattern that it is, in the order of their names."""
    if path.is_file():
        return [Part(path, State.of(path))]
    with explain_path(path):
        found = _match(path) if is_pattern(path) else _walk(path, {})
        parts = sorted(found, key=lambda part: str(part.file))
    if not parts:
        got = "no file that is like it" if is_pattern(path) else "an empty folder"
        raise DataError(f"`{path}` must hold the files of a log, got {got}.")
    other = next((part for part in parts if part.keys.keys() != parts[0].keys.keys()), None)
    if other is not None:
        raise DataError(f"`{path}` must have folders named alike, got `{parts[0].file}` and `{other.file}`.")
    return parts


def _walk(folder: Path, keys: dict[str, str | None]) -> Iterator[Part]:
    """Yield the files of a folder, and of those below that are named KEY=VALUE."""
    for sign, (kind, way) in TABLES.items():
        if any(folder.glob(sign)):
            rule = f"is a table of {kind}, some files of which may hold rows that are gone"
            raise DataError(f"`{folder}` {rule}: read it by {way}, and evaluate that.")
    for found in sorted(folder.iterdir()):
        name = found.name
        if is_left_alone(name):
            continue
        if not found.is_dir():
            yield Part(found, State.of(found), keys)
            continue
        if "=" not in name:
            rule = "must hold files, or folders named like `day=7`"
            raise DataError(f"`{folder}` {rule}, got the folder `{name}`: name the folder whose files are the log.")
        yield from _walk(found, keys | _read_key(name))


def _match(pattern: Path) -> Iterator[Part]:
    """Yield the files that a pattern stands for; names of folders say something of rows from where it varies on."""
    for found in map(Path, glob.glob(str(pattern), recursive=True)):  # noqa: PTH207 (which takes no absolute patterns)
        if not found.is_file():
            raise DataError(f"`{pattern}` must stand for files, got the folder `{found}`: add `/*` to the pattern.")
        varied = [mine for mine, said in zip(found.parts, pattern.parts, strict=False) if mine != said][:-1]
        keys: dict[str, str | None] = {}
        for name in (name for name in varied if "=" in name):
            keys |= _read_key(name)
        yield Part(found, State.of(found), keys)


def _read_key(name: str) -> dict[str, str | None]:
    """Return what the name of a folder like `day=7` says."""
    key, _, value = name.partition("=")
    return {unquote(key): None if value == NO_VALUE else unquote(value)}


def is_left_alone(name: str) -> bool:
    """Say whether a file or folder is none of a log: marks of success, checksums and work that was not finished."""
    return name.startswith((".", "_")) and "=" not in name


def refuse_copies(parts: Iterable[Part]) -> None:
    """Refuse two files with the same bytes, and the same names of folders: the rows of a backup would count twice."""
    by_size: dict[Any, list[Part]] = {}
    for part in parts:
        same = by_size.setdefault((part.state.size, tuple(part.keys.items()), _read_end(part)), [])
        for other in same:
            if filecmp.cmp(part.file, other.file, shallow=False):
                both = f"`{other.file}` and `{part.file}`"
                raise DataError(f"{both} must differ, but are the same file twice; take one of them away.")
        same.append(part)


def _read_end(part: Part) -> bytes:
    with explain_path(part.file), part.file.open("rb") as opened:
        opened.seek(max(0, part.state.size - 4096))
        return opened.read()


def key_fields(parts: Sequence[Part]) -> list[pa.Field]:
    """Return the columns that the names of folders make: whole numbers where all values are some, and texts."""
    fields = []
    for key in parts[0].keys:
        values = [part.keys[key] for part in parts]
        is_whole = all(value is None or re.fullmatch(r"-?(0|[1-9]\d{0,17})", value) for value in values)
        fields.append(leave_out(pa.field(key, pa.int64() if is_whole else pa.string()), NAMED))
    return fields
