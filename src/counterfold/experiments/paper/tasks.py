"""The tasks of a figure: one run of one problem each, which depends on no other task."""

from collections.abc import Sequence
from typing import NamedTuple

from counterfold.errors import ParameterError
from counterfold.experiments.paper.figures import PASIF_NAME, Figure


class PaperTask(NamedTuple):
    """One run of one problem, for all methods but the slow one, or for that one alone."""

    dataset: str
    logging_beta: float
    target_beta: float
    size: int = 0
    run: int = 0
    slow_method: str = ""

    def __str__(self) -> str:
        return "|".join(map(str, tuple(self)))


def list_tasks(figure: Figure, runs: int, datasets: Sequence[str], pasif_runs: int) -> list[PaperTask]:
    """Return all tasks of a figure, those of the first runs first; PAS-IF, which is slow, may have fewer runs."""
    if pasif_runs and not figure.pasif:
        raise ParameterError(f"`pasif_runs` must be 0 where the figure has no {PASIF_NAME}, got {pasif_runs}.")
    runs_by_method = {"": runs, PASIF_NAME: min(pasif_runs, runs)}
    wanted = [dataset for dataset in figure.datasets if dataset in datasets]
    if not wanted:
        raise ParameterError(f"`datasets` must hold one of {', '.join(figure.datasets)}, got {', '.join(datasets)}.")
    return [
        PaperTask(dataset, logging, target, size, run, slow_method)
        for slow_method, count in runs_by_method.items()
        for run in range(count)
        for dataset in wanted
        for logging, target in figure.betas
        for size in figure.sizes
    ]
