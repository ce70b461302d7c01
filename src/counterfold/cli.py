"""The command line. No estimator, selector or model is named here: names come from the folders."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold import registry
from counterfold.errors import CounterfoldError
from counterfold.progress import bar

if TYPE_CHECKING:
    from counterfold.log import Log

UsageError: Any = typer.BadParameter.__base__  # typer gives it no name of its own

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")

NAMES = {folder: ", ".join(registry.names(folder)) for folder in ("estimators", "selectors", "models")}
SPEC = "A name may carry settings, NAME:FIELD=VALUE."


def column_option(help_: str, default: str | bool = True) -> Any:
    """Return an option that takes the name of a column."""
    return typer.Option(metavar="COLUMN", help=help_, show_default=default)


LogFile = Annotated[Path, typer.Argument(metavar="LOG", help="A Parquet, CSV, JSON-lines or Arrow file.")]
Action = Annotated[str, column_option("Column of the logged action.")]
Reward = Annotated[str, column_option("Column of the reward.")]
Propensity = Annotated[str | None, column_option("Column of the logged action's probability.", "propensity, if there")]
LoggingProbs = Annotated[
    str | None, column_option("Column of the probabilities of all actions.", "logging_probs, if there")
]
Context = Annotated[list[str] | None, column_option("Columns of the context.", "every other numeric column")]
Group = Annotated[str | None, column_option("Column of the user or session, kept together.", "group, if there")]
Available = Annotated[str | None, column_option("Column of the actions that could be taken.", "available, if there")]
Actions = Annotated[
    str | None, typer.Option(metavar="LABELS", help="All actions in the order of the probabilities, with commas.")
]
Targets = Annotated[list[str], column_option("Column of the target's probabilities; repeat for several.")]
Candidates = Annotated[
    list[str],
    typer.Option(metavar="NAMES", help=f"default, paper or estimators, with commas: {NAMES['estimators']}. {SPEC}"),
]
SelectorName = Annotated[str, typer.Option("--selector", metavar="NAME", help=f"{NAMES['selectors']}. {SPEC}")]
Validator = Annotated[
    str | None, typer.Option(metavar="NAME", help="The selector's trusted estimator.", show_default="dr, or else ips")
]
Splits = Annotated[int | None, typer.Option(metavar="N", help="The selector's number of splits.", show_default="10")]
Model = Annotated[str, typer.Option("--reward-model", metavar="NAME", help=f"{NAMES['models']} or none. {SPEC}")]
Predictions = Annotated[str | None, column_option("Column of predicted rewards of all actions, instead of a model.")]
Level = Annotated[float, typer.Option(metavar="LEVEL", help="Level of the interval.")]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Threads; never change the answer.", show_default="all cores")
]
Everything = Annotated[bool, typer.Option("--all", help="Show every candidate.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of everything random.")]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context, *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """What would this new policy have earned, judging only by the logs of the old one, and how far to trust that?"""
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("counterfold"))
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(*, as_json: Json = False, seed: Seed = 0, everything: Everything = False, threads: Threads = None) -> None:
    """Evaluate a policy on embedded data whose truth is known."""
    from counterfold.answers import evaluate as run
    from counterfold.experiments.demo import digits
    from counterfold.models.cross_fitted import CrossFitted
    from counterfold.models.ridge_per_action import RidgePerAction

    problem = digits(seed)
    with bar("Cross-validating", after=0) as progress:
        model = CrossFitted(RidgePerAction(alpha=100.0))
        result = run(problem.log, problem.target, reward_model=model, seed=seed, threads=threads, progress=progress)
    if as_json:
        print_json({"truth": problem.truth, **result.to_dict()})
        return
    from rich.text import Text

    from counterfold.report import text

    story = (
        "Handwritten digits as a bandit: an old policy guessed the digit in each image, nearly at random, and earned 1 "
        "when it was right. What would a sharper policy have earned? The log alone must tell; the truth is known here."
    )
    text.show(
        Text(story),
        text.contents(problem.log),
        text.answer("The answer", result, problem.truth),
        text.candidates(result, everything=everything),
        text.diagnostics(result.diagnostics),
    )


@app.command()
def evaluate(
    log: LogFile,
    *,
    target: Targets = ["target"],  # noqa: B006 (typer copies it)
    action: Action = "action",
    reward: Reward = "reward",
    propensity: Propensity = None,
    logging_probs: LoggingProbs = None,
    context: Context = None,
    group: Group = None,
    available: Available = None,
    actions: Actions = None,
    candidates: Candidates = ["default"],  # noqa: B006 (typer copies it)
    selector: SelectorName = "ocv",
    validator: Validator = None,
    splits: Splits = None,
    reward_model: Model = "ridge-per-action",
    predictions: Predictions = None,
    level: Level = 0.95,
    threads: Threads = None,
    everything: Everything = False,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    from counterfold import readers
    from counterfold.answers import evaluate as run

    columns = dict(action=action, reward=reward, propensity=propensity, logging_probs=logging_probs, group=group)
    ignore = [*target, *filter(None, [predictions])]
    table, data = loaded(log, dict(columns, available=available), context, actions, ignore)
    settings: dict[str, Any] = dict(candidates=separated(candidates), seed=seed, level=level, threads=threads)
    settings["selector"] = chosen_selector(selector, validator, splits)
    settings["reward_model"] = None if reward_model == "none" else registry.build("models", reward_model)
    roles = {"reward_model": predictions} if predictions else {}
    if predictions:
        settings["reward_model"] = readers.read_target(table, predictions)
    results = {}
    for column in target:
        named = readers.columns_named(roles | {"target": column})
        with told_warnings(column), named, bar(f"Cross-validating {column}") as progress:
            results[column] = run(data, readers.read_target(table, column), **settings, progress=progress)
    if as_json:
        answers = [{"target": column, **result.to_dict()} for column, result in results.items()]
        print_json({"log": described(log, data), "evaluations": answers})
        return
    from counterfold.report import text

    text.show(text.contents(data))
    for column, result in results.items():
        table = text.candidates(result, everything=everything)
        text.show(text.answer(column, result), table, text.diagnostics(result.diagnostics))


@app.command()
def check(
    log: LogFile,
    *,
    target: Targets = ["target"],  # noqa: B006 (typer copies it)
    action: Action = "action",
    reward: Reward = "reward",
    propensity: Propensity = None,
    logging_probs: LoggingProbs = None,
    context: Context = None,
    group: Group = None,
    available: Available = None,
    actions: Actions = None,
    as_json: Json = False,
    seed: Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")] = 0,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold import readers
    from counterfold.diagnostics import diagnose
    from counterfold.target import as_target

    del seed
    columns = dict(action=action, reward=reward, propensity=propensity, logging_probs=logging_probs, group=group)
    table, data = loaded(log, dict(columns, available=available), context, actions, target)
    found = {}
    for column in target:
        with readers.columns_named({"target": column}):
            found[column] = diagnose(data, as_target(readers.read_target(table, column), data))
    if as_json:
        diagnoses = [{"target": column, **asdict(diagnostics)} for column, diagnostics in found.items()]
        print_json({"log": described(log, data), "diagnostics": diagnoses})
        return
    from counterfold.report import text

    text.show(text.contents(data), *(text.headed(name, text.diagnostics(one)) for name, one in found.items()))


def loaded(
    path: Path, columns: dict[str, Any], context: list[str] | None, actions: str | None, ignore: list[str]
) -> tuple[Any, "Log"]:
    """Return the file's table and its log."""
    from rich.console import Console
    from rich.text import Text

    from counterfold import readers

    labels = None if actions is None else separated([actions])
    with Console(stderr=True, markup=False).status(Text(f"Reading {path}")):
        table = readers.read_table(path)
        return table, readers.read_log(
            table, **columns, context=separated(context or []) or None, actions=labels, ignore=ignore
        )


