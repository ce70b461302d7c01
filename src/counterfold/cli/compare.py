"""The command `compare`: how much more one policy would have earned than another, or than the log did."""

from typing import Annotated, Any

from counterfold.cli._answers import join_rewards
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import (
    AnswerOptions,
    LogOptions,
    Requirement,
    make_option,
    print_json,
    take_options,
)

Baseline = Annotated[str | None, make_option("COLUMN", "The target to compare with.", "the log itself")]


@take_options
def compare(
    log: LogOptions,
    *,
    baseline: Baseline = None,
    answer: AnswerOptions,
    report: ReportOptions,
    requirement: Requirement,
) -> None:
    """Say how much more each target policy would have earned than the log did, or than another one of them."""
    from counterfold.evaluation.comparison import Comparison, require_baseline

    require_baseline(baseline, log.targets)
    report.spare(log.columns.source)
    found = answer.evaluate(log)
    compared = {reward: (Comparison(one.targets, baseline), one.contents) for reward, one in found.items()}

    def describe() -> dict[str, Any]:
        return join_rewards({name: {"log": log.describe(of), **one.to_dict()} for name, (one, of) in compared.items()})

    report.write_answers({reward: one for reward, (one, _) in compared.items()}, describe, log)
    if answer.as_json:
        print_json(describe())
    else:
        from counterfold.report import console, details, tables, text

        for reward, (one, _) in compared.items():
            shown = text.comparison(one)
            console.show(*(shown if len(found) == 1 else [tables.add_title(f"by {reward}"), *shown]))
        console.show(details.contents({reward: one.contents for reward, one in found.items()}))
    requirement.enforce(found)
