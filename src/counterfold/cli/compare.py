"""The command `compare`: how much more one policy would have earned than another, or than the log did."""

from typing import Annotated

from counterfold.cli.options import AnswerOptions, LogOptions, Requirement, make_option, print_json, take_options

Baseline = Annotated[str | None, make_option("COLUMN", "The target to compare with.", "the log itself")]


@take_options
def compare(log: LogOptions, *, baseline: Baseline = None, answer: AnswerOptions, requirement: Requirement) -> None:
    """Say how much more each target policy would have earned than the log did, or than another one of them."""
    from counterfold.evaluation.comparison import Comparison, require_baseline

    require_baseline(baseline, log.targets)
    results, contents = answer.evaluate(log)
    found = Comparison(results, baseline)
    if answer.as_json:
        print_json({"log": log.describe(contents), **found.to_dict()})
    else:
        from counterfold.report import console, text

        console.show(text.contents(contents), text.comparison(found))
    requirement.enforce(results)
