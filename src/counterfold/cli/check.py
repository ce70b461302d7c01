"""The command `check`: whether a log can answer at all."""

from typing import Annotated

import typer

from counterfold.cli.options import (
    Engine,
    Json,
    LogOptions,
    Requirement,
    TableOverTime,
    print_json,
    print_warnings,
    take_options,
)

UnusedSeed = Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")]


@take_options
def check(
    log: LogOptions,
    *,
    engine: Engine = "auto",
    as_json: Json = False,
    seed: UnusedSeed = 0,
    lines: TableOverTime,
    requirement: Requirement,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold.evaluation.assembly import check_targets

    del seed
    with print_warnings():
        found, contents = check_targets(log.build_scan(), log.targets, engine=engine)
    found = {name: one.by(lines.period) for name, one in found.items()}
    if as_json:
        diagnoses = [{"target": name, **diagnostics.to_dict()} for name, diagnostics in found.items()]
        print_json({"log": log.describe(contents), "diagnostics": diagnoses})
    else:
        from counterfold.report import console, text

        several = (text.add_title(name, text.diagnostics(one)) for name, one in found.items())
        console.show(text.contents(contents), *several)
    requirement.enforce(found)
