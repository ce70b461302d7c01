"""Queries to a database, through the ADBC driver for the scheme of its address."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

import pyarrow as pa

from counterfold.base.errors import ParameterError
from counterfold.io.files.paths import find_path
from counterfold.io.formats.base import ROWS
from counterfold.io.sources._stream import Stream
from counterfold.io.sources._uris import find_scheme, hide_secrets, read_path, show_uri

FORM = "an address like postgresql://HOST/DATABASE, sqlite:///FILE or duckdb:///FILE"

OURS = ("postgresql", "sqlite")
"""The drivers that come with the extra `sql`."""

READ = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|values|table|from)\b", re.IGNORECASE | re.DOTALL)
"""How a statement starts that returns rows."""

SKIPPED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)
"""What a semicolon does not end a statement in: texts and names in quotes, and comments."""

PREPARATIONS: dict[str, Sequence[str]] = {
    "postgresql": (
        "set transaction read only",
        "set local synchronize_seqscans = off",  # rows come in the same order in every pass
        "set local max_parallel_workers_per_gather = 0",
    ),
    "sqlite": ("pragma query_only = on",),
}
"""What is said to a database before the query: that it may write nothing, and that rows keep their order."""

OPTIONS: dict[str, Mapping[str, str]] = {"sqlite": {"adbc.sqlite.query.batch_rows": str(ROWS)}}
"""Settings of a driver: that of SQLite takes the types of columns from so many rows."""


def stream_database(query: str, uri: str) -> Stream:
    """Return the rows of a query to a database; each pass asks anew, in a connection that only reads."""
    scheme = find_scheme(uri) or ""
    scheme = {"postgres": "postgresql"}.get(scheme, scheme)
    driver = load_driver(scheme)
    if not READ.match(query):
        raise ParameterError("`sql` must be one SELECT statement, got something else.")
    if scheme == "sqlite":
        refuse_second_statement(query)
    place = f"file:{find_path(read_path(uri)).absolute().as_uri()[7:]}?mode=ro" if scheme == "sqlite" else uri

    @contextmanager
    def open_reader(_: Sequence[str] | None) -> Iterator[pa.RecordBatchReader]:
        with closing(driver.connect(place)) as connection, closing(connection.cursor()) as cursor:
            for statement in PREPARATIONS.get(scheme, ()):
                cursor.execute(statement)
            cursor.adbc_statement.set_options(**OPTIONS.get(scheme, {}))
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                yield make_numbers(reader)

    return Stream(f"the query to `{show_uri(uri)}`", open_reader, reword=hide_secrets(uri))


def refuse_second_statement(query: str) -> None:
    """Refuse a query of several statements, of which the driver of SQLite would run the first one alone.

    >>> refuse_second_statement("select ';' from log; -- no more")
    """
    bare = SKIPPED.sub(lambda found: "" if found[0].startswith(("--", "/*")) else "x", query)
    _, _, rest = bare.partition(";")
    if rest.strip("; \t\r\n\f\v"):
        raise ParameterError("`sql` must be one SELECT statement, got several. Keep the one that returns the log.")


def load_driver(scheme: str) -> Any:
    """Return the driver for databases whose addresses start so."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", scheme):
        raise ParameterError(f"`db` must be {FORM}, got something else.")
    try:
        return import_module(f"adbc_driver_{scheme}.dbapi")
    except ModuleNotFoundError:
        package = "'counterfold[sql]'" if scheme in OURS else f"adbc-driver-{scheme}"
        raise ParameterError(f"`db` of {scheme} needs its ADBC driver: pip install {package}.") from None


def make_numbers(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return a reader whose exact decimal numbers, which the driver of PostgreSQL hands out as texts, are numbers."""
    schema = reader.schema
    places = [place for place, one in enumerate(schema) if is_decimal_text(one.type)]
    if not places:
        return reader
    for place in places:
        schema = schema.set(place, schema.field(place).with_type(pa.float64()))

    def list_batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            columns = batch.columns
            for place in places:
                columns[place] = columns[place].storage.cast(pa.float64())
            yield pa.record_batch(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, list_batches())


def is_decimal_text(kind: pa.DataType) -> bool:
    """Say whether texts of a type are exact decimal numbers."""
    return isinstance(kind, pa.OpaqueType) and kind.type_name == "numeric"
