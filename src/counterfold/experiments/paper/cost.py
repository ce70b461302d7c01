"""What a choice among IPS, DM and DR costs by each method, as the paper's table has it: seconds, and ratios of them."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterfold import checks
from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.experiment import Experiment
from counterfold.experiments.paper.figures import FIGURES, PASIF_NAME, Piece, three
from counterfold.experiments.paper.results import summary
from counterfold.experiments.paper.trial import Contest
from counterfold.models.ridge_per_action import RidgePerAction
from counterfold.pool import one_blas_thread
from counterfold.progress import Progress
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.pasif import PASIF
from counterfold.target import as_target

PUBLISHED = {"OCV_IPS": 0.06, "OCV_DR": 0.13, "SLOPE": 0.005, PASIF_NAME: 13.91}
"""The paper's seconds, on a laptop with a GPU."""


@dataclass(frozen=True)
class Cost:
    """The mean seconds of one method on one dataset, as a multiple of OCV_IPS there, and the published multiple."""

    dataset: str
    method: str
    runs: int
    seconds: float
    ratio: float
    published_ratio: float


def costs(
    datasets: Sequence[str], runs: int, data: Path | None, fits: Path | None, *, pasif: bool, progress: Progress | None
) -> list[Cost]:
    """Return the cost of every method on every dataset, one after the other in this process, on one thread."""
    for dataset in datasets:
        checks.one_of(NAMES, datasets=dataset)
    figure = FIGURES["figure1"]
    methods: dict[str, Selector] = figure.selectors | figure.apart | ({PASIF_NAME: PASIF()} if pasif else {})
    found = []
    for place, dataset in enumerate(datasets):
        spent = dict.fromkeys(methods, 0.0)
        for run, rows in problems(dataset, runs, data, fits):
            for method, selector in methods.items():
                fresh = rows.take(slice(None))  # so that nobody rides on what another one computed
                contest = Contest(fresh, three(fresh), max(run, 0))
                start = time.perf_counter()
                (contest.apart if method in figure.apart else contest.scored)(method, selector)
                spent[method] += (time.perf_counter() - start) / runs if run >= 0 else 0.0
        for method, seconds in spent.items():
            ratio, published = seconds / spent["OCV_IPS"], PUBLISHED[method] / PUBLISHED["OCV_IPS"]
            found.append(Cost(dataset, method, runs, seconds, ratio, published))
        if progress:
            progress(place + 1, len(datasets))
    return found


def write(found: Sequence[Cost], path: Path) -> Path:
    """Write the costs as CSV, and return the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return summary.write(found, path)


def problems(dataset: str, runs: int, data: Path | None, fits: Path | None) -> Iterator[tuple[int, Rows]]:
    """Yield the rows of Figure 1's runs, the first one before all others, too, as run -1, to warm up."""
    experiment = Experiment("figure1", data=data, fits=fits)
    for run in range(-1, runs):
        with one_blas_thread():
            problem = experiment.problem(FIGURES["figure1"], Piece(dataset, 1.0, 10.0, 0, max(run, 0), ""))
            yield run, Rows.of(problem.log, as_target(problem.target, problem.log), RidgePerAction())
