"""The command `compare`: how much more one policy would have earned than another, or than the log did."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from counterfold.base.records import as_dictionary
from counterfold.cli._answers import join_rewards
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import AnswerOptions, LogOptions, Requirement, TableOverTime, make_option, take_options
from counterfold.cli.printing import print_answer

if TYPE_CHECKING:
    from counterfold.cli.records import CompareRecord
    from counterfold.evaluation.comparison import Comparison
    from counterfold.log.contents import Contents

GUARD = "A limit on another reward, such as `latency <= +2%` of the baseline's, `refund <= +0.01` or `latency <= 200`."

Baseline = Annotated[
    str | None,
    make_option("COLUMN", "The target to compare with, which need not be repeated as a --target.", "the log itself"),
]
Guards = Annotated[list[str] | None, make_option("RULE", f"{GUARD} Can be repeated.")]


@take_options
def compare(
    log: LogOptions,
    *,
    baseline: Baseline = None,
    guard: Guards = None,
    lines: TableOverTime,
    answer: AnswerOptions,
    report: ReportOptions,
    requirement: Requirement,
) -> None:
    """Say how much more each target policy would have earned than the log did, or than another one of them."""
    from counterfold.evaluation.comparison import Comparison, add_baseline, guard_comparison, resolve_baseline
    from counterfold.evaluation.guard import add_rewards, read_guards

    if baseline is not None and list(add_baseline(log.targets, baseline)) != list(log.targets):
        others = log.target_action or log.target_probability
        plain = log.target or ([] if others else list(log.targets))
        log = replace(log, target=[*plain, baseline])
    baseline = resolve_baseline(baseline, log.targets)
    rules = read_guards(guard or [])
    decisive, rewards = add_rewards(vars(log.columns), rules)
    report.spare(log.columns.source)
    several = answer.evaluate(replace(log, columns=replace(log.columns, reward=rewards)))
    found = {reward: one.by(lines.period) for reward, one in several.items()}
    compared = {reward: (Comparison(one.targets, baseline), one.contents) for reward, one in found.items()}
    judged = {reward: found[reward]._replace(targets=dict(one.evaluations)) for reward, (one, _) in compared.items()}
    if rules:
        each = {reward: one.targets for reward, one in found.items()}
        compared = {decisive: (guard_comparison(each, baseline, rules, decisive), found[decisive].contents)}

    def describe() -> dict[str, Any]:
        answers: dict[str, CompareRecord] = {
            reward: {"log": log.describe(contents), **comparison.to_record()}
            for reward, (comparison, contents) in compared.items()
        }
        return as_dictionary(join_rewards(answers))

    report.write_answers({reward: one for reward, (one, _) in compared.items()}, describe, log)
    if answer.common.as_json:
        print_answer(describe())
    else:
        show(compared)
    requirement.enforce(judged)
    if rules and not any(guarded.passes for guarded in compared[decisive][0].guarded):
        requirement.miss("a policy must keep to all guards, but none does")


def show(compared: "Mapping[str, tuple[Comparison, Contents]]") -> None:
    """Print comparisons, and what the log holds."""
    from counterfold.report import console, details, tables, text

    for reward, (one, _) in compared.items():
        shown = text.comparison(one)
        console.show(*(shown if len(compared) == 1 else [tables.add_title(f"by {reward}"), *shown]))
    console.show(details.contents({reward: contents for reward, (_, contents) in compared.items()}))
