"""Reproduction: a figure of the paper from beginning to end, and the files of its results."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from counterfold import Estimator, checks, messages
from counterfold.errors import ParameterError
from counterfold.experiments.files import Row, refuse_unwritable, write_csv, write_parquet
from counterfold.experiments.paper import datasets
from counterfold.experiments.paper.classification import Policies
from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.experiment import ORACLE, PaperExperiment, list_tasks
from counterfold.experiments.paper.figures import EVERYTHING, FIGURES, PASIF_NAME, TUNED
from counterfold.experiments.paper.own_classes import digest_source, load_classes
from counterfold.experiments.paper.results import Line, draw_figure, read_published, summarise
from counterfold.experiments.results import load_pyplot
from counterfold.experiments.runner import run_tasks
from counterfold.progress import Progress


def default_runs(name: str) -> int:
    """Return how many runs a figure has unless the user says so; an unknown name is refused later."""
    return FIGURES[name].runs if name in FIGURES else 1


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The settings of a run of one figure; all files go to the folder `out`, and a restart goes on from there."""

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
        if self.name not in FIGURES:
            known = ", ".join(FIGURES)
            raise ParameterError(f"unknown figure `{self.name}`.{messages.suggest(self.name, FIGURES)} Known: {known}.")
        checks.whole(1, runs=self.runs)
        checks.whole(0, pasif_runs=self.pasif_runs, seed=self.seed)
        for dataset in self.datasets:
            checks.one_of(NAMES, datasets=dataset)
        figure = FIGURES[self.name]
        taken = {*figure.selectors, *figure.set_selectors, PASIF_NAME, ORACLE, EVERYTHING}
        taken |= {one.name for one in figure.single_candidates} | {kind.__name__ for kind in TUNED}
        load_classes(self.add, taken)

    def run(self, jobs: int = 1, progress: Progress | None = None) -> tuple[list[Line], list[Path]]:
        """Return the summary and the paths of the files, each of which is written as a whole or not at all."""
        checks.whole(1, jobs=jobs)
        figure, stem = FIGURES[self.name], self.out / self.name
        tasks = list_tasks(figure, self.runs, self.datasets, self.pasif_runs)
        load_pyplot()
        for dataset in dict.fromkeys(task.dataset for task in tasks):
            datasets.load_once(dataset, self.data)  # so that a missing file is reported now, not after hours
        experiment = PaperExperiment(self.name, self.policies, self.data, self.out / "fits", self.add, self.seed)
        with refuse_unwritable(self.out):
            rows = run_tasks(tasks, experiment, stem.with_suffix(".jsonl"), self.settings, jobs, progress)
            lines = summarise(rows, figure, read_published(self.name) if self.is_comparable else {})
            tables = [write_parquet(rows, stem.with_suffix(".parquet")), write_csv(lines, stem.with_suffix(".csv"))]
            return lines, [*tables, *draw_figure(lines, figure, stem)]

    @property
    def is_comparable(self) -> bool:
        """Say whether policies and candidates are those of the published results; own selectors do not matter."""
        own = any(issubclass(kind, Estimator) for kind in load_classes(self.add))
        return self.policies == "probabilities" and not own

    @property
    def settings(self) -> Row:
        """Return what the rows depend on besides their tasks, which includes the code of the user's own classes."""
        own = {path: digest_source(path) for path in self.add}
        what = {"figure": self.name, "policies": self.policies, "add": own, "seed": self.seed}
        return what | {"version": version("counterfold")}
