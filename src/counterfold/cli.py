"""The command line. No estimator, selector or model is named here: names come from the folders."""

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold import registry
from counterfold.benching import bench
from counterfold.errors import CounterfoldError, ParameterError
from counterfold.options import Json, LogOptions, Seed, column, print_json, separated, taking
from counterfold.progress import bar
from counterfold.reproducing import paper
from counterfold.synthesis import synth

if TYPE_CHECKING:
    from counterfold.estimates import Estimate
    from counterfold.evaluation import Evaluation
    from counterfold.question import Question

UsageError: Any = typer.BadParameter.__base__  # typer gives it no name of its own

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")

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

    problem = digits(seed)
    with bar("Cross-validating", after=0) as progress:
        result = run(problem.log, problem.target, seed=seed, threads=threads, progress=progress)
    if as_json:
        print_json({"truth": problem.truth, **result.to_dict()})
        return
    from rich.text import Text

    from counterfold.contents import Contents
    from counterfold.report import text

    story = (
        "Handwritten digits as a bandit: an old policy guessed the digit in each image, nearly at random, and earned 1 "
        "when it was right. What would a sharper policy have earned? The log alone must tell; the truth is known here."
    )
    text.show(
        Text(story),
        text.contents(Contents.of(problem.log)),
        text.answer("The answer", result, problem.truth),
        text.candidates(result, everything=everything),
        text.diagnostics(result.diagnostics),
    )


@app.command()
@taking(LogOptions)
def evaluate(
    log: LogOptions,
    *,
    predictions: Predictions = None,
    candidates: Candidates = ["default"],  # noqa: B006 (typer copies it)
    selector: SelectorName = "default",
    validator: Validator = None,
    splits: Splits = None,
    reward_model: Model = "default",
    level: Level = 0.95,
    interval: IntervalName = "student-t",
    threads: Threads = None,
    engine: EngineName = "auto",
    everything: Everything = False,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    from counterfold.answers import evaluated
    from counterfold.models import Column
    from counterfold.question import Question

    model = None if reward_model == "none" else reward_model
    chosen = chosen_selector(selector, validator, splits)
    question = Question(
        separated(candidates), chosen, Column(predictions) if predictions else model, seed, level, interval
    )
    targets = {name: name for name in log.targets}
    with told_warnings():
        results, contents = evaluated(log.scan(), targets, question, threads, engine=engine)
    if as_json:
        answers = [{"target": name, **result.to_dict()} for name, result in results.items()]
        print_json({"log": {"file": log.log, **contents.to_dict()}, "evaluations": answers})
        return
    from counterfold.report import text

    text.show(text.contents(contents))
    for name, result in results.items():
        lines = text.candidates(result, everything=everything)
        text.show(text.answer(name, result), lines, text.diagnostics(result.diagnostics))


@app.command()
@taking(LogOptions)
def compare(
    log: LogOptions,
    *,
    baseline: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The target to compare with.", show_default="the log itself")
    ] = None,
    predictions: Predictions = None,
    candidates: Candidates = ["default"],  # noqa: B006 (typer copies it)
    selector: SelectorName = "default",
    reward_model: Model = "default",
    level: Level = 0.95,
    interval: IntervalName = "student-t",
    threads: Threads = None,
    engine: EngineName = "auto",
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Say how much more each target policy would have earned than the log did, or than another one of them."""
    from counterfold.answers import evaluated
    from counterfold.models import Column
    from counterfold.question import Question

    if baseline is not None and baseline not in log.targets:
        raise ParameterError(f"`baseline` must be one of the targets, {', '.join(log.targets)}, got {baseline}.")
    model = None if reward_model == "none" else reward_model
    given = Column(predictions) if predictions else model
    chosen = chosen_selector(selector, None, None)
    question = Question(separated(candidates), chosen, given, seed, level, interval)
    with told_warnings():
        results, contents = evaluated(
            log.scan(), {name: name for name in log.targets}, question, threads, engine=engine
        )
    other = None if baseline is None else results[baseline]
    gaps = {name: one.uplift(other) for name, one in results.items() if name != baseline}
    if as_json:
        print_json({"log": {"file": log.log, **contents.to_dict()}, **compared(results, gaps, question, baseline)})
        return
    from counterfold.report import text

    text.show(text.contents(contents), text.comparison(results, gaps, question, baseline))


@app.command()
@taking(LogOptions)
def check(
    log: LogOptions,
    *,
    engine: EngineName = "auto",
    as_json: Json = False,
    seed: Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")] = 0,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold.answers import checked

    del seed
    found, contents = checked(log.scan(), {name: name for name in log.targets}, engine=engine)
    if as_json:
        diagnoses = [{"target": name, **asdict(diagnostics)} for name, diagnostics in found.items()]
        print_json({"log": {"file": log.log, **contents.to_dict()}, "diagnostics": diagnoses})
        return
    from counterfold.report import text

    text.show(text.contents(contents), *(text.headed(name, text.diagnostics(one)) for name, one in found.items()))


app.command()(paper)
app.command()(synth)
app.add_typer(bench, name="bench")


@app.command()
def methods(
    *,
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, with summaries and papers.")] = False,
) -> None:
    """List every estimator, selector, reward model and interval: parameters, limits, and what each needs."""
    from counterfold.report import methods as found
    from counterfold.report import text

    every = found.methods()
    if as_json:
        print_json({"methods": [asdict(one) for one in every]})
    elif as_markdown:
        typer.echo(found.markdown(every), nl=False)
    else:
        text.show(*(found.table(every, folder) for folder in found.FOLDERS))


def compared(
    results: "Mapping[str, Evaluation]", gaps: "Mapping[str, Estimate]", question: "Question", baseline: str | None
) -> dict[str, Any]:
    """Return values and differences as plain numbers and texts."""
    differences = []
    for name, gap in gaps.items():
        low, high = gap.interval(question.level, question.interval)
        ends = {"level": question.level, "low": low, "high": high}
        differences.append({"target": name, "difference": gap.value, "stderr": gap.stderr, "interval": ends})
    answers = [{"target": name, **result.to_dict()} for name, result in results.items()]
    return {"baseline": baseline or "log", "differences": differences, "evaluations": answers}


def chosen_selector(selector: str, validator: str | None, splits: int | None) -> Any:
    """Return the selector with the settings that have options of their own."""
    given: dict[str, Any] = {} if splits is None else {"splits": splits}
    if validator is not None:
        given["validator"] = registry.build("estimators", validator)
    if selector == "default":
        return registry.build("selectors", "ocv", **given) if given else selector
    return registry.build("selectors", selector, **given)


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
def told_warnings() -> Iterator[None]:
    """Print each different warning as one sentence on stderr that names the target."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        name = getattr(warning.message, "target", None)
        about = f"`{name}`: " if name else ""
        typer.echo(f"Warning: {about}{str(warning.message).removesuffix('.')}.", err=True)
