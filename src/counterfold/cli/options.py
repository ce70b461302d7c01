"""What commands have in common: options, which are fields of dataclasses, and the question to a log."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import update_wrapper
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from counterfold import intervals
from counterfold.base import messages, registry
from counterfold.base.errors import ParameterError
from counterfold.base.notation import split_commas
from counterfold.cli import _texts
from counterfold.cli.printing import print_warnings, say
from counterfold.io.schema.column_roles import ARGUMENTS
from counterfold.io.schema.scan import LogScan

if TYPE_CHECKING:
    from counterfold.diagnostics import Diagnostics
    from counterfold.evaluation.assembly import Results
    from counterfold.evaluation.question import Question
    from counterfold.evaluation.result import Evaluation
    from counterfold.log.contents import Contents
    from counterfold.log.records import LogRecord

Command = Callable[..., None]
COLUMNS = "The log and its columns"
"""The heading in `--help` of the options that say where the log and its columns are."""


def make_option(metavar: str, help_: str, default: str = "", *, panel: str | None = None) -> Any:
    """Return an option; `default` tells what is used by default, unless the default value itself does."""
    return typer.Option(metavar=metavar, help=help_, show_default=default or True, rich_help_panel=panel)


NOT_MET = 3
"""The exit code that says that a verdict is worse than required."""

REQUIRABLE = ("good", "undecided", "caution")
"""The verdicts that can be required, the worst last; each accepts all that are better."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, make_option("N", "Seed of everything random.")]
Everything = Annotated[
    bool, typer.Option("--all", help="Show every candidate and check, even if the log cannot answer.")
]
Threads = Annotated[int | None, make_option("N", "Threads; never change the answer.", "all cores")]
LOCAL = "local reads a few rows at a time, for files of any size; for spark, LOG may name a table."
Engine = Annotated[str, make_option("NAME", f"auto, {', '.join(registry.names('engines'))}: {LOCAL}")]


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """A log's file and its columns, and those of the target policies."""

    sql: Annotated[str | None, make_option("QUERY", _texts.SQL, panel=COLUMNS)] = None
    db: Annotated[str | None, make_option("URI", _texts.DB, panel=COLUMNS)] = None
    target: Annotated[list[str] | None, make_option("TARGET", _texts.TARGETS, "target", panel=COLUMNS)] = None
    target_action: Annotated[list[str] | None, make_option("COLUMN", _texts.CHOSEN, panel=COLUMNS)] = None
    target_probability: Annotated[list[str] | None, make_option("COLUMN", _texts.LOGGED, panel=COLUMNS)] = None
    columns: LogScan

    def __post_init__(self) -> None:
        if self.sql is not None:
            from counterfold.io.sources.query import read_query

            object.__setattr__(self, "sql", read_query(self.sql))

    @property
    def targets(self) -> dict[str, Any]:
        """Return each target by its name, which is that of its column."""
        from counterfold.policies.given.actions import Actions
        from counterfold.policies.given.probabilities import Probabilities

        plain, chosen, logged = self.target or [], self.target_action or [], self.target_probability or []
        plain = plain if plain or chosen or logged else ["target"]
        repeated = [name for name, count in Counter([*plain, *chosen, *logged]).items() if count > 1]
        if repeated:
            raise ParameterError(
                f"`target` must be given once each, got `{messages.show(repeated[0])}` more than once."
            )
        found: dict[str, Any] = {name: name for name in plain}
        return found | {name: Actions(name) for name in chosen} | {name: Probabilities(name) for name in logged}

    def build_scan(self) -> LogScan:
        """Return the log, not read yet."""
        given = {name: value for name, value in vars(self.columns).items() if name not in {"reward", "rewards"}}
        values: dict[str, Any] = {name: split_names(name, one) for name, one in given.items() if isinstance(one, list)}
        values["context"] = values.get("context") or None  # an empty list is the default, too
        from counterfold.io.sources.query import choose_source

        source = choose_source(self.columns.source, self.sql, self.db)
        return replace(self.columns, source=source, **values)

    def describe(self, contents: "Contents") -> "LogRecord":
        """Return what JSON answers say about the log."""
        from counterfold.io.sources.query import show_source

        if self.sql is None:
            return {"file": show_source(self.columns.source), **contents.to_record()}
        if self.db is None:
            return {"sql": self.sql, **contents.to_record()}
        return {"sql": self.sql, "db": show_source(self.db), **contents.to_record()}


