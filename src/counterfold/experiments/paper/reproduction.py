"""A figure of the paper from beginning to end: rows in Parquet, a summary in CSV, the picture, ours against theirs."""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from counterfold import checks, words
from counterfold.errors import DataError, ParameterError
from counterfold.estimators.base import Estimator
from counterfold.experiments import runner
from counterfold.experiments.paper import experiment as paper
from counterfold.experiments.paper.classification import Policies
from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.experiment import Experiment
from counterfold.experiments.paper.figures import EVERYTHING, FIGURES, PASIF_NAME, TUNED, Piece, pieces
from counterfold.experiments.paper.results import drawing, summary
from counterfold.experiments.paper.results.summary import Line
from counterfold.experiments.paper.trial import ORACLE, added
from counterfold.experiments.runner import Row
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
        figure = FIGURES[self.name]
        taken = [*figure.selectors, *figure.apart, *(one.name for one in figure.alone), PASIF_NAME, ORACLE, EVERYTHING]
        added(self.add, [*taken, *(kind.__name__ for kind in TUNED)])

    def run(self, jobs: int = 1, progress: Progress | None = None) -> tuple[list[Line], list[Path]]:
        """Return the summary and the files written, all of them whole or not there at all."""
        checks.whole(1, jobs=jobs)
        figure = FIGURES[self.name]
        wanted = pieces(figure, self.runs, self.datasets, self.pasif_runs)
        drawing.pyplot()
        for dataset in dict.fromkeys(piece.dataset for piece in wanted):
            paper.cached(dataset, self.data)  # what is missing is better said now than after hours
        try:
            return self.performed(wanted, jobs, progress)
        except OSError as error:
            raise DataError(f"`{self.out}` must be a folder that can be written to: {error}.") from None

    def performed(self, wanted: Sequence[Piece], jobs: int, progress: Progress | None) -> tuple[list[Line], list[Path]]:
        """Return the summary and the files of all wanted pieces."""
        figure, stem = FIGURES[self.name], self.out / self.name
        experiment = Experiment(self.name, self.policies, self.data, self.out / "fits", self.add, self.seed)
        rows = runner.rows_of(wanted, experiment, stem.with_suffix(".jsonl"), self.settings, jobs, progress)
        comparable = self.policies == "probabilities" and not self.changed
        lines = summary.summarised(rows, figure, summary.published(self.name) if comparable else {})
        tables = [runner.saved(rows, stem.with_suffix(".parquet")), summary.write(lines, stem.with_suffix(".csv"))]
        return lines, [*tables, *drawing.drawn(lines, figure, stem)]

    @property
    def changed(self) -> bool:
        """Say whether a user's estimator changes what is chosen from, so that published values do not compare."""
        return any(issubclass(kind, Estimator) for kind in added(self.add))

    @property
    def settings(self) -> Row:
        """Return what the rows depend on besides their pieces, the code of a user's own parts included."""
        own = {path: source_of(path) for path in self.add}
        what = {"figure": self.name, "policies": self.policies, "add": own, "seed": self.seed}
        return what | {"version": version("counterfold")}


def source_of(path: str) -> str:
    """Return 16 digits that change when the module of `MODULE:CLASS` does."""
    file = sys.modules[path.partition(":")[0]].__file__
    return "" if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
