"""The paper's figures from beginning to end, with the files of their results, and its table of costs."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from counterfold import PASIF, Estimator, ParameterError
from counterfold.base import messages, validation
from counterfold.base.progress import Progress
from counterfold.base.threads import limit_blas
from counterfold.simulation import Problem
from counterfold_lab.files import refuse_unwritable, write_csv, write_parquet
from counterfold_lab.paper import datasets
from counterfold_lab.paper.classification import Policies
from counterfold_lab.paper.datasets import NAMES
from counterfold_lab.paper.experiment import PaperExperiment, PaperTask, Trial, list_tasks, rows_of_problem
from counterfold_lab.paper.figures import EVERYTHING, FIGURES, ORACLE, PASIF_NAME, TUNED, three_candidates
from counterfold_lab.paper.own_classes import digest_source, load_classes
from counterfold_lab.paper.results import Line, draw_figure, read_published, summarise
from counterfold_lab.results import load_pyplot
from counterfold_lab.runner import run_tasks


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
        validation.whole(1, runs=self.runs)
        validation.whole(0, pasif_runs=self.pasif_runs)
        validation.seeds(seed=self.seed)
        for dataset in self.datasets:
            validation.one_of(NAMES, datasets=dataset)
        figure = FIGURES[self.name]
        taken = {*figure.selectors, *figure.set_selectors, PASIF_NAME, ORACLE, EVERYTHING}
        taken |= {one.name for one in figure.single_candidates} | {kind.__name__ for kind in TUNED}
        load_classes(self.add, taken)

    def run(self, jobs: int = 1, progress: Progress | None = None) -> tuple[list[Line], list[Path]]:
        """Return the summary and the paths of the files, each of which is written as a whole or not at all."""
        validation.whole(1, jobs=jobs)
        figure, stem = FIGURES[self.name], self.out / self.name
        tasks = list_tasks(figure, self.runs, self.datasets, self.pasif_runs)
        load_pyplot()
        for dataset in dict.fromkeys(task.dataset for task in tasks):
            datasets.load_once(dataset, self.data)  # so that a missing file is reported now, not after hours
        experiment = PaperExperiment(self.name, self.policies, self.data, self.out / "fits", self.add, self.seed)
        code = {path: digest_source(path) for path in self.add}
        settings = {"figure": self.name, "policies": self.policies, "add": code, "seed": self.seed}
        settings |= {"version": version("counterfold")}
        own_estimators = any(issubclass(kind, Estimator) for kind in load_classes(self.add))
        is_comparable = self.policies == "probabilities" and not own_estimators  # own selectors do not matter
        with refuse_unwritable(self.out):
            rows = run_tasks(tasks, experiment, stem.with_suffix(".jsonl"), settings, jobs, progress)
            lines = summarise(rows, figure, read_published(self.name) if is_comparable else {})
            tables = [write_parquet(rows, stem.with_suffix(".parquet")), write_csv(lines, stem.with_suffix(".csv"))]
            return lines, [*tables, *draw_figure(lines, figure, stem)]


UNIT = "OCV_IPS"
PUBLISHED_SECONDS = {UNIT: 0.06, "OCV_DR": 0.13, "SLOPE": 0.005, PASIF_NAME: 13.91}
"""The method that the others are compared with, and the seconds that the paper reports, of a laptop with a GPU."""


@dataclass(frozen=True)
class Cost:
    """What a method costs."""

    dataset: str
    """The dataset."""

    method: str
    """The method."""

    runs: int
    """The number of runs."""

    seconds: float
    """The mean time in seconds."""

    ratio: float
    """The ratio of the time to that of OCV with IPS on the same dataset."""

    published_ratio: float
    """The published ratio."""


def measure_costs(
    datasets: Sequence[str], runs: int, data: Path | None, fits: Path | None, *, pasif: bool, progress: Progress | None
) -> list[Cost]:
    """Return the cost of every method on every dataset, measured one after the other on one thread."""
    for dataset in datasets:
        validation.one_of(NAMES, datasets=dataset)
    experiment, found = PaperExperiment("figure1", data=data, fits=fits), []
    for count, dataset in enumerate(datasets, 1):
        tasks = (PaperTask(dataset, 1.0, 10.0, run=run) for run in (0, *range(runs)))
        spent = time_methods(map(experiment.draw_problem, tasks), pasif=pasif)
        for method, seconds in spent.items():
            published = PUBLISHED_SECONDS[method] / PUBLISHED_SECONDS[UNIT]
            found.append(Cost(dataset, method, runs, seconds / runs, seconds / spent[UNIT], published))
        if progress:
            progress(count, len(datasets))
    return found


def time_methods(problems: Iterable[Problem], *, pasif: bool) -> dict[str, float]:
    """Return the seconds that each method takes for all problems but the first, which warms up."""
    figure = FIGURES["figure1"]
    methods = figure.selectors | figure.set_selectors | ({PASIF_NAME: PASIF()} if pasif else {})
    spent = dict.fromkeys(methods, 0.0)
    with limit_blas():
        for number, rows in enumerate(map(rows_of_problem, problems)):
            for method, selector in methods.items():
                fresh = rows.take(slice(None))  # so that no method profits from what another one has computed
                trial = Trial(fresh, three_candidates(fresh), max(number - 1, 0))
                choose = trial.choose_within_sets if method in figure.set_selectors else trial.choose_by_scores
                start = time.perf_counter()
                choose(method, selector)
                spent[method] += time.perf_counter() - start if number else 0.0
    return spent
