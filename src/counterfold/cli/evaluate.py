"""The command `evaluate`: what each target policy would have earned."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from counterfold.base.records import as_dictionary
from counterfold.cli._answers import join_rewards
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import AnswerOptions, Everything, LogOptions, Requirement, TableOverTime, take_options
from counterfold.cli.printing import print_answer

if TYPE_CHECKING:
    from counterfold.cli.records import EvaluateRecord
    from counterfold.evaluation.assembly import Results
    from counterfold.evaluation.result import Evaluation


@take_options
def evaluate(
    log: LogOptions,
    answer: AnswerOptions,
    *,
    everything: Everything = False,
    lines: TableOverTime,
    report: ReportOptions,
    requirement: Requirement,
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    report.spare(log.columns.source)
    found = {reward: one.by(lines.period) for reward, one in answer.evaluate(log).items()}
    write_report(report, log, found)
    if answer.common.as_json:
        print_answer(describe(log, found))
    else:
        from counterfold.report import console, details, text

        first = next(iter(found.values()))
        for name in first.targets:
            by_reward = {reward: one.targets[name] for reward, one in found.items()}
            if len(found) > 1:
                console.show(*text.rewards(name, by_reward, segments=not (everything or lines.period)))
            if len(found) == 1 or everything or lines.period:
                for reward, result in by_reward.items():
                    title = name if len(found) == 1 else f"{name} by {reward}"
                    console.show(*text.evaluation(title, result, everything=everything))
        console.show(details.contents({reward: one.contents for reward, one in found.items()}))
    requirement.enforce(found)


def describe(log: LogOptions, found: "Mapping[str, Results[Evaluation]]") -> dict[str, Any]:
    """Return what JSON answers say about a log and its targets."""
    answers: dict[str, EvaluateRecord] = {}
    for reward, (evaluations, contents) in found.items():
        answers[reward] = {
            "log": log.describe(contents),
            "evaluations": [{"target": name, **one.to_record()} for name, one in evaluations.items()],
        }
    return as_dictionary(join_rewards(answers))


def write_report(report: ReportOptions, log: LogOptions, found: "Mapping[str, Results[Evaluation]]") -> None:
    """Write the report, if one is wanted."""
    from counterfold.evaluation.comparison import Comparison

    report.write_answers(
        {reward: Comparison(one.targets) for reward, one in found.items()}, lambda: describe(log, found), log
    )
