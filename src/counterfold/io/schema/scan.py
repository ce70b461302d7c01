"""LogScan, read_log() and read_target(): files and data frames, with columns mapped by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from counterfold.base import messages
from counterfold.base.cached import cached_property
from counterfold.base.errors import ParameterError
from counterfold.io.schema.column_roles import ARGUMENTS, ROLES

if TYPE_CHECKING:
    from counterfold.io.schema.action_features import ActionSource
    from counterfold.io.sources.base import RowSource
    from counterfold.log.log import Log
    from counterfold.log.propensities import PropensityFit


def require_name(argument: str, value: object) -> None:
    """Require the name of one column."""
    if not isinstance(value, str):
        raise ParameterError(f"`{argument}` must be the name of a column, as text, got {messages.shorten(value)}.")


def require_rewards(value: object) -> None:
    """Require the name of one column, or of several different ones, or expressions in their place."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names) or not names:
        rule = "must be the name of a column, as text"
        got = messages.shorten(value)
        raise ParameterError(f"`reward` {rule}, got {got}. Several rewards are a list of such names.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ParameterError(f"`reward` must be given once each, got `{messages.show(repeated)}` more than once.")


def list_names(argument: str, value: object) -> Sequence[str]:
    """Return the names of columns that are listed in any way, or the only one."""
    names: Sequence[Any]
    if isinstance(value, (list, tuple)):
        names = value
    elif isinstance(value, str) or not isinstance(value, Iterable):
        names = [value]
    else:
        names = list(value)
    if isinstance(value, Mapping) or not all(isinstance(name, str) for name in names):
        got = messages.shorten(value)
        raise ParameterError(f"`{argument}` must be names of columns, as a list of texts, got {got}.")
    return names


@dataclass(frozen=True, eq=False, kw_only=True)
class LogScan:
    """A log that is not read yet: a file, a folder of files or a data frame, and which columns hold what.

    The arguments are those of `read_log`, and options of the command line; `column_roles.py` says what each is for, and
    which role its column has in a log. `evaluate` reads the log into memory if it fits, and otherwise a few rows at a
    time; its targets are then names of columns, or others that can be computed row by row.

    >>> import pyarrow as pa
    >>> import counterfold as cf
    >>> table = pa.table({"action": ["a", "b"], "reward": [1.0, 0.0], "propensity": [0.5, 0.5]})
    >>> cf.LogScan(table).read()
    Log(2 rows, 2 actions, 0 context columns, propensities only)
    """

    source: Any = field(kw_only=False)
    action: str | None = None
    dose: str | None = None
    reward: str | Sequence[str] = "reward"
    missing_reward: str = "error"
    reward_time: str | None = None
    horizon: Any = None
    until: Any = None
    propensity: Any = None
    logging_probs: str | None = None
    logger_probs: str | None = None
    logger: str | None = None
    logger_weights: str = "balanced"
    propensity_precision: str | None = None
    context: Sequence[str] | None = None
    group: str | None = None
    available: str | None = None
    kept: str | None = None
    time: str | None = None
    by: str | Sequence[str] = ()
    actions: Sequence[Any] | None = None
    action_features: Any = None
    ignore: Sequence[str] = ("target",)
    format: str | None = None

    def __post_init__(self) -> None:
        is_number = isinstance(self.propensity, Real) and not isinstance(self.propensity, bool)
        if is_number and float(self.propensity) > 0:
            object.__setattr__(self, "propensity", repr(float(self.propensity)))  # the same in every row
        for role in ROLES:
            column = getattr(self, role)
            is_fitted = role == "propensity" and self.find_fit() is not None
            if role == "reward":
                require_rewards(column)
            elif column is not None and not is_fitted:
                require_name(role, column)
        self._require_reward_settings()
        if self.context is not None:
            object.__setattr__(self, "context", list_names("context", self.context))
        object.__setattr__(self, "ignore", list_names("ignore", self.ignore))
        object.__setattr__(self, "by", list_names("by", self.by))

    def _require_reward_settings(self) -> None:
        """Require a known way with missing rewards, and a horizon wherever times of rewards are given."""
        from counterfold.base import validation
        from counterfold.io.schema.delays import Delay

        validation.one_of(("error", "drop", "zero"), missing_reward=self.missing_reward)
        for name, value in {"time": self.time, "reward_time": self.reward_time}.items():
            require_name(name, value or name)
        if self.horizon is not None:
            Delay.of(self.time or "time", self.reward_time, self.horizon, self.until)
            return
        for name in ("reward_time", "until"):
            if getattr(self, name):
                raise ParameterError(f"`{name}` must be given with `horizon`, the time that rewards are waited for.")

    def find_fit(self, columns: Sequence[str] = ()) -> "PropensityFit | None":
        """Return how propensities are to be fitted, if so; a column of that name is meant where there is one."""
        from counterfold.log.propensities import as_fit

        return None if self.propensity in columns else as_fit(self.propensity)

    def read(self) -> "Log":
        """Return the whole log in memory."""
        from counterfold.base import capacity
        from counterfold.io.schema import prepared

        if not isinstance(self.reward, str):
            got = f"{len(self.reward)}; `evaluate`, `check` and `compare` take several"
            raise ParameterError(f"`reward` must be one column or expression for a `Log`, got {got}.")
        capacity.require_rows(self.opened.rows, self.opened.size)
        return prepared.read_log(self)

    @cached_property
    def rewards(self) -> Sequence[str]:
        """Return all rewards that are asked for at the same time."""
        return [self.reward] if isinstance(self.reward, str) else list(self.reward)

    def split(self) -> "dict[str, LogScan]":
        """Return a log for each of its rewards; each knows that the others are asked for at the same time."""
        return {name: self._share_readings(replace(self, reward=name)) for name in self.rewards}

    def know_actions(self, actions: Any) -> "LogScan":
        """Return the same with all actions of the log."""
        return self._share_readings(replace(self, actions=actions))

    def name_group(self, column: str) -> "LogScan":
        """Return the same with the name of the column of groups."""
        return self._share_readings(replace(self, group=column))

    def _share_readings(self, other: "LogScan") -> "LogScan":
        """Return another log of the same call, which knows all rewards, and features of actions from one reading."""
        vars(other).update(rewards=self.rewards, action_source=self.action_source)
        return other

    @cached_property
    def action_source(self) -> "ActionSource | None":
        """Return where features of actions come from, if they do from a source of their own."""
        from counterfold.io.schema.action_features import ActionSource

        return None if self.action_features is None else ActionSource(self.action_features)

    @cached_property
    def opened(self) -> "RowSource":
        """Return the rows of the source as they are when this is first asked, with whatever rewards."""
        from counterfold.io.sources import open_source

        return open_source(self.source, self.format)


class Columns(TypedDict, total=False):
    """The arguments of a `LogScan` besides its source, for functions that take a source and its columns.

    A test compares names and types with those of `LogScan` and with `column_roles.py`.
    """

    action: str | None
    dose: str | None
    reward: str | Sequence[str]
    missing_reward: str
    reward_time: str | None
    horizon: Any
    until: Any
    propensity: Any
    logging_probs: str | None
    logger_probs: str | None
    logger: str | None
    logger_weights: str
    propensity_precision: str | None
    context: Sequence[str] | None
    group: str | None
    available: str | None
    kept: str | None
    time: str | None
    by: str | Sequence[str]
    actions: Sequence[Any] | None
    action_features: Any
    ignore: Sequence[str]
    format: str | None


def open_log(source: Any, columns: Columns, function: Callable[..., Any]) -> "Log | LogScan":
    """Return a log as it is, or any other source with the columns that a function was called with."""
    from counterfold.log.log import Log

    require_known(columns, function)
    if not isinstance(source, (Log, LogScan)):
        return LogScan(source, **columns)
    if columns:
        got = f"`{next(iter(columns))}` beside a {type(source).__name__}, whose columns are known"
        raise ParameterError(f"columns must be named for a file or a data frame, got {got}.")
    return source


HINTS = {"period": " Ask the answer: `result.over_time('week')`.", "engine": " It needs all rows in memory."}
"""What to do instead of giving arguments that other calls have."""


def require_known(columns: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Require that all arguments of a call are known; suggest the nearest one otherwise."""
    unknown = next((name for name in columns if name not in ARGUMENTS), None)
    if unknown is not None:
        own = [name for name in signature(function).parameters if name != "columns"]
        hint = HINTS.get(unknown) or messages.suggest(unknown, [*own, *ARGUMENTS])
        raise ParameterError(f"`{function.__name__}` has no argument `{messages.show(unknown)}`.{hint}")


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
    log's, and numbers, lists of numbers, or categories. `reward` may be an expression such as "score - 0.2 * cost", and
    `propensity` one such as "exp(logprob)", or a number; `missing_reward` says what is done about rows without a reward
    ("error", "drop" or "zero"), and `horizon` how long rewards are waited for; see the page on rewards.

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
    from counterfold.io.schema import roles
    from counterfold.io.sources import read_table

    require_name("column", column)
    return roles.read_target(read_table(source), column)