def chosen_selector(selector: str, validator: str | None, splits: int | None) -> Any:
    """Return the selector with the settings that have options of their own."""
    given: dict[str, Any] = {} if splits is None else {"splits": splits}
    if validator is not None:
        given["validator"] = registry.build("estimators", validator)
    return registry.build("selectors", selector, **given)


def print_json(answer: dict[str, Any]) -> None:
    """Print strict JSON."""
    typer.echo(json.dumps(answer, indent=2, allow_nan=False))


def separated(texts: list[str]) -> list[str]:
    """Return the parts of repeated options that may also be given at once, with commas."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def described(path: Path, log: "Log") -> dict[str, Any]:
    """Return what was read, so that a reader of the answer can see what it rests on."""
    return {
        "file": str(path),
        "rows": len(log),
        "actions": [str(action) for action in log.actions],
        "context": list(log.context_names),
        "groups": None if log.group is None else int(log.group.max()) + 1,
    }


def main() -> None:
    """Run the command line; a user's mistake is one sentence on stderr and exit code 2."""
    try:
        sys.exit(app(standalone_mode=False))
    except UsageError as error:
        fail(error.format_message())
    except CounterfoldError as error:
        fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)


def fail(message: str) -> None:
    """End with one line on stderr."""
    line = " ".join(message.split())
    typer.echo(f"Error: {line}" if line.endswith(("?", ".")) else f"Error: {line}.", err=True)
    sys.exit(2)


@contextmanager
def told_warnings(column: str) -> Iterator[None]:
    """Print each different warning as one sentence on stderr that names the target."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"Warning: `{column}`: {message.removesuffix('.')}.", err=True)
