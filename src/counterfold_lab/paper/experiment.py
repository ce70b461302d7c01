"""PaperExperiment: draws the problem of a task, and returns a row for every set of candidates and every method."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from counterfold import PASIF, DataError, Estimator, ParameterError, Pool, RidgePerAction, Rows, Selector
from counterfold.policies.given import as_target
from counterfold.simulation import Problem
from counterfold_lab.files import Row
from counterfold_lab.paper import datasets
from counterfold_lab.paper.classification import Classification, LoggedHalf, Policies
from counterfold_lab.paper.figures import EVERYTHING, FIGURES, ORACLE, PASIF_NAME, CandidateSets, Figure
from counterfold_lab.paper.own_classes import add_estimator, load_classes

MOST_DRAWS = 1000
"""How often the actions of a problem are drawn, at most, until its rewards vary."""

RUNS_PER_SEED = 10**6


class PaperTask(NamedTuple):
    """One run of one problem, for all methods but the slow one, or for that one alone; it depends on no other task."""

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
    wanted = [dataset for dataset in figure.datasets if dataset in datasets]
    if not wanted:
        raise ParameterError(f"`datasets` must hold one of {', '.join(figure.datasets)}, got {', '.join(datasets)}.")
    return [
        PaperTask(dataset, logging, target, size, run, slow_method)
        for slow_method, count in (("", runs), (PASIF_NAME, min(pasif_runs, runs)))
        for run in range(count)
        for dataset in wanted
        for logging, target in figure.betas
        for size in figure.sizes
    ]


def selector_seed(seed: int, run: int) -> int:
    """Return the seed that selectors have in a run: never that of a problem, as those start at 0."""
    return 10**9 + RUNS_PER_SEED * seed + run


@dataclass(frozen=True, eq=False)
class PaperExperiment:
    """What a task of a figure needs to know besides the task; it is sent to other processes.

    `data` is the folder of the datasets, `fits` that where fitted policies are kept, and `own_classes` are the user's.
    """

    name: str
    policies: Policies = "probabilities"
    data: Path | None = None
    fits: Path | None = None
    own_classes: tuple[str, ...] = ()
    seed: int = 0

    def __call__(self, task: PaperTask) -> list[Row]:
        """Return a row for every set of candidates and every method."""
        problem = self.draw_problem(task)
        where = task._asdict() | {"truth": problem.truth}
        del where["slow_method"]
        return [where | row for row in self.try_methods(problem, task)]

    def try_methods(self, problem: Problem, task: PaperTask) -> list[Row]:
        """Return what every method answers on a problem."""
        figure, rows, own = FIGURES[self.name], rows_of_problem(problem), load_classes(self.own_classes)
        sets, singles = figure.candidate_sets(rows), list(figure.single_candidates)
        for kind in own:
            if issubclass(kind, Estimator):
                grid = add_estimator(sets, kind, rows)
                singles += grid if figure.single_candidates else []
        trial = Trial(rows, sets, selector_seed(self.seed, task.run))
        if task.slow_method == PASIF_NAME:
            return trial.choose_by_scores(PASIF_NAME, PASIF())
        found = [row for name, selector in figure.selectors.items() for row in trial.choose_by_scores(name, selector)]
        for name, selector in figure.set_selectors.items():
            found += trial.choose_within_sets(name, selector)
        for kind in own:
            if issubclass(kind, Selector):
                found += trial.choose_within_sets(kind.__name__, kind(), everything=True)
        found += [trial.make_row(name, one.name, one) for name in sets for one in singles]
        return found + trial.choose_in_hindsight(problem.truth)

    def draw_problem(self, task: PaperTask) -> Problem:
        """Return the problem of a task; one run of a dataset has the same halves and policies in every figure.

        Actions are drawn again while all rewards are equal, which no log may have.
        """
        dataset, bootstrap = datasets.load_once(task.dataset, self.data), FIGURES[self.name].bootstrap
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(task.run,)) if self.seed else task.run)
        kind = ("" if bootstrap else "-whole") + (f"-{task.size}" if task.size else "")
        file = None if self.fits is None else self.fits / task.dataset / f"{self.seed}-{task.run}{kind}.npz"
        half = LoggedHalf.draw(
            dataset.features, dataset.labels, rng, logged_rows=task.size or None, bootstrap=bootstrap, policy_file=file
        )
        for _ in range(MOST_DRAWS):
            try:
                return Classification(task.logging_beta, task.target_beta, self.policies).make_problem(half)
            except DataError:
                half = replace(half, luck=rng.random(len(half.luck)))
        raise DataError(f"rewards must vary, but {MOST_DRAWS} draws of {len(half.luck)} actions each had equal ones.")


def rows_of_problem(problem: Problem) -> Rows:
    """Return the rows of a problem with the paper's reward model."""
    return Rows.of(problem.log, as_target(problem.target, problem.log), RidgePerAction())


@dataclass(frozen=True, eq=False)
class Trial:
    """Sets of candidates on the rows of one problem, for each way to choose; the seed is that of the selectors."""

    rows: Rows
    sets: CandidateSets
    seed: int

    def choose_by_scores(self, method: str, selector: Selector) -> list[Row]:
        """Return the best of each set; a candidate's score does not depend on the others, so each is scored once."""
        every = list(dict.fromkeys(one for candidates in self.sets.values() for one in candidates))
        scores = selector.resolve(self.rows).scores(self.rows, every, np.random.default_rng(self.seed), Pool(1))
        return self._choose_least(method, dict(zip(every, scores.tolist(), strict=True)))

    def choose_within_sets(self, method: str, selector: Selector, *, everything: bool = False) -> list[Row]:
        """Return the choice of a selector that must see a set as a whole; the set of everything may be left out."""
        found = []
        ready = selector.resolve(self.rows)
        for name, candidates in self.sets.items():
            kind = type(candidates[0])
            if selector.can_tune(kind) and (everything or name != EVERYTHING):
                grid = [*candidates, *selector.extend_grid(kind, self.rows)]
                choice = ready.select(self.rows, grid, np.random.default_rng(self.seed), Pool(1))
                found.append(self.make_row(name, method, choice.answer(grid)))
        return found

    def choose_in_hindsight(self, truth: float) -> list[Row]:
        """Return the candidate of each set that is the nearest to the truth."""
        errors = {one: abs(one.value(self.rows) - truth) for some in self.sets.values() for one in some}
        return self._choose_least(ORACLE, errors)

    def _choose_least(self, method: str, scores: dict[Estimator, float]) -> list[Row]:
        return [self.make_row(name, method, min(some, key=scores.__getitem__)) for name, some in self.sets.items()]

    def make_row(self, set_name: str, method: str, chosen: Estimator) -> Row:
        """Return a result, whose value must be finite."""
        value = chosen.value(self.rows)
        if not np.isfinite(value):
            raise ParameterError(f"{chosen.name} must give finite values, got {value}.")
        return {"family": set_name, "method": method, "chosen": chosen.name, "value": value}
