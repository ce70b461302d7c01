"""The command `check`: whether a log can answer at all."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.base.records import as_dictionary
from counterfold.cli._answers import join_rewards
from counterfold.cli._report import ReportOptions
from counterfold.cli.options import Engine, Everything, Json, LogOptions, Requirement, TableOverTime, take_options
from counterfold.cli.printing import print_answer, print_warnings

if TYPE_CHECKING:
    from counterfold.cli.records import CheckRecord
    from counterfold.diagnostics import Diagnostics
    from counterfold.evaluation.assembly import Results
    from counterfold.log.contents import Contents

UnusedSeed = Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")]


@take_options
def check(
    log: LogOptions,
    *,
    engine: Engine = "auto",
    as_json: Json = False,
    seed: UnusedSeed = 0,
    everything: Everything = False,
    lines: TableOverTime,
    report: ReportOptions,
    requirement: Requirement,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold.evaluation.assembly import check_targets

    del seed
    report.spare(log.columns.source)
    with print_warnings():
        several = check_targets(log.build_scan(), log.targets, engine=engine)
    found = {reward: one.by(lines.period) for reward, one in several.items()}
    report.write_checks(found, lambda: describe_all(log, found), log)
    if as_json:
        print_answer(describe_all(log, found))
    else:
        from counterfold.report import console, details, text

        for reward, (targets, _) in found.items():
            for name, one in targets.items():
                title = name if len(found) == 1 else f"{name} by {reward}"
                console.show(*text.check(title, one, everything=everything))
        console.show(details.contents({reward: one.contents for reward, one in found.items()}))
    requirement.enforce(found)


def describe_all(log: LogOptions, found: "Mapping[str, Results[Diagnostics]]") -> dict[str, Any]:
    """Return what JSON answers say about a log and its targets, by each reward."""
    return as_dictionary(join_rewards({reward: describe(log, *one) for reward, one in found.items()}))


def describe(log: LogOptions, found: "Mapping[str, Diagnostics]", contents: "Contents") -> "CheckRecord":
    """Return what JSON answers say about a log and its targets."""
    return {
        "log": log.describe(contents),
        "diagnostics": [{"target": name, **diagnostics.to_record()} for name, diagnostics in found.items()],
    }
