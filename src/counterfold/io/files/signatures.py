"""What a file is by its first bytes, where its name says something else."""

from pathlib import Path

from counterfold.base.errors import DataError
from counterfold.io.files.paths import explain_path
from counterfold.io.formats.base import COMPRESSIONS, open_stream

SAVE = "save it as UTF-8"
EXPORT = "export it as Parquet or CSV"

SIGNATURES = {
    b"PAR1": (".parquet .pq", "Parquet", "name it like {name}.parquet"),
    b"ARROW1": (".arrow .feather .ipc .arrows", "Arrow", "name it like {name}.arrow"),
    b"\x1f\x8b": (".gz", "packed by gzip", "unpack it, or name it like {name}.gz"),
    b"BZh": (".bz2", "packed by bzip2", "unpack it, or name it like {name}.bz2"),
    b"\x28\xb5\x2f\xfd": (".zst", "packed by Zstandard", "unpack it, or name it like {name}.zst"),
    b"\x04\x22\x4d\x18": (".lz4", "packed by LZ4", "unpack it, or name it like {name}.lz4"),
    b"\xff\xfe": ("", "UTF-16 text", SAVE),
    b"\xfe\xff": ("", "UTF-16 text", SAVE),
    b"PK\x03\x04": ("", "a zip archive or an Excel workbook", "unpack it, or export it as CSV"),
    b"\xd0\xcf\x11\xe0": ("", "an old Excel workbook", EXPORT),
    b"SQLite format 3": ("", "an SQLite database", EXPORT),
    b"\x89HDF": ("", "HDF5", EXPORT),
    b"\x93NUMPY": ("", "an array of NumPy", EXPORT),
    b"Obj\x01": ("", "Avro", EXPORT),
    b"ORC": ("", "ORC", EXPORT),
    b"\x80\x04\x95": ("", "a pickle of Python", EXPORT),
    b"\x80\x05\x95": ("", "a pickle of Python", EXPORT),
}
"""The first bytes of kinds of files: the endings of names that such a file may have, what it is, and what to do."""


def require_kind(file: Path) -> None:
    """Require a file that is what the end of its name says, as far as its first bytes tell."""
    with explain_path(file), file.open("rb") as opened:
        start = opened.read(16)
    if not start:
        raise DataError(f"`{file}` must not be empty, got 0 bytes.")
    ending = file.suffix.lower()
    _refuse_packed_twice(file)
    for signature, (endings, what, way_out) in SIGNATURES.items():
        if start.startswith(signature) and ending not in endings.split():
            raise DataError(f"`{file}` is {what}, which its name does not say: {way_out.format(name=file.name)}.")
        if ending in COMPRESSIONS and ending in endings.split() and not start.startswith(signature):
            raise DataError(f"`{file}` is not {what}, as its name says: name it `{file.stem}` if it is plain text.")


def _refuse_packed_twice(file: Path) -> None:
    """Refuse a packed file in which there is another one."""
    if file.suffix.lower() not in COMPRESSIONS:
        return
    try:
        with open_stream(file) as stream:
            start = stream.read(16)
    except OSError:
        return  # what is wrong is said by whoever reads it
    for signature, (_, what, _) in SIGNATURES.items():
        if start.startswith(signature):
            raise DataError(f"`{file}` holds a file that is {what}, which its name does not say: unpack it.")
