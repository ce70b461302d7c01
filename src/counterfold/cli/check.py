"""The command `check`: whether a log can answer at all."""

from dataclasses import asdict
from typing import Annotated

import typer

from counterfold.cli._parameters import take_options
from counterfold.cli.options import Engine, Json, LogOptions, print_json


@take_options
def check(
    log: LogOptions,
    *,
    engine: Engine = "auto",
    as_json: Json = False,
    seed: Annotated[int, typer.Option(help="Accepted as everywhere; nothing here is random.")] = 0,
) -> None:
    """Say whether a log can answer for each target policy, without evaluating any."""
    from counterfold.answers import checked

    del seed
    found, contents = checked(log.build_scan(), log.targets, engine=engine)
    if as_json:
        diagnoses = [{"target": name, **asdict(diagnostics)} for name, diagnostics in found.items()]
        print_json({"log": log.describe(contents), "diagnostics": diagnoses})
        return
    from counterfold.report import text

    text.show(text.contents(contents), *(text.headed(name, text.diagnostics(one)) for name, one in found.items()))
