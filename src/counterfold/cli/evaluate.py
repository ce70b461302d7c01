"""The command `evaluate`: what each target policy would have earned."""

from counterfold.cli._answers import join_rewards, list_evaluations
from counterfold.cli.options import (
    AnswerOptions,
    Everything,
    LogOptions,
    Requirement,
    TableOverTime,
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
    found = {reward: one.by(lines.period) for reward, one in answer.evaluate(log).items()}
    if answer.as_json:
        each = {reward: (log.describe(contents), list_evaluations(one)) for reward, (one, contents) in found.items()}
        print_json(join_rewards({name: {"log": of, "evaluations": several} for name, (of, several) in each.items()}))
    else:
        from counterfold.report import console, details, text

        first = next(iter(found.values()))
        for name in first.targets:
            by_reward = {reward: one.targets[name] for reward, one in found.items()}
            if len(found) > 1:
                console.show(*text.rewards(name, by_reward))
            if len(found) == 1 or everything or lines.period:
                for reward, result in by_reward.items():
                    title = name if len(found) == 1 else f"{name} by {reward}"
                    console.show(*text.evaluation(title, result, everything=everything))
        console.show(details.contents(first.contents))
    requirement.enforce(found)
