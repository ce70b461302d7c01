"""A figure of the paper from beginning to end: rows in Parquet, a summary in CSV, the picture, ours against theirs."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from counterfold import checks, words
from counterfold.errors import ParameterError
from counterfold.experiments import drawing, runner, summary
from counterfold.experiments.classification import Policies
from counterfold.experiments.contest import added
from counterfold.experiments.datasets import NAMES
from counterfold.experiments.figures import FIGURES, pieces
from counterfold.experiments.paper import Experiment
from counterfold.experiments.runner import Row
from counterfold.experiments.summary import Line
from counterfold.progress import Progress


def default_runs(name: str) -> int:
    """Return how many runs a figure has unless the user says so; an unknown name is refused later."""
    return FIGURES[name].runs if name in FIGURES else 1


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The settings of a run of one figure; `out` is where everything goes, and what a restart goes on from."""

    name: str
    out: Path
    runs: int
    datasets: tuple[str, ...] = NAMES
    pasif_runs: int = 0
    policies: Policies = "probabilities"
    data: Path | None = None
    add: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings before anything is written."""
        if self.name not in FIGURES:
            known = ", ".join(FIGURES)
            raise ParameterError(f"unknown figure `{self.name}`.{words.nearest(self.name, FIGURES)} Known: {known}.")
        checks.whole(1, runs=self.runs)
        checks.whole(0, pasif_runs=self.pasif_runs, seed=self.seed)
        for dataset in self.datasets:
            checks.one_of(NAMES, datasets=dataset)
        added(self.add)

    def run(self, jobs: int = 1, progress: Progress | None = None) -> tuple[list[Line], list[Path]]:
        """Return the summary and the files written, all of them whole or not there at all."""
        checks.whole(1, jobs=jobs)
        figure = FIGURES[self.name]
        wanted = pieces(figure, self.runs, self.datasets, self.pasif_runs)
        experiment = Experiment(self.name, self.policies, self.data, self.out / "fits", self.add, self.seed)
        settings = {"figure": self.name, "policies": self.policies, "add": list(self.add), "seed": self.seed}
        settings["version"] = version("counterfold")
        journal = self.out / f"{self.name}.jsonl"
        rows = runner.rows_of(wanted, experiment, journal, settings, jobs, progress)
        lines = summary.summarised(rows, figure, self.name)
        stem = self.out / self.name
        saved(rows, stem.with_suffix(".parquet"))
        summary.write(lines, stem.with_suffix(".csv"))
        return lines, [stem.with_suffix(".parquet"), stem.with_suffix(".csv"), *drawing.drawn(lines, figure, stem)]


def saved(rows: Sequence[Row], path: Path) -> None:
    """Write one row per run and method as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with runner.whole(path) as part:
        pq.write_table(pa.Table.from_pylist(list(rows)), part)
