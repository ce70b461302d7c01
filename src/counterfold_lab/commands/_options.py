"""The options that experiments share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from counterfold.cli.options import Json, Seed, make_option


@dataclass(frozen=True)
class ExperimentOptions:
    """Where an experiment gets its data and writes its results, and how it runs."""

    out: Annotated[Path, make_option("DIR", "Where everything goes, and what a restart goes on from.")]
    jobs: Annotated[int | None, make_option("N", "Processes.", "all cores")] = None
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Datasets as files.", envvar="COUNTERFOLD_DATASETS", show_default="OpenML"),
    ] = None
    as_json: Json = False
    seed: Seed = 0

    def count_jobs(self) -> int:
        """Return the number of processes."""
        from counterfold.base.threads import count_cores

        return count_cores() if self.jobs is None else self.jobs
