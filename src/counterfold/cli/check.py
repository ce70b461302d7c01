"""The command `check`: whether a log can answer at all."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.cli._answers import join_rewards
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

if TYPE_CHECKING:
    from counterfold.contents import Contents
    from counterfold.diagnostics import Diagnostics

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
        several = check_targets(log.build_scan(), log.targets, engine=engine)
    found = {reward: one.by(lines.period) for reward, one in several.items()}
    if as_json:
        print_json(join_rewards({reward: describe(log, *one) for reward, one in found.items()}))
    else:
        from counterfold.report import console, text

        for reward, (targets, contents) in found.items():
            shown = (text.add_title(name, text.diagnostics(one)) for name, one in targets.items())
            log_holds = text.contents(contents)
            console.show(log_holds if len(found) == 1 else text.add_title(f"by {reward}", log_holds), *shown)
    requirement.enforce(found)


def describe(log: LogOptions, found: "Mapping[str, Diagnostics]", contents: "Contents") -> dict[str, Any]:
    """Return what JSON says of a log and its targets."""
    diagnoses = [{"target": name, **diagnostics.to_dict()} for name, diagnostics in found.items()]
    return {"log": log.describe(contents), "diagnostics": diagnoses}
