"""read_log() and read_target(): files and data frames, with columns mapped by name.

A path is read by the reader whose suffix it has (one file each in this folder); anything else that speaks Arrow
(pandas, polars, pyarrow, DuckDB relations) is taken as it is.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfold import registry, words
from counterfold.errors import DataError
from counterfold.readers.base import COMPRESSIONS, Reader

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.log import Log
    from counterfold.readers._layout import Layout


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
) -> "Log":
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
    return LogScan(
        source,
        action=action,
        reward=reward,
        propensity=propensity,
        logging_probs=logging_probs,
        context=context,
        group=group,
        available=available,
        actions=actions,
        action_features=action_features,
        logger=logger,
        logger_probs=logger_probs,
        dose=dose,
        ignore=ignore,
    ).read()


def _make_column(help_: str, show_default: str = "", *, default: str | None = None) -> Any:
    """Return a field that takes the name of a column, with the texts of its option on the command line."""
    return field(default=default, metadata={"metavar": "COLUMN", "help": help_, "show_default": show_default or True})


@dataclass(frozen=True, eq=False, kw_only=True)
class LogScan:
    """A log that is not read yet: a file, a folder of Parquet files or a data frame, and which columns hold what.

    The arguments are those of `read_log`; each field with metadata is an option of the command line. `evaluate` reads
    the log into memory if it fits, and otherwise a few rows at a time; its targets are then names of columns, or
    functions of the context.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> table = pa.table({"action": ["a", "b"], "reward": [1.0, 0.0], "propensity": [0.5, 0.5]})
    >>> cf.LogScan(table).read()
    Log(2 rows, 2 actions, 0 context columns, propensities only)
    """

    source: Any = field(kw_only=False, metadata={"metavar": "LOG", "help": "A Parquet, CSV, JSON-lines or Arrow file."})
    action: str | None = _make_column("Column of the logged action.", "action")
    dose: str | None = _make_column(
        "Column of the logged dose, such as a price, instead of actions.", "dose, if no action"
    )
    reward: str = _make_column("Column of the reward.", default="reward")
    propensity: str | None = _make_column(
        "Column of the logged action's probability, or dose's density.", "propensity, if there"
    )
    logging_probs: str | None = _make_column("Column of the probabilities of all actions.", "logging_probs, if there")
    logger: str | None = _make_column(
        "Column of which of several policies decided.", "logger, if there with logger_probs"
    )
    logger_probs: str | None = _make_column(
        "Columns of the probabilities of each such policy.", "logger_probs, if there"
    )
    context: Sequence[str] | None = _make_column("Columns of the context.", "every other numeric column")
    group: str | None = _make_column("Column of the user or session, kept together.", "group, if there")
    available: str | None = _make_column("Column of the actions that could be taken.", "available, if there")
    actions: Sequence[Any] | None = field(
        default=None,
        metadata={"metavar": "LABELS", "help": "All actions in the order of the probabilities, with commas."},
    )
    action_features: Any = field(
        default=None, metadata={"metavar": "FILE", "help": "A file with each action's label and numbers about it."}
    )
    ignore: Sequence[str] = ("target",)

    def read(self) -> "Log":
        """Return the whole log in memory."""
        table = read_table(self.source)
        return self.layout(table).log(table)

    def layout(self, table: "pa.Table", ignore: Sequence[str] = ()) -> "Layout":
        """Return what the columns of a table hold, or of one like it; `ignore` names more columns to leave alone."""
        from counterfold.readers import _roles
        from counterfold.readers._layout import Layout

        optional = ("action", "dose", "propensity", "group", "logging_probs", "available", "logger", "logger_probs")
        roles = _roles.found(table, {"reward": self.reward} | {role: getattr(self, role) for role in optional})
        chosen = [self.context] if isinstance(self.context, str) else self.context
        _roles.require(table, roles, chosen or ())
        features = None if self.action_features is None else _features(self.action_features, roles.get("action"))
        context = _roles.context_names(table, roles, chosen, [*self.ignore, *ignore])
        return Layout(roles, context, self.actions, features)


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


def columns_named(roles: dict[str, str]) -> AbstractContextManager[None]:
    """Name the column beside its role in errors, which name the role first, where the two differ."""
    from counterfold.readers import _layout

    return _layout.columns_named(roles)


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
    return named(table)


def named(table: "pa.Table") -> "pa.Table":
    """Return the table without an index of pandas, if its columns have different names."""
    names = table.column_names
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"columns must have different names, got {words.listed(repeated)} more than once.")
    return table.drop_columns([name for name in names if name.startswith("__index_level_")])


def _read_file(path: Path) -> "pa.Table":
    reader = reader_of(path)
    with readable(path, reader):
        table = reader.table(path)
        names = table.column_names
    if not names or table.num_rows == 0:
        raise DataError(f"`{path}` must hold at least 2 rows, got none.")
    return table


@contextmanager
def readable(path: Path, reader: Reader) -> Iterator[None]:
    """Turn what is wrong with a file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise DataError(f"`{path}` could not be read as {type(reader).__name__}: {reason}.") from error


def reader_of(path: Path) -> Reader:
    """Return what reads a file that is there, by the end of its name."""
    if not path.exists():
        raise DataError(f"`{path}` must be a file, but there is none.")
    reader = _by_suffix(path)
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"`{path}` must not be empty, got 0 bytes.")
    return reader


def _by_suffix(path: Path) -> Reader:
    readers: list[Reader] = [registry.find("readers", name)() for name in registry.names("readers")]
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in COMPRESSIONS][-1:]
    if path.is_dir():
        endings = [".parquet"]
    for reader in readers:
        if set(endings) & set(reader.suffixes):
            return reader
    known = ", ".join(suffix for reader in readers for suffix in reader.suffixes)
    raise DataError(f"`{path}` must end in one of {known}, got `{''.join(path.suffixes) or path.name}`.")
