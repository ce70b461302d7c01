"""The command `evaluate`: what each target policy would have earned."""

from counterfold.cli.options import (
    AnswerOptions,
    Everything,
    LogOptions,
    Requirement,
    list_evaluations,
    print_json,
    take_options,
)


@take_options
def evaluate(
    log: LogOptions, answer: AnswerOptions, *, everything: Everything = False, requirement: Requirement
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    results, contents = answer.evaluate(log)
    if answer.as_json:
        print_json({"log": log.describe(contents), "evaluations": list_evaluations(results)})
    else:
        from counterfold.report import console, text

        console.show(text.contents(contents))
        for name, result in results.items():
            lines = text.candidates(result, everything=everything)
            console.show(text.answer(name, result), lines, text.diagnostics(result.diagnostics))
    requirement.enforce(results)
