"""Queries that DuckDB answers, from files that the query names, from frames, or from a database file of its own."""

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfold.base import capacity
from counterfold.base.errors import ParameterError
from counterfold.io.formats.base import ROWS
from counterfold.io.sources._stream import Stream, explain

NAME = "the query"

QUOTED = re.compile(r"""(['"])((?:(?!\1).|\1\1)*)\1""", re.DOTALL)
"""A text or a name in quotes, in which quotes are doubled."""

FORBIDDEN = re.compile(r'Cannot access file "(.*?)(?:/\*\*/\*\.\w+)?" - .*disabled')
"""What DuckDB says of a file that it may not look for, as the query does not name it or as it is not there."""

SETTINGS = {
    "threads": "1",  # with more of them, joins and groups come in another order every time
    "temp_directory": "''",  # nothing is written
    "python_enable_replacements": "false",  # names of tables are not those of variables
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
}
"""What a query may not do, besides reading files that it does not name."""


def stream_duckdb(query: str, database: str | None, tables: Mapping[str, pa.Table]) -> Stream:
    """Return the rows of a query; each pass runs it anew, in a connection of its own."""
    query = require_select(query)

    @contextmanager
    def open_reader(columns: Sequence[str] | None) -> Iterator[pa.RecordBatchReader]:
        with closing(connect(query, database, tables)) as connection:
            relation = connection.sql(query)
            if columns is not None:
                relation = relation.select(*map(load_duckdb().ColumnExpression, columns))
            with relation.to_arrow_reader(ROWS) as reader:
                yield reader

    def count_rows() -> int:
        with closing(connect(query, database, tables)) as connection:
            return int(connection.sql(query).count("*").fetchall()[0][0])

    return Stream(NAME, open_reader, count_rows, explain_access)


def explain_access(text: str) -> str:
    """Return what DuckDB said, or the likely reason where it may not look for a file.

    >>> explain_access('Permission Error: Cannot access file "a.csv" - file system operations are disabled')
    "`a.csv` must be a file that is there, and that the query names in quotes, as in 'logs/*.parquet'"
    """
    found = FORBIDDEN.search(text)
    rule = "must be a file that is there, and that the query names in quotes, as in 'logs/*.parquet'"
    return text if found is None else f"`{found[1]}` {rule}"


def load_duckdb(what: str = "`sql`", hint: str = "") -> Any:
    """Return the library, or say what needs it."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ParameterError(f"{what} needs duckdb: pip install 'counterfold[sql]'.{hint}") from None
    return duckdb


def require_select(query: str) -> str:
    """Return the only statement of a query, which must be one that only reads."""
    duckdb = load_duckdb()
    with explain(NAME, str), closing(duckdb.connect(":memory:")) as connection:
        found = connection.extract_statements(query)
    kinds = [one.type for one in found]
    if kinds != [duckdb.StatementType.SELECT]:
        got = " and ".join(kind.name for kind in kinds) or "none"
        raise ParameterError(f"`sql` must be one SELECT statement, got {got}.")
    ends = (start for start, _ in duckdb.tokenize(query) if query.encode()[start:].startswith(b";"))
    return query.encode()[: next(ends, None)].decode()


def connect(query: str, database: str | None, tables: Mapping[str, pa.Table], most_memory: int | None = None) -> Any:
    """Return a connection that reads the files that the query names, these tables, this database and nothing else.

    It may take half of the memory there is, and at most `most_memory` bytes.
    """
    connection = load_duckdb().connect(database or ":memory:", read_only=database is not None)
    half = capacity.find_memory() // 2
    memory = f"'{(half if most_memory is None else min(half, most_memory)) >> 20}MiB'"
    allowed = ", ".join(f"'{file.replace(chr(39), chr(39) * 2)}'" for file in list_named_files(query))
    for setting, value in {**SETTINGS, "memory_limit": memory, "allowed_paths": f"[{allowed}]"}.items():
        connection.execute(f"set {setting} = {value}")
    for name, table in tables.items():
        connection.register(name, table)
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def list_named_files(query: str) -> list[str]:
    """Return the files that a query names in quotes, and patterns that stand for some, as written and as found."""
    duckdb = load_duckdb()
    kinds = (duckdb.token_type.string_const, duckdb.token_type.identifier)
    found = []
    for start in (start for start, kind in duckdb.tokenize(query) if kind in kinds):
        quoted = QUOTED.match(query.encode()[start:].decode())
        text = quoted[2].replace(quoted[1] * 2, quoted[1]) if quoted else ""
        pattern = str(Path(text).expanduser()) if text else ""
        matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 (which takes no absolute patterns)
        found += [text, pattern, *(one for one in matches if Path(one).is_file())]
    return list(filter(None, dict.fromkeys(found)))
