"""The command `evaluate`: what each target policy would have earned."""

from counterfold.cli.options import (
    AnswerOptions,
    Everything,
    LogOptions,
    Requirement,
    join_rewards,
    list_evaluations,
    print_json,
    take_options,
)


@take_options
def evaluate(
    log: LogOptions, answer: AnswerOptions, *, everything: Everything = False, requirement: Requirement
) -> None:
    """Say what each target policy would have earned, with an interval and the evidence."""
    found = answer.evaluate(log)
    if answer.as_json:
        each = {reward: (log.describe(contents), list_evaluations(one)) for reward, (one, contents) in found.items()}
        print_json(join_rewards({name: {"log": of, "evaluations": several} for name, (of, several) in each.items()}))
    else:
        from counterfold.report import console, text

        first = next(iter(found.values()))
        console.show(text.contents(first.contents))
        for name, result in first.targets.items():
            if len(found) > 1:
                by_reward = {reward: one.targets[name] for reward, one in found.items()}
                console.show(text.add_title(name, text.rewards(by_reward)))
            else:
                lines = text.candidates(result, everything=everything)
                console.show(text.answer(name, result), lines, text.diagnostics(result.diagnostics))
    requirement.enforce(found)
