"""The command line. No estimator, selector or model is named here: names come from the folders."""

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from counterfold.benching import bench
from counterfold.comparing import compare
from counterfold.errors import CounterfoldError
from counterfold.options import (
    Candidates,
    EngineName,
    Everything,
    IntervalName,
    Json,
    Level,
    LogOptions,
    Model,
    Predictions,
    Seed,
    SelectorName,
    Splits,
    Threads,
    Validator,
    chosen_selector,
    print_json,
    separated,
    taking,
    told_warnings,
)
from counterfold.progress import bar
from counterfold.reproducing import paper
from counterfold.synthesis import synth

UsageError: Any = typer.BadParameter.__base__  # typer gives it no name of its own

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


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
    from counterfold.evaluation import evaluate as run
    from counterfold.experiments.demo import digits

    problem = digits(seed)
    with bar("Cross-validating", after=0) as progress:
        result = run(problem.log, problem.target, seed=seed, threads=threads, progress=progress)
    if as_json:
        print_json({"truth": problem.truth, **result.to_dict()})
        return
    from rich.text import Text

    from counterfold.log import Contents
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
    from counterfold.evaluation.assembly import evaluate_targets as evaluated
    from counterfold.evaluation.question import Question
    from counterfold.models import Column

    model = None if reward_model == "none" else reward_model
    chosen = chosen_selector(selector, validator, splits)
    question = Question.of(
        separated(candidates), chosen, Column(predictions) if predictions else model, seed, level, interval
    )
    targets = {name: name for name in log.targets}
    with told_warnings():
        results, contents = evaluated(log.scan(), targets, question, threads=threads, engine=engine)
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
def check(
    log: LogOptions,
    *,
    engine: EngineName = "auto",
    as_json: Json = False,
    seed: Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")] = 0,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold.evaluation.assembly import check_targets as checked

    del seed
    found, contents = checked(log.scan(), {name: name for name in log.targets}, engine=engine)
    if as_json:
        diagnoses = [{"target": name, **diagnostics.to_dict()} for name, diagnostics in found.items()]
        print_json({"log": {"file": log.log, **contents.to_dict()}, "diagnostics": diagnoses})
        return
    from counterfold.report import text

    text.show(text.contents(contents), *(text.headed(name, text.diagnostics(one)) for name, one in found.items()))


app.command()(taking(LogOptions)(compare))
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
