"""The command `compare`: how much more one policy would have earned than another, or than the log did."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.errors import ParameterError
from counterfold.options import (
    Candidates,
    EngineName,
    IntervalName,
    Json,
    Level,
    LogOptions,
    Model,
    Predictions,
    Seed,
    SelectorName,
    Threads,
    chosen_selector,
    print_json,
    separated,
    told_warnings,
)

if TYPE_CHECKING:
    from counterfold.estimates import Estimate
    from counterfold.evaluation.result import Evaluation


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
    from counterfold.evaluation.assembly import evaluate_targets as evaluated
    from counterfold.evaluation.question import Question
    from counterfold.models import Column

    if baseline is not None and baseline not in log.targets:
        raise ParameterError(f"`baseline` must be one of the targets, {', '.join(log.targets)}, got {baseline}.")
    if {*log.targets} == {baseline}:
        raise ParameterError(f"`baseline` must be one of several targets, got {baseline} alone: nothing to compare.")
    model = None if reward_model == "none" else reward_model
    given = Column(predictions) if predictions else model
    chosen = chosen_selector(selector, None, None)
    question = Question.of(separated(candidates), chosen, given, seed, level, interval)
    with told_warnings():
        results, contents = evaluated(
            log.scan(), {name: name for name in log.targets}, question, threads=threads, engine=engine
        )
    other = None if baseline is None else results[baseline]
    gaps = {name: one.uplift(other) for name, one in results.items() if name != baseline}
    if as_json:
        print_json({"log": {"file": log.log, **contents.to_dict()}, **compared(results, gaps, baseline)})
        return
    from counterfold.report import text

    text.show(text.contents(contents), text.comparison(results, gaps, baseline))


def compared(
    results: "Mapping[str, Evaluation]", gaps: "Mapping[str, Estimate]", baseline: str | None
) -> dict[str, Any]:
    """Return values and differences as plain numbers and texts."""
    differences = [{"target": name, **results[name].difference(gap)} for name, gap in gaps.items()]
    answers = [{"target": name, **result.to_dict()} for name, result in results.items()]
    return {"baseline": baseline or "log", "differences": differences, "evaluations": answers}
