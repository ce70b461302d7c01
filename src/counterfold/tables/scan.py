"""LogScan, read_log() and read_target(): files and data frames, with columns mapped by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from counterfold import messages
from counterfold.errors import DataError, ParameterError
from counterfold.tables.column_names import list_names, require_name

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.log import Log
    from counterfold.propensities import PropensityFit
    from counterfold.sources.base import RowSource
    from counterfold.tables.layout import Layout


class Role(NamedTuple):
    """What a column is for: `kind` is that of its values, a key of `READERS` in `columns.py`.

    Where the user does not name the column, it is looked for under the role's name, but only `beside` another role.
    """

    kind: str
    beside: str | None = None


def _column(role: Role, default: str | None = None) -> Any:
    """Return a field for the name of the column that has a role."""
    return field(default=default, metadata={"role": role})


@dataclass(frozen=True, eq=False, kw_only=True)
class LogScan:
    """A log that is not read yet: a file, a folder of files or a data frame, and which columns hold what.

    The arguments are those of `read_log`, and options of the command line; a field's metadata tell the role that its
    column has in a log, which is an argument of `Log`. `evaluate` reads the log into memory if it fits, and otherwise a
    few rows at a time; its targets are then names of columns, or others that can be computed row by row.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> table = pa.table({"action": ["a", "b"], "reward": [1.0, 0.0], "propensity": [0.5, 0.5]})
    >>> cf.LogScan(table).read()
    Log(2 rows, 2 actions, 0 context columns, propensities only)
    """

    source: Any = field(kw_only=False)
    action: str | None = _column(Role("labels"))
    dose: str | None = _column(Role("numbers"))
    reward: str = _column(Role("numbers"), "reward")
    propensity: Any = _column(Role("numbers", beside="reward"))  # noqa: RUF009 (as all others)
    logging_probs: str | None = _column(Role("matrix", beside="action"))
    logger_probs: str | None = _column(Role("matrices", beside="action"))
    logger: str | None = _column(Role("labels", beside="logger_probs"))  # alone it may be any column of that name
    logger_weights: str = "balanced"
    context: Sequence[str] | None = None
    group: str | None = _column(Role("labels", beside="reward"))
    available: str | None = _column(Role("matrix", beside="action"))
    actions: Sequence[Any] | None = None
    action_features: Any = None
    ignore: Sequence[str] = ("target",)
    format: str | None = None

    def __post_init__(self) -> None:
        for one in fields(self):
            name = getattr(self, one.name)
            is_fitted = one.name == "propensity" and self.find_fit() is not None
            if one.metadata.get("role") and (name is not None or one.default) and not is_fitted:
                require_name(one.name, name)
        if self.context is not None:
            object.__setattr__(self, "context", list_names("context", self.context))
        object.__setattr__(self, "ignore", list_names("ignore", self.ignore))

    def find_fit(self, columns: Sequence[str] = ()) -> "PropensityFit | None":
        """Return how propensities are to be fitted, if so; a column of that name is meant where there is one."""
        from counterfold.propensities import as_fit

        return None if self.propensity in columns else as_fit(self.propensity)

    def read(self) -> "Log":
        """Return the whole log in memory."""
        from counterfold import capacity
        from counterfold.indices import find_index

        capacity.require_rows(self.opened.rows, self.opened.size)
        table = self.opened.table()
        return self.layout(table).learn_from(table).log(table, index=find_index(self.source))

    @cached_property
    def opened(self) -> "RowSource":
        """Return the rows of the source, as they are when this is first asked."""
        from counterfold.sources import open_source

        return open_source(self.source, self.format)

    def layout(self, table: "pa.Table", targets: Sequence[str] = ()) -> "Layout":
        """Return what the columns of a table hold, or of one like it, besides those of the targets."""
        from counterfold.tables import roles
        from counterfold.tables.layout import Layout, choose_summaries

        known: dict[str, Role] = {one.name: one.metadata["role"] for one in fields(self) if one.metadata.get("role")}
        fit, ignore, chosen = self.find_fit(table.column_names), self.ignore, self.context
        if fit is not None:
            del known["propensity"]
            ignore = [*ignore, "propensity"]
        found = roles.find_roles(table, known, {role: getattr(self, role) for role in known})
        roles.require(table, found, chosen or ())
        if fit is None:
            roles.require_propensities(table, found)
        roles.refuse_two_roles(table, found, targets)
        features = None if self.action_features is None else _features(self.action_features, found.get("action"))
        kinds, named = {role: known[role].kind for role in found}, chosen is not None
        free = [] if named else roles.list_free(table, found, ignore, targets)
        context = roles.list_context(table, found, chosen, free, targets)
        layout = Layout(found, kinds, context, self.actions, features, named_context=named, fit=fit)
        layout = replace(layout, logger_weights=self.logger_weights, summaries=choose_summaries(table, context))
        is_private, notes = isinstance(self.source, (str, PathLike)), roles.find_notes(table)
        return replace(layout, left_out=roles.find_left_out(table, free), is_private=is_private, notes=notes)


class Columns(TypedDict, total=False):
    """The arguments of a `LogScan` besides its source, for functions that take a source and its columns."""

    action: str | None
    dose: str | None
    reward: str
    propensity: Any
    logging_probs: str | None
    logger_probs: str | None
    logger: str | None
    logger_weights: str
    context: Sequence[str] | None
    group: str | None
    available: str | None
    actions: Sequence[Any] | None
    action_features: Any
    ignore: Sequence[str]
    format: str | None


def open_log(source: Any, columns: Columns, function: Callable[..., Any]) -> "Log | LogScan":
    """Return a log as it is, or any other source with the columns that a function was called with."""
    from counterfold.log import Log

    require_known(columns, function)
    if not isinstance(source, (Log, LogScan)):
        return LogScan(source, **columns)
    if columns:
        got = f"`{next(iter(columns))}` beside a {type(source).__name__}, whose columns are known"
        raise ParameterError(f"columns must be named for a file or a data frame, got {got}.")
    return source


def require_known(columns: Columns, function: Callable[..., Any]) -> None:
    """Require that all arguments of a call are known; suggest the nearest one otherwise."""
    roles = [one.name for one in fields(LogScan) if one.name != "source"]
    unknown = next((name for name in columns if name not in roles), None)
    if unknown is not None:
        own = [name for name in signature(function).parameters if name != "columns"]
        hint = messages.suggest(unknown, [*own, *roles])
        raise ParameterError(f"`{messages.show(unknown)}` must be an argument of `{function.__name__}`.{hint}")


def read_log(source: Any, **columns: Unpack[Columns]) -> "Log":
    """Return the log in a file or data frame.

    The arguments besides the source are those of `LogScan`. Every role is looked for in the column of that very name,
    or in the one that you name. `dose` takes the place of `action` where there is no column `action`, or where you name
    it. Probabilities (n x A) are a column of lists, a struct from action to probability, JSON text of either, or
    columns named `logging_probs.ACTION` or `logging_probs_ACTION`; `logger_probs` are such a column, or such columns,
    for each logger (`logger_probs.LOGGER`), or one struct or JSON object from logger to them. `context` is every other
    column of numbers or categories; list the columns (numbers, text, dates, or lists of numbers) to choose, and name in
    `ignore` what the default must leave alone, such as columns of target policies. Text, dates and missing numbers are
    encoded, see docs/context.md; `evaluate` leaves out copies of the reward, outcomes and indices by itself.
    `action_features` is a second file or data frame with a row for each action: its label, in a column named like the
    log's, and numbers or lists of numbers.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> table = pa.table({
    ...     "age": [31, 52, 47], "action": ["a", "b", "a"], "reward": [1.0, 0.0, 0.5], "propensity": [0.5, 0.5, 0.8],
    ... })
    >>> cf.read_log(table).context_names
    ('age',)
    """
    require_known(columns, read_log)
    return LogScan(source, **columns).read()


def _features(source: Any, action: str | None) -> Any:
    """Return the features of each action by its label, from a source of their own; a log of doses will refuse them."""
    from counterfold.sources import read_table
    from counterfold.tables import columns, roles

    if action is None:
        return source
    try:
        table = read_table(source)
        roles.require(table, {"action": action})
        return columns.read_action_features(table, action)
    except DataError as error:
        raise DataError(f"in `action_features`, {error}") from None


def read_target(source: Any, column: str) -> Any:
    """Return a target's probabilities, labels or doses, or predicted rewards, from a file or data frame.

    A column of numbers holds the probabilities of the logged actions alone, or the doses that the target would give;
    one of text holds the actions that it would take.
    Probabilities of all actions, or several doses per row, are laid out in any of the ways that `read_log` takes for
    `logging_probs`.

    >>> import counterfold as cf
    >>> cf.read_target({"action": ["a", "b"], "target": [0.9, 0.1]}, "target")
    array([0.9, 0.1])
    """
    from counterfold.sources import read_table
    from counterfold.tables import roles

    require_name("column", column)
    return roles.read_target(read_table(source), column)
