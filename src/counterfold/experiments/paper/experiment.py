"""One piece of the paper's experiments: a problem, and a row for every family of candidates and every method."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from counterfold.errors import DataError
from counterfold.estimators.base import Estimator
from counterfold.experiments.paper.classification import Classification, Fit, Policies, Problem, Trial
from counterfold.experiments.paper.datasets import Dataset, load
from counterfold.experiments.paper.figures import FIGURES, PASIF_NAME, Figure, Piece
from counterfold.experiments.paper.trial import Contest, added, join
from counterfold.experiments.runner import Row, whole
from counterfold.models.ridge_per_action import RidgePerAction
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.pasif import PASIF
from counterfold.target import as_target

REDRAWS = 1000

SELECTING = 10**9
"""Where the selectors' seeds start: they must not share a stream with those of the problems, which start at 0."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What a piece of work needs to know besides the piece; other processes are sent it."""

    name: str
    policies: Policies = "probabilities"
    data: Path | None = None
    fits: Path | None = None
    added: tuple[str, ...] = ()
    seed: int = 0

    def __call__(self, piece: Piece) -> list[Row]:
        """Return a row for every family and method."""
        figure = FIGURES[self.name]
        problem = self.problem(figure, piece)
        where = {name: value for name, value in piece._asdict().items() if name != "part"}
        return [where | {"truth": problem.truth} | row for row in self.results(figure, problem, piece)]

    def results(self, figure: Figure, problem: Problem, piece: Piece) -> list[Row]:
        """Return what every method says of a problem."""
        rows = Rows.of(problem.log, as_target(problem.target, problem.log), RidgePerAction())
        families, alone = figure.families(rows), list(figure.alone)
        own = added(self.added)
        for kind in own:
            if issubclass(kind, Estimator):
                grid = join(families, kind, rows)
                alone += grid if figure.alone else []
        contest = Contest(rows, families, SELECTING + 10**6 * self.seed + piece.run)
        if piece.part == PASIF_NAME:
            return contest.scored(PASIF_NAME, PASIF())
        found = [row for name, selector in figure.selectors.items() for row in contest.scored(name, selector)]
        found += [row for name, selector in figure.apart.items() for row in contest.apart(name, selector)]
        for kind in own:
            if issubclass(kind, Selector):
                found += contest.apart(kind.__name__, kind(), everything=True)
        return found + contest.alone(alone) + contest.oracle(problem.truth)

    def problem(self, figure: Figure, piece: Piece) -> Problem:
        """Return the problem of a piece; the same run of a dataset has the same halves and fits in every figure."""
        dataset = cached(piece.dataset, self.data)
        key = np.random.SeedSequence(self.seed, spawn_key=(piece.run,)) if self.seed else piece.run
        rng = np.random.default_rng(key)

        def fits(compute: Callable[[], tuple[Fit, Fit]]) -> tuple[Fit, Fit]:
            if self.fits is None:
                return compute()
            kind = ("" if figure.bootstrap else "-whole") + (f"-{piece.size}" if piece.size else "")
            path = self.fits / piece.dataset / f"{self.seed}-{piece.run}{kind}.npz"
            return remembered(path, compute, (len(np.unique(dataset.labels)), dataset.features.shape[1]))

        size = piece.size or None
        trial = Trial.of(dataset.features, dataset.labels, rng, logged_rows=size, bootstrap=figure.bootstrap, fits=fits)
        return drawn(Classification(piece.logging_beta, piece.target_beta, self.policies), trial, rng)


def drawn(kind: Classification, trial: Trial, rng: np.random.Generator) -> Problem:
    """Return the problem, with actions drawn again while all rewards are equal, which no log may have."""
    for _ in range(REDRAWS):
        try:
            return kind.of(trial)
        except DataError:
            trial = replace(trial, luck=rng.random(len(trial.luck)))
    raise DataError(f"rewards must vary, but {REDRAWS} draws of {len(trial.luck)} actions each had equal ones.")


@cache
def cached(name: str, folder: Path | None) -> Dataset:
    """Return a dataset, loaded once in a process."""
    return load(name, folder)


def remembered(path: Path, compute: Callable[[], tuple[Fit, Fit]], shape: tuple[int, int]) -> tuple[Fit, Fit]:
    """Return both policies' fits from a file or, if there is none or a damaged one, compute them and write it."""
    names = ("coefficients", "intercepts")
    with suppress(OSError, EOFError, KeyError, ValueError, BadZipFile), np.load(path) as file:
        one, two = (Fit(*(file[f"{name}{number}"] for name in names)) for number in (0, 1))
        if one.coefficients.shape == two.coefficients.shape == shape:
            return one, two
    found = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{name}{number}": getattr(fit, name) for number, fit in enumerate(found) for name in names}
    with whole(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)
    return found
