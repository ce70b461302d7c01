"""Files of an object store, by addresses like `s3://bucket/logs/`: fetched once, or read in every pass."""

import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
from pyarrow import fs

from counterfold.base.errors import DataError, ParameterError
from counterfold.io.files.folders import TABLES, is_left_alone
from counterfold.io.formats import find_reader
from counterfold.io.formats.arrow import Arrow
from counterfold.io.formats.base import BLOCK
from counterfold.io.formats.csv import Csv, choose_delimiter
from counterfold.io.formats.json_lines import JsonLines
from counterfold.io.formats.parquet import Parquet
from counterfold.io.sources._fetched import Fetched, Listed
from counterfold.io.sources._stream import Stream, explain
from counterfold.io.sources._uris import find_scheme, hide_secrets, show_uri
from counterfold.io.sources.base import RowSource, SourceKind
from counterfold.io.sources.dataset import stream_dataset

STORES = "a path, or an address of s3, gs, abfs, hdfs or hf (for a database, use `cf.sql` or --db)"


AZURE = ("abfs", "abfss")
"""Addresses of Azure, whose library may end the process."""

ENDPOINTS, CERTIFICATE = ("MSI_ENDPOINT", "IDENTITY_ENDPOINT"), "AZURE_CLIENT_CERTIFICATE_PATH"
"""Settings of the environment at which the library ends the process where they are wrong."""


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
            require_settings()
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


def require_settings() -> None:
    """Refuse settings of the environment at which Azure's library ends the process; nobody can catch that."""
    for name in ENDPOINTS:
        value = os.environ.get(name)
        if value and find_scheme(value) not in {"http", "https"}:
            raise OSError(
                f"the setting {name} of the environment must be an address of http, which Azure's library needs"
            )
    certificate = os.environ.get(CERTIFICATE)
    if certificate and not (certificate.endswith(".pem") and Path(certificate).is_file()):
        raise OSError(f"the setting {CERTIFICATE} of the environment must be a file that ends in .pem")


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
