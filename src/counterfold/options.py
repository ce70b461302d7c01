"""What commands have in common: a log's file and columns, how to answer, and how to say so."""

import inspect
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold import registry

if TYPE_CHECKING:
    from counterfold.tables.scan import LogScan

Command = Callable[..., None]
COLUMNS = "The log and its columns"

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of everything random.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where everything goes, and what a restart goes on from.")]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Processes.", show_default="all cores")]
Data = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Datasets as files.", envvar="COUNTERFOLD_DATASETS", show_default="OpenML"),
]


def column(help_: str, default: str = "") -> Any:
    """Return an option that takes the name of a column."""
    return typer.Option(metavar="COLUMN", help=help_, show_default=default or True, rich_help_panel=COLUMNS)


NAMES = {folder: ", ".join(registry.names(folder)) for folder in ("estimators", "selectors", "models", "intervals")}
SPEC = "A name may carry settings, NAME:FIELD=VALUE."


Candidates = Annotated[
    list[str],
    typer.Option(
        metavar="NAMES", help=f"default, plain, paper or estimators, with commas: {NAMES['estimators']}. {SPEC}"
    ),
]
SelectorName = Annotated[
    str,
    typer.Option(
        "--selector",
        metavar="NAME",
        help=f"{NAMES['selectors']}. {SPEC}",
        show_default="ladder; ocv for doses, or with --validator or --splits",
    ),
]
Validator = Annotated[
    str | None, typer.Option(metavar="NAME", help="The selector's trusted estimator.", show_default="dr, or else ips")
]
Splits = Annotated[int | None, typer.Option(metavar="N", help="The selector's number of splits.", show_default="10")]
Model = Annotated[
    str,
    typer.Option(
        "--reward-model",
        metavar="NAME",
        help=f"{NAMES['models']} or none. {SPEC}",
        show_default="cross-fitted, or ridge-on-dose",
    ),
]
Predictions = Annotated[str | None, column("Column of predicted rewards of all actions, instead of a model.")]
Level = Annotated[float, typer.Option(metavar="LEVEL", help="Level of the interval.")]
IntervalName = Annotated[str, typer.Option("--interval", metavar="NAME", help=f"{NAMES['intervals']}. {SPEC}")]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Threads; never change the answer.", show_default="all cores")
]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="auto, memory, local: a few rows at a time, for files of any size; or spark, where LOG may name a table.",
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="Show every candidate.")]


@dataclass(frozen=True)
class LogOptions:
    """A log's file and its columns, as options; but for `log` and `target` they are the arguments of `read_log`."""

    log: Annotated[str, typer.Argument(metavar="LOG", help="A Parquet, CSV, JSON-lines or Arrow file.")]
    target: Annotated[
        list[str] | None, column("Column of the target's probabilities, or doses; repeat for several.", "target")
    ] = None
    action: Annotated[str | None, column("Column of the logged action.", "action")] = None
    dose: Annotated[
        str | None, column("Column of the logged dose, such as a price, instead of actions.", "dose, if no action")
    ] = None
    reward: Annotated[str, column("Column of the reward.")] = "reward"
    propensity: Annotated[
        str | None, column("Column of the logged action's probability, or dose's density.", "propensity, if there")
    ] = None
    logging_probs: Annotated[
        str | None, column("Column of the probabilities of all actions.", "logging_probs, if there")
    ] = None
    logger: Annotated[
        str | None, column("Column of which of several policies decided.", "logger, if there with logger_probs")
    ] = None
    logger_probs: Annotated[
        str | None, column("Columns of the probabilities of each such policy.", "logger_probs, if there")
    ] = None
    context: Annotated[list[str] | None, column("Columns of the context.", "every other numeric column")] = None
    group: Annotated[str | None, column("Column of the user or session, kept together.", "group, if there")] = None
    available: Annotated[str | None, column("Column of the actions that could be taken.", "available, if there")] = None
    actions: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="All actions in the order of the probabilities, with commas.",
            rich_help_panel=COLUMNS,
        ),
    ] = None
    action_features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A file with each action's label and numbers about it.", rich_help_panel=COLUMNS
        ),
    ] = None

    @property
    def targets(self) -> list[str]:
        """Return the targets' columns."""
        return self.target or ["target"]

    def scan(self) -> "LogScan":
        """Return the log, not read yet; its context leaves out the targets."""
        from counterfold.tables.scan import LogScan

        given = asdict(self)
        del given["log"], given["target"]
        given["context"] = separated(self.context or []) or None
        given["actions"] = None if self.actions is None else separated([self.actions])
        return LogScan(self.log, **given, ignore=self.targets)


def taking(options: type[Any]) -> Callable[[Command], Command]:
    """Give a command the fields of a dataclass as options, before its own; they arrive as its first argument."""
    shared = inspect.signature(options).parameters

    def decorated(command: Command) -> Command:
        def run(**given: Any) -> None:
            command(options(**{name: given.pop(name) for name in shared}), **given)

        own = list(inspect.signature(command).parameters.values())[1:]
        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*shared.values(), *own)]
        update_wrapper(run, command)
        run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined] # what typer looks at
        run.__annotations__ = {one.name: one.annotation for one in keywords}
        return run

    return decorated


def separated(texts: Iterable[str]) -> list[str]:
    """Return the parts of repeated options that may also be given at once, with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def print_json(answer: dict[str, Any]) -> None:
    """Print strict JSON."""
    typer.echo(json.dumps(answer, indent=2, allow_nan=False))


def chosen_selector(selector: str, validator: str | None, splits: int | None) -> Any:
    """Return the selector with the settings that have options of their own."""
    given: dict[str, Any] = {} if splits is None else {"splits": splits}
    if validator is not None:
        given["validator"] = registry.build("estimators", validator)
    if selector == "default":
        return registry.build("selectors", "ocv", **given) if given else selector
    return registry.build("selectors", selector, **given)


@contextmanager
def told_warnings() -> Iterator[None]:
    """Print each different warning as one sentence on stderr that names the target."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        name = getattr(warning.message, "target", None)
        about = f"`{name}`: " if name else ""
        typer.echo(f"Warning: {about}{str(warning.message).removesuffix('.')}.", err=True)