@dataclass(frozen=True)
class CommonOptions:
    """What all commands have in common that evaluate: the interval, what computes it, and how it is printed."""

    level: Annotated[float, make_option("LEVEL", "Level of the interval.")] = 0.95
    interval: Annotated[str, make_option("NAME", f"{_texts.NAMES['intervals']}. {_texts.SPEC}")] = intervals.DEFAULT
    reward_range: Annotated[str | None, make_option("LOW,HIGH", _texts.RANGE, "known if there are two rewards")] = None
    threads: Threads = None
    engine: Engine = "auto"
    as_json: Json = False
    seed: Seed = 0

    @property
    def limits(self) -> Any:
        """Return the least and the largest possible reward as texts, not checked yet."""
        return None if self.reward_range is None else split_commas([self.reward_range])


@dataclass(frozen=True)
class AnswerOptions:
    """How a log is to answer."""

    predictions: Annotated[str | None, make_option("COLUMN", _texts.PREDICTIONS, panel=COLUMNS)] = None
    candidates: Annotated[list[str], make_option("NAMES", _texts.CANDIDATES)] = field(
        default_factory=lambda: ["default"]
    )
    selector: Annotated[
        str, make_option("NAME", f"{_texts.NAMES['selectors']}. {_texts.SPEC}", _texts.USUAL_SELECTOR)
    ] = "default"
    validator: Annotated[str | None, make_option("NAME", "The selector's trusted estimator.", "dr, or else ips")] = None
    splits: Annotated[int | None, make_option("N", "The selector's number of splits.", "10")] = None
    reward_model: Annotated[str, make_option("NAME", _texts.MODELS, _texts.USUAL_MODEL)] = "default"
    common: CommonOptions = field(default_factory=CommonOptions)

    def build_selector(self) -> Any:
        """Return the selector with the settings that have options of their own."""
        given: dict[str, Any] = {} if self.splits is None else {"splits": self.splits}
        if self.validator is not None:
            given["validator"] = registry.build("estimators", self.validator)
        if self.selector == "default":
            return registry.build("selectors", "ocv", **given) if given else self.selector
        return registry.build("selectors", self.selector, **given)

    def build_question(self) -> "Question":
        """Return what is asked of the log."""
        from counterfold.evaluation.question import Question
        from counterfold.models import Column

        model = None if self.reward_model == "none" else self.reward_model
        model_or_column = Column(self.predictions) if self.predictions else model
        wanted = split_commas(self.candidates), self.build_selector(), model_or_column
        common = self.common
        return Question.of(*wanted, common.seed, common.level, common.interval, common.limits)

    def evaluate(self, log: LogOptions) -> "dict[str, Results[Evaluation]]":
        """Return for each reward the evaluation of each target, and what the log holds; print warnings."""
        from counterfold.evaluation.assembly import evaluate_targets

        question, scan = self.build_question(), log.build_scan()
        if len(scan.rewards) > 1 and self.predictions:
            raise ParameterError("--predictions must be given with one --reward, which they predict, got several.")
        with print_warnings():
            common = self.common
            return evaluate_targets(scan, log.targets, question, threads=common.threads, engine=common.engine)


