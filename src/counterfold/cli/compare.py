"""The command `compare`: how much more one policy would have earned than another, or than the log did."""

from typing import Annotated

from counterfold import messages
from counterfold.cli.options import (
    AnswerOptions,
    LogOptions,
    Requirement,
    list_evaluations,
    make_option,
    print_json,
    take_options,
)
from counterfold.errors import ParameterError

Baseline = Annotated[str | None, make_option("COLUMN", "The target to compare with.", "the log itself")]


@take_options
def compare(log: LogOptions, *, baseline: Baseline = None, answer: AnswerOptions, requirement: Requirement) -> None:
    """Say how much more each target policy would have earned than the log did, or than another one of them."""
    if baseline is not None and baseline not in log.targets:
        raise ParameterError(
            f"`baseline` must be one of the targets, {messages.list_names(log.targets)}, got {messages.show(baseline)}."
        )
    if {*log.targets} == {baseline}:
        raise ParameterError(
            f"`baseline` must be one of several targets, got {messages.show(baseline)} alone: nothing to compare."
        )
    results, contents = answer.evaluate(log)
    other = None if baseline is None else results[baseline]
    gaps = {name: one.uplift(other) for name, one in results.items() if name != baseline}
    if answer.as_json:
        known = {name: results[name].answerable and (other is None or other.answerable) for name in gaps}
        differences = [
            {"target": name, "answerable": known[name], **results[name].difference(gap)} for name, gap in gaps.items()
        ]
        found = {"baseline": baseline or "log", "differences": differences, "evaluations": list_evaluations(results)}
        print_json({"log": log.describe(contents), **found})
    else:
        from counterfold.report import console, text

        console.show(text.contents(contents), text.comparison(results, gaps, baseline))
    requirement.enforce(results)
