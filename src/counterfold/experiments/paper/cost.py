"""The paper's table of what a choice among IPS, DM and DR costs by each method: seconds, and ratios of them."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterfold import PASIF, checks
from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.experiment import PaperExperiment, PaperTask, Trial, rows_of_problem
from counterfold.experiments.paper.figures import FIGURES, PASIF_NAME, three_candidates
from counterfold.experiments.problem import Problem
from counterfold.pool import limit_blas
from counterfold.progress import Progress

UNIT = "OCV_IPS"
"""The method whose seconds the others are compared with."""

PUBLISHED_SECONDS = {UNIT: 0.06, "OCV_DR": 0.13, "SLOPE": 0.005, PASIF_NAME: 13.91}
"""The seconds that the paper reports, of a laptop with a GPU."""


@dataclass(frozen=True)
class Cost:
    """The mean seconds of a method on a dataset, their ratio to those of OCV_IPS there, and the published ratio."""

    dataset: str
    method: str
    runs: int
    seconds: float
    ratio: float
    published_ratio: float


def measure_costs(
    datasets: Sequence[str], runs: int, data: Path | None, fits: Path | None, *, pasif: bool, progress: Progress | None
) -> list[Cost]:
    """Return the cost of every method on every dataset, measured one after the other on one thread."""
    for dataset in datasets:
        checks.one_of(NAMES, datasets=dataset)
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
