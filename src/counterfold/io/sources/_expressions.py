"""Expression: a number of every row that DuckDB computes from the row's columns, such as `score - 0.2 * cost`."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, Queue
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfold.base import messages
from counterfold.base.errors import CounterfoldError, DataError, ParameterError
from counterfold.base.notation import count_nested_parentheses
from counterfold.base.validation import NUMBER
from counterfold.io.sources._duckdb import connect, load_duckdb

TABLE = "log"

PARTS = {
    "FUNCTION",
    "COLUMN_REF",
    "CONSTANT",
    "CASE",
    "CAST",
    "COMPARISON",
    "CONJUNCTION",
    "OPERATOR",
    "BETWEEN",
    "TYPE",
}
"""What DuckDB calls the parts that an expression may have: none of them looks at other rows or tables."""

KINDS = "select function_type, stability from duckdb_functions() where function_name = $1"
SKIPPING = {"greatest", "least"}
"""Functions that leave out what is missing, so that they give a number where one of their columns has none."""

GROWING = {
    "repeat",
    "lpad",
    "rpad",
    "printf",
    "format",
    "bar",
    "range",
    "generate_series",
    "list_resize",
    "array_resize",
}
"""Functions that make texts or lists of any length from a short one, for which no number of a row needs to be made."""

MEMORY = 1 << 30
"""How many bytes DuckDB may take for an expression, besides the columns."""

PATIENCE = 300.0
"""How many seconds an expression may take for some rows; simple ones take a second for ten million."""

DEEPEST = 1000
"""How many parentheses may be open. DuckDB takes no more than a thousand, and minutes if ten thousand never close."""

LASTING = ("scalar", "CONSISTENT"), ("macro", None)
"""The kinds of functions that give the same number for the same row, whenever they are asked."""

WRITTEN, FAILED = "must be a column, or an expression in SQL of columns", "could not be computed"


@dataclass(frozen=True)
class Constant:
    """The same number in every row for a role, which needs no column."""

    role: str
    text: str
    value: float
    columns: tuple[str, ...] = ()
    skipping: tuple[str, ...] = ()

    def compute(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the number of each row."""
        return pa.chunked_array([pa.array(np.full(table.num_rows, self.value))])

    def find_type(self, schema: pa.Schema) -> pa.DataType:
        """Return the type of a number."""
        return pa.float64()


@dataclass(frozen=True)
class Expression:
    """An expression in SQL for a role, the columns of its row that it reads, and its functions that skip gaps."""

    role: str
    text: str
    columns: tuple[str, ...]
    skipping: tuple[str, ...] = ()

    def compute(self, table: pa.Table) -> pa.ChunkedArray:
        """Return the number of each row, none where the expression gives none."""
        return self._select(table, load_duckdb().SQLExpression(self.text).cast("DOUBLE"))

    def find_type(self, schema: pa.Schema) -> pa.DataType:
        """Return the type of what is computed, before it is made a number."""
        found = self._select(schema.empty_table(), load_duckdb().SQLExpression(self.text))
        if len(found):
            raise ParameterError(f"{name_expression(self.role, self.text)} must be computed from each row alone.")
        return found.type

    def _select(self, table: pa.Table, expression: Any) -> pa.ChunkedArray:
        rows = {TABLE: unify_numbers(table.select(self.columns))}
        rule = f"{name_expression(self.role, self.text)} {FAILED}"

        def select(connection: Any) -> pa.ChunkedArray:
            return connection.table(TABLE).select(expression.alias("found")).to_arrow_table().column(0)

        with explain(rule):
            return run_within(PATIENCE, connect("", None, rows, most_memory=MEMORY), select, rule)


Computed = Expression | Constant
"""What makes a column that is not in the table, and is called as it is written."""


def run_within(seconds: float, connection: Any, work: Callable[[Any], pa.ChunkedArray], rule: str) -> pa.ChunkedArray:
    """Return what DuckDB computes in a connection, in a thread of its own, so that it can be interrupted.

    The main thread only waits. So Ctrl-C ends the program at once, and so does the end of its patience.
    """
    found: Queue[Any] = Queue()

    def compute() -> None:
        try:
            with closing(connection):
                found.put((work(connection), None))
        except BaseException as error:  # noqa: BLE001 (whatever it is, the thread that waits raises it)
            found.put((None, error))

    Thread(target=compute, daemon=True).start()
    try:
        value, error = found.get(timeout=seconds)
    except Empty:
        connection.interrupt()
        raise DataError(f"{rule}: it takes more than {seconds:g} seconds. Compute it as a column of its own.") from None
    except BaseException:  # such as Ctrl-C
        connection.interrupt()
        raise
    if error is not None:
        raise error
    return value


