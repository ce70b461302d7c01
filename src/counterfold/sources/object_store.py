"""Files of an object store, by addresses like `s3://bucket/logs/`: fetched once, or read in every pass."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
from pyarrow import fs

from counterfold.errors import DataError, ParameterError
from counterfold.files.folders import TABLES, is_left_alone
from counterfold.readers import find_reader
from counterfold.readers.arrow import Arrow
from counterfold.readers.base import BLOCK
from counterfold.readers.csv import Csv, choose_delimiter
from counterfold.readers.json_lines import JsonLines
from counterfold.readers.parquet import Parquet
from counterfold.sources._fetched import Fetched, Listed
from counterfold.sources._stream import Stream, explain
from counterfold.sources._uris import find_scheme, hide_secrets, show_uri
from counterfold.sources.base import RowSource, SourceKind
from counterfold.sources.dataset import stream_dataset

STORES = "a path, or an address of s3, gs, abfs, hdfs or hf (for a database, use `cf.sql` or --db)"


AZURE = ("abfs", "abfss")
"""Addresses of Azure, whose library may end the process."""

CONNECT = (
    "import sys; sys.path = [one for one in sys.path if one]; from pyarrow import fs; fs.FileSystem.from_uri(input())"
)
"""What a child process runs to see whether an address ends it; it asks nothing of the network."""

PATIENCE = 60
"""How many seconds the child process may take."""


class ObjectStore(SourceKind):
    """An address of a file system that pyarrow knows: a file, a folder of files, or a pattern of them with `*`."""

    @staticmethod
    def takes(value: Any) -> bool:
        return find_scheme(value) not in {None, "file"}

    @staticmethod
    def open(value: Any) -> RowSource:
        return open_address(str(value), None)

    @staticmethod
    def open_as(value: Any, format_: str) -> RowSource:
        return open_address(str(value), format_)


def open_address(uri: str, format_: str | None) -> RowSource:
    """Return the rows of all files at an address: fetched if there is room for them, or else read in every pass."""
    name = f"`{show_uri(uri)}`"
    with explain(name, hide_secrets(uri)):
        if find_scheme(uri) in AZURE:
            require_survival(uri)
        try:
            system, path = fs.FileSystem.from_uri(uri)
        except pa.ArrowInvalid as error:
            reason = hide_secrets(uri)(str(error)).splitlines()[0].rstrip(".")
            raise DataError(f"`source` must be {STORES}, got {name}: {reason}.") from None
        listed = list_files(system, path.rstrip("/"))
        if not listed.files:
            raise DataError(f"{name} must hold the files of a log, got none.")
        if listed.fits:
            return Fetched(listed, show_uri(uri).rstrip("/"), hide_secrets(uri), format_)
        if format_ is not None:
            raise ParameterError(f"`format` must be given for files that fit on the disk, got {format_} for {name}.")
        return stream_files(listed, name)


def require_survival(uri: str) -> None:
    """Refuse an address whose library ends the process that connects to it; a child process tries that first.

    Azure's library does so where it cannot use a setting of the environment, such as a certificate that is not there.
    Nobody can catch that.
    """
    if not sys.executable:
        return
    try:
        tried = subprocess.run(  # noqa: S603 (this very interpreter, and the address is not on its command line)
            [sys.executable, "-c", CONNECT], input=uri, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    if tried.returncode < 0:
        said = [line.strip().removeprefix("what():").strip() for line in tried.stderr.splitlines() if "what():" in line]
        reason = said[0].rstrip(".") if said else f"signal {-tried.returncode}"
        rule = "Azure's library ends the process that connects to it"
        raise OSError(f"{rule}: {reason}; mend these settings of Azure in the environment, or copy the files")


def stream_files(listed: Listed, name: str) -> Stream:
    """Return the rows of files of one format, which are read from the store in every pass."""
    files = [one.path for one in listed.files]
    readers = {type(find_reader(PurePosixPath(file))) for file in files}
    if len(readers) > 1:
        kinds = " and ".join(sorted(kind.__name__ for kind in readers))
        raise DataError(f"{name} must hold files of one format, got {kinds}.")
    options = ds.FileSystemFactoryOptions(partition_base_dir=listed.base, partitioning=ds.HivePartitioning.discover())
    layout = FORMATS[readers.pop()](listed.system, files[0])
    factory = ds.FileSystemDatasetFactory(listed.system, files, layout, options)
    return stream_dataset(factory.finish(factory.inspect(promote_options="permissive", fragments=None)), name)


def list_files(system: fs.FileSystem, path: str) -> Listed:
    """Return the folder that a path names, or the one before its pattern, and the files there, by their names."""
    if "*" not in path and (one := system.get_file_info(path)).type == fs.FileType.File:
        return Listed(system, path.rpartition("/")[0], path, [one])
    base = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
    found = system.get_file_info(fs.FileSelector(base, recursive=True))
    files = {one.path: one for one in found if one.type == fs.FileType.File}
    refuse_tables(base, list(files))
    if "*" in path:
        wanted = sorted(file for file in files if matches(file, path))
    else:
        inside = {file: file.removeprefix(base).strip("/").split("/") for file in files}
        wanted = sorted(file for file, parts in inside.items() if not any(map(is_left_alone, parts)))
    return Listed(system, base, path, [files[file] for file in wanted])


def refuse_tables(base: str, files: Sequence[str]) -> None:
    """Refuse tables with a history, some files of which hold rows that are gone."""
    for sign, (kind, way) in TABLES.items():
        if any(fnmatchcase(file, f"{base}/{sign}") or file.startswith(f"{base}/{sign}/") for file in files):
            raise DataError(f"`{base}` is a table of {kind}: read it by {way}, and evaluate that.")


def matches(file: str, pattern: str) -> bool:
    """Say whether each part of a path is as the pattern says."""
    parts, wanted = file.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def find_text_format(system: fs.FileSystem, file: str) -> ds.CsvFileFormat:
    """Return how texts are read: as those of this machine are, but that the first rows tell the types."""
    with system.open_input_stream(file) as opened:
        delimiter = choose_delimiter(opened.read(1 << 16))
    return ds.CsvFileFormat(
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False),
        read_options=pyarrow.csv.ReadOptions(block_size=BLOCK),
    )


FORMATS: dict[type, Callable[[fs.FileSystem, str], ds.FileFormat]] = {
    Parquet: lambda *_: ds.ParquetFileFormat(),
    Arrow: lambda *_: ds.IpcFileFormat(),
    JsonLines: lambda *_: ds.JsonFileFormat(),
    Csv: find_text_format,
}
"""What pyarrow reads files of each format by; the first file tells what its name does not."""
