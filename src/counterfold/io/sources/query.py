"""Queries in SQL: `sql` makes one, to files and frames by DuckDB, or to a database."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import shorten, show
from counterfold.io.files.paths import explain_path, find_path
from counterfold.io.files.schemas import require_readable
from counterfold.io.sources._database import stream_database
from counterfold.io.sources._duckdb import stream_duckdb
from counterfold.io.sources._stream import Stream
from counterfold.io.sources._uris import find_scheme, read_path, show_uri
from counterfold.io.sources.base import RowSource, SourceKind
from counterfold.io.sources.frame import Frame


@dataclass(frozen=True, eq=False, repr=False)
class Query(SourceKind):
    """A query in SQL whose rows are a log; `sql` makes one."""

    text: str
    db: str | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    @staticmethod
    def takes(value: Any) -> bool:
        return isinstance(value, Query)

    @staticmethod
    def open(value: Any) -> RowSource:
        query: Query = value
        return query.stream()

    def stream(self) -> Stream:
        """Return the rows of the query, none of which is read yet."""
        if self.db is None:
            return stream_duckdb(self.text, None, self.tables)
        if find_scheme(self.db) == "duckdb":
            return stream_duckdb(self.text, str(find_path(read_path(self.db))), self.tables)
        return stream_database(self.text, self.db)

    def __repr__(self) -> str:
        return f"sql({self.text!r})" if self.db is None else f"sql({self.text!r}, db={show_uri(self.db)!r})"


def sql(query: str, /, db: str | None = None, **frames: Any) -> Query:
    """Return a query in SQL as a source of a log, for `evaluate`, `LogScan` and `read_log`.

    - Without `db`, DuckDB runs it on files that it names (`from 'logs/*.parquet'`), or on `frames` by their names. It
      reads nothing else, writes nothing, uses no network, and loads no extensions.
    - `db` is the address of a database, `postgresql://...`, `sqlite:///FILE` or `duckdb:///FILE`, or of any other one
      whose ADBC driver is installed. The query runs where it cannot write, as far as the database knows such a way.

    Needs the extra `sql`. Few rows are kept in memory; many are asked for again in every pass, and must be the same
    ones in the same order.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> shown = pa.table({"item": ["a", "b", "a"], "p": [0.5, 0.5, 0.8], "click": [1, 0, 1]})
    >>> query = cf.sql("select item as action, p as propensity, click as reward from shown", shown=shown)
    >>> cf.read_log(query)
    Log(3 rows, 2 actions, 0 context columns, propensities only)
    """
    for name, value in {"sql": query, "db": db or "none"}.items():
        if not isinstance(value, str) or not value.strip():
            raise ParameterError(f"`{name}` must be text, got {shorten(value) if name == 'sql' else 'something else'}.")
    if db is not None and frames:
        raise ParameterError(f"frames must be queried without `db`, got both `db` and {', '.join(frames)}.")
    found = Query(query, db, {name: read_frame(name, value) for name, value in frames.items()})
    found.stream()
    return found


def choose_source(source: Any, query: str | None, db: str | None) -> Any:
    """Return where the log of a command is: a file or a query, and not both."""
    if (source is None) == (query is None):
        got = "neither" if query is None else "both"
        raise ParameterError(f"the log must be either LOG, a file or folder, or --sql QUERY, got {got}.")
    if query is None and db is not None:
        raise ParameterError("--db must be given with --sql QUERY, got LOG.")
    return source if query is None else sql(query, db=db)


def read_query(text: str) -> str:
    """Return the query that an option gives: as it is, or in a file whose name ends in `.sql`."""
    name = text.strip()
    is_there = os.path.isfile(name)  # noqa: PTH113 (which does not fail on a text that is no path)
    if not name.lower().endswith(".sql") or (not is_there and len(name.split()) > 1):
        return text
    if not is_there:
        rule = "must be a file with a query, as its name ends in `.sql`, but there is none"
        raise DataError(f"`{show(name)}` {rule}; write the query itself behind --sql, or the path of its file.")
    with explain_path(Path(name)):
        return Path(name).read_text(encoding="utf-8-sig")


def show_source(source: str) -> str:
    """Return where a log is, a path or an address, without passwords."""
    return show_uri(source) if find_scheme(source) else source


def read_frame(name: str, value: Any) -> pa.Table:
    """Return a frame that a query may use by its name."""
    if not Frame.takes(value):
        raise ParameterError(f"`{name}` must be a data frame in memory, got {type(value).__name__}.")
    frame = Frame.open(value)
    require_readable(frame.schema, frame.schema.names)  # nobody knows which columns the query uses
    capacity.require_rows(frame.rows, frame.size)
    return frame.table()