@lru_cache  # each of several rewards asks what columns the others need
def parse_expression(role: str, text: str, columns: tuple[str, ...]) -> Computed | None:
    """Return what is to be computed of columns for a role, checked; nothing if a text is no more than a name.

    A reward needs a column; anything else may be one number for all rows.
    """
    if text.isidentifier() or not is_unicode(text):
        return None
    may_be_constant = role != "reward"
    if may_be_constant and NUMBER.fullmatch(text):
        return Constant(role, text, float(text))
    called, hint = name_expression(role, text), messages.suggest(text, columns)
    load_duckdb(f"{called} {WRITTEN}; an expression", hint)
    with explain(f"{called} {WRITTEN}", hint), closing(connect("", None, {})) as connection:
        parts = list(list_parts(parse_sql(text, called, connection)))
        for part in parts:
            require_row_alone(part, called, connection)
        read = [one["column_names"] for one in parts if one["class"] == "COLUMN_REF"]
        if not read and may_be_constant:
            [(value,)] = connection.execute(f"select (\n{text}\n)::double").fetchall()
            return Constant(role, text, np.nan if value is None else value)
    if len(parts) == len(read) == 1:
        return None
    if not read:
        raise ParameterError(f"{called} must be computed from columns, got none.")
    found = tuple(dict.fromkeys(find_column(names, columns, called, hint) for names in read))
    if len({name.casefold() for name in found}) < len(found):
        got = messages.list_names(found)
        raise ParameterError(f"{called} must read columns that differ not in case alone, got {got}.")
    functions = dict.fromkeys(one["function_name"].lower() for one in parts if one["class"] == "FUNCTION")
    return Expression(role, text, found, tuple(name for name in functions if name in SKIPPING))


def parse_sql(text: str, called: str, connection: Any) -> Any:
    """Return the tree that DuckDB makes of an expression."""
    duckdb = load_duckdb()
    too_deep = f"{called} must have fewer operations within each other. Compute it as a column of its own."
    if count_nested_parentheses(text) > DEEPEST:
        raise ParameterError(too_deep)
    duckdb.SQLExpression(text)  # which must be one, and nothing behind it
    [(parsed,)] = connection.execute("select json_serialize_sql($1::varchar)", [f"select (\n{text}\n)"]).fetchall()
    try:
        tree = json.loads(parsed)
    except RecursionError:
        raise ParameterError(too_deep) from None
    if tree["error"]:  # it has a name of its own, such as `a as b`, or `a b`
        raise duckdb.ParserException("Parser Error: syntax error")
    return tree["statements"][0]["node"]["select_list"]


def unify_numbers(table: pa.Table) -> pa.Table:
    """Return a table whose whole numbers cannot overflow, and with nothing in place of what is not a number.

    To DuckDB a NaN is larger than any other number.
    """
    for place, one in enumerate(table.schema):
        column = table.column(place)
        if pa.types.is_integer(one.type):
            column = column.cast(pa.float64() if one.type == pa.uint64() else pa.int64())
        elif pa.types.is_floating(one.type):
            column = pc.if_else(pc.is_nan(column), None, column.cast(pa.float64()))
        table = table.set_column(place, one.name, column)
    return table


def list_parts(node: Any) -> Iterator[dict[str, Any]]:
    """Yield all parts of a parsed expression, in the order in which they are written."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "class" in node:
                yield node
            waiting += reversed(node.values())
        elif isinstance(node, list):
            waiting += reversed(node)


def is_unicode(text: str) -> bool:
    """Say whether a text can be encoded: one that a shell has passed on may hold bytes that are no characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_row_alone(part: dict[str, Any], called: str, connection: Any) -> None:
    """Refuse a part that looks at other rows or tables, or that is another number every time."""
    kind, name = part["class"], messages.show(part.get("function_name") or "")
    rule = f"{called} must be computed from each row alone, and always be the same"
    if kind not in PARTS:
        raise ParameterError(f"{rule}, got a {kind.lower().replace('_', ' ')}{f' of `{name}`' if name else ''}.")
    if kind == "FUNCTION":
        kinds = connection.execute(KINDS, [part["function_name"].lower()]).fetchall()
        if kinds and not set(LASTING) & set(kinds):
            raise ParameterError(f"{rule}, got the function `{name}`.")
        if part["function_name"].lower() in GROWING:
            rule = f"{called} must be computed without texts or lists of any length"
            raise ParameterError(f"{rule}, got the function `{name}`. Compute it as a column of its own.")


def find_column(names: Sequence[str], columns: Sequence[str], called: str, hint: str) -> str:
    """Return the column that an expression means: its names may begin with the table's, and end with a field's."""
    known = {column.casefold(): column for column in reversed(columns)}
    name = names[1] if names[0] == TABLE and TABLE not in known and len(names) > 1 else names[0]
    if name.casefold() in known:
        return name if name in columns else known[name.casefold()]
    hint, found = messages.suggest(name, columns) or hint, messages.list_names(columns)
    raise DataError(f"column `{messages.show(name)}` must be there, for {called}.{hint} Found: {found}.")


def name_expression(role: str, text: str) -> str:
    """Return what errors call an expression."""
    return f"the {role} `{messages.show(text)}`"


@contextmanager
def explain(rule: str, hint: str = "") -> Iterator[None]:
    """Turn what DuckDB says of an expression into one sentence."""
    try:
        yield
    except (CounterfoldError, MemoryError):
        raise
    except load_duckdb().Error as error:
        reason = str(error).strip().splitlines()[0].partition(": ")[2].rstrip(".!")
        raise DataError(f"{rule}: {reason}.{hint}") from None
