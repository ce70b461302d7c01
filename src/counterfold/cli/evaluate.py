"""The command `evaluate`: what each target policy would have earned."""

from dataclasses import replace

from counterfold.cli.options import (
    AnswerOptions,
    Everything,
    LogOptions,
    Requirement,
    TableOverTime,
    list_evaluations,
    print_json,
    take_options,
)


@take_options
def evaluate(
    log: LogOptions,
    answer: AnswerOptions,
    *,
    everything: Everything = False,
    lines: TableOverTime,
    requirement: Requirement,
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    results, contents = answer.evaluate(log)
    results = {name: replace(one, diagnostics=one.diagnostics.by(lines.period)) for name, one in results.items()}
    if answer.as_json:
        print_json({"log": log.describe(contents), "evaluations": list_evaluations(results)})
    else:
        from counterfold.report import console, text

        console.show(text.contents(contents))
        for name, result in results.items():
            candidates = text.candidates(result, everything=everything)
            console.show(text.answer(name, result), candidates, text.diagnostics(result.diagnostics))
    requirement.enforce(results)
