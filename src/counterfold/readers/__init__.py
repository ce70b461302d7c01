"""read_log() and read_target(): files and data frames, with columns mapped by name.

A path is read by the reader whose suffix it has (one file each in this folder); anything else that speaks Arrow
(pandas, polars, pyarrow, DuckDB relations) is taken as it is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfold import registry, words
from counterfold.errors import CounterfoldError, DataError
from counterfold.log import Log
from counterfold.readers.base import COMPRESSIONS, Reader

if TYPE_CHECKING:
    import pyarrow as pa


def read_log(  # noqa: PLR0913 (a log has many parts)
    source: Any,
    *,
    action: str | None = None,
    reward: str = "reward",
    propensity: str | None = None,
    logging_probs: str | None = None,
    context: Sequence[str] | None = None,
    group: str | None = None,
    available: str | None = None,
    actions: Sequence[Any] | None = None,
    action_features: Any = None,
    logger: str | None = None,
    logger_probs: str | None = None,
    dose: str | None = None,
    ignore: Sequence[str] = ("target",),
) -> Log:
    """Return the log in a file or data frame.

    Every role is looked for in the column of that very name, or in the one that you name. `dose` takes the place of
    `action` where there is no column `action`, or where you name it. Probabilities (n x A) are a column of lists, a
    struct from action to probability, JSON text of either, or columns named `logging_probs.ACTION` or
    `logging_probs_ACTION`; `logger_probs` are such a column, or such columns, for each logger (`logger_probs.LOGGER`),
    or one struct or JSON object from logger to them. `context` is every other numeric column; list the columns
    (numbers, or lists of numbers) to choose, and name in `ignore` what the default must leave alone, such as columns of
    target policies. `action_features` is a second file or data frame with a row for each action: its label, in a column
    named like the log's, and numbers or lists of numbers.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> table = pa.table({
    ...     "age": [31, 52, 47], "action": ["a", "b", "a"], "reward": [1.0, 0.0, 0.5], "propensity": [0.5, 0.5, 0.8],
    ... })
    >>> cf.read_log(table).context_names
    ('age',)
    """
    from counterfold.readers import _roles

    table = read_table(source)
    named = {"action": action, "dose": dose, "reward": reward, "propensity": propensity, "group": group}
    named |= {"logging_probs": logging_probs, "available": available, "logger": logger, "logger_probs": logger_probs}
    roles = _roles.found(table, named)
    chosen = [context] if isinstance(context, str) else context
    _roles.require(table, roles, chosen or ())
    inputs = {"context": _roles.context_of(table, roles, chosen, ignore), "actions": actions}
    if action_features is not None:
        inputs["action_features"] = _features(action_features, roles.get("action"))
    with columns_named(roles):
        return Log(**_roles.read(table, roles), **inputs)


def _features(source: Any, action: str | None) -> Any:
    """Return the features of each action by its label, from a source of their own; a log of doses will refuse them."""
    from counterfold.readers import _columns, _roles

    if action is None:
        return source
    try:
        table = read_table(source)
        _roles.require(table, {"action": action})
        return _columns.by_action(table, action)
    except DataError as error:
        raise DataError(f"in `action_features`, {error}") from None


def read_target(source: Any, column: str) -> Any:
    """Return a target's probabilities or doses, or predicted rewards, from a file or data frame, for `evaluate`.

    A column of numbers holds the probabilities of the logged actions alone, or the doses that the target would give.
    Probabilities of all actions, or several doses per row, are laid out in any of the ways that `read_log` takes for
    `logging_probs`.

    >>> import counterfold as cf
    >>> cf.read_target({"action": ["a", "b"], "target": [0.9, 0.1]}, "target")
    array([0.9, 0.1])
    """
    from counterfold.readers import _columns as columns
    from counterfold.readers import _roles

    table = read_table(source)
    _roles.require(table, {"target": column})
    if column in table.column_names and columns.is_numeric(table.column(column).type):
        return columns.numbers(table, column)
    return columns.matrix(table, column)


@contextmanager
def columns_named(roles: dict[str, str]) -> Iterator[None]:
    """Name the column beside its role in errors, which name the role first, where the two differ."""

    def named(match: re.Match[str]) -> str:
        role = match.group(1)
        column = roles.get(role, role)
        return f"`{role}`" if column == role else f"`{role}` (column `{column}`)"

    try:
        yield
    except CounterfoldError as error:
        raise type(error)(re.sub("`([^`]*)`", named, str(error), count=1)) from None


def read_table(source: Any) -> "pa.Table":
    """Return a file, a data frame or a mapping of columns as an Arrow table."""
    import pyarrow as pa

    if isinstance(source, (str, PathLike)):
        table = _read_file(Path(source))
    else:
        try:
            table = pa.table(source)
        except (TypeError, ValueError, pa.ArrowInvalid) as error:
            raise DataError(f"`source` must be a path or a data frame, got {type(source).__name__}: {error}") from None
    names = table.column_names
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"columns must have different names, got {words.listed(repeated)} more than once.")
    return table.drop_columns([name for name in names if name.startswith("__index_level_")])


def _read_file(path: Path) -> "pa.Table":
    import pyarrow as pa

    if not path.exists():
        raise DataError(f"`{path}` must be a file, but there is none.")
    reader = _reader(path)
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"`{path}` must not be empty, got 0 bytes.")
    try:
        table = reader.table(path)
        names = table.column_names
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(f"`{path}` could not be read as {type(reader).__name__}: {reason}.") from error
    if not names or table.num_rows == 0:
        raise DataError(f"`{path}` must hold at least 2 rows, got none.")
    return table


def _reader(path: Path) -> Reader:
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in COMPRESSIONS][-1:]
    if path.is_dir():
        endings = [".parquet"]
    for reader in readers:
        if set(endings) & set(reader.suffixes):
            return reader
    known = ", ".join(suffix for reader in readers for suffix in reader.suffixes)
    raise DataError(f"`{path}` must end in one of {known}, got `{''.join(path.suffixes) or path.name}`.")