@dataclass(frozen=True)
class Requirement:
    """The worst verdict that is good enough, so that a pipeline can go by the exit code."""

    require: Annotated[str | None, make_option("VERDICT", _texts.REQUIRE)] = None

    def __post_init__(self) -> None:
        if self.require is not None and self.require not in REQUIRABLE:
            raise ParameterError(f"`require` must be `good`, `undecided` or `caution`, got {self.require}.")

    def enforce(self, found: "Mapping[str, Results[Evaluation]] | Mapping[str, Results[Diagnostics]]") -> None:
        """End with exit code 3 and a sentence on stderr if the verdict on some target is worse than required."""
        if self.require is None:
            return
        accepted = REQUIRABLE[: REQUIRABLE.index(self.require) + 1]
        worse = [
            f"`{messages.show(name)}`{f' by `{messages.show(reward)}`' if len(found) > 1 else ''} is {one.verdict}"
            for reward, results in found.items()
            for name, one in results.targets.items()
            if one.verdict not in accepted
        ]
        if worse:
            *others, last = accepted
            wanted = f"{', '.join(others)} or {last}" if others else last
            self.miss(f"every verdict must be {wanted}, but that on {', on '.join(worse)}")

    def miss(self, rule: str) -> None:
        """End with the same exit code, and say what else is not as it must be, if anything is required."""
        if self.require is not None:
            say(f"Error: {rule}.")
            raise typer.Exit(NOT_MET)


@dataclass(frozen=True)
class TableOverTime:
    """The period of each line of the table over time."""

    period: Annotated[str | None, make_option("NAME", _texts.PERIOD, "at most 31 lines")] = None

    def __post_init__(self) -> None:
        from counterfold.base import validation

        if self.period is not None:
            validation.one_of(_texts.PERIODS, period=self.period)


def take_options(command: Command) -> Command:
    """Give a command an option for each field of the dataclasses among its parameters.

    A field is an option if typer annotates it, or if it is one of a `LogScan`. A field whose type is a dataclass stands
    for the options of that one.
    """
    own = inspect.signature(command).parameters
    options = [option for one in own.values() for option in expand_parameter(one)]

    def run(**given: Any) -> None:
        command(**{name: build_value(one.annotation, name, given) for name, one in own.items()})

    update_wrapper(run, command)
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # what typer looks at
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def expand_parameter(parameter: Parameter) -> Iterator[Parameter]:
    """Yield the parameter itself, or those for the fields of its dataclass."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    is_scan = parameter.annotation is LogScan
    for one in fields(parameter.annotation):
        kind: Any = annotate_field(one) if is_scan else one.type
        if is_dataclass(kind) or get_origin(kind) is Annotated:
            default = one.default if one.default_factory is MISSING else one.default_factory()
            default = (None if is_scan else Parameter.empty) if default is MISSING else default
            default = [default] if is_scan and one.name == "reward" else default  # which can be repeated
            yield from expand_parameter(Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))


def annotate_field(one: "Field[Any]") -> Any:
    """Return what typer needs to know of a field of `LogScan`: a sequence is an option that can be repeated."""
    if one.default is MISSING:
        return Annotated[str | None, typer.Argument(metavar="LOG", help=_texts.SOURCE, show_default=False)]
    argument = ARGUMENTS[one.name]
    kinds = (one.type, *get_args(one.type))
    kind: Any = list[str] if any(get_origin(kind) is Sequence for kind in kinds) else str
    option = make_option(argument.metavar, argument.help, argument.default, panel=COLUMNS)
    return Annotated[kind | None, option]


def build_value(kind: Any, name: str, given: Mapping[str, Any]) -> Any:
    """Return an option's value, or a dataclass whose fields are options; a field without one keeps its default."""
    if not is_dataclass(kind):
        return given[name]
    known = [one for one in fields(kind) if is_dataclass(one.type) or one.name in given]
    build: Any = kind
    return build(**{one.name: build_value(one.type, one.name, given) for one in known})


def split_names(option: str, texts: Sequence[str]) -> list[str]:
    """Return the names that an option lists, of which each of its texts must hold at least one."""
    empty = next((text for text in texts if not split_commas([text])), None)
    if empty is not None:
        raise ParameterError(f"`{option}` must hold a name, got {empty!r}.")
    return split_commas(texts)
