"""PaperExperiment: draws the problem of a task, and returns a row for every set of candidates and every method."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from counterfold.errors import DataError
from counterfold.estimators.base import Estimator
from counterfold.experiments.files import Row
from counterfold.experiments.paper import datasets
from counterfold.experiments.paper.classification import Classification, LoggedHalf, Policies
from counterfold.experiments.paper.figures import FIGURES, PASIF_NAME, Figure
from counterfold.experiments.paper.own_classes import add_estimator, load_classes
from counterfold.experiments.paper.tasks import PaperTask
from counterfold.experiments.paper.trial import Trial
from counterfold.experiments.problem import Problem
from counterfold.models.ridge_per_action import RidgePerAction
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.pasif import PASIF
from counterfold.target import as_target

MOST_DRAWS = 1000
"""How often the actions of a problem are drawn, at most, until its rewards vary."""

RUNS_PER_SEED = 10**6
FIRST_SELECTOR_SEED = 10**9
"""The seeds of selectors start here, so that they never are those of problems, which start at 0."""


def selector_seed(seed: int, run: int) -> int:
    """Return the seed that selectors have in a run."""
    return FIRST_SELECTOR_SEED + RUNS_PER_SEED * seed + run


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

    @property
    def figure(self) -> Figure:
        """Return the figure of that name."""
        return FIGURES[self.name]

    def __call__(self, task: PaperTask) -> list[Row]:
        """Return a row for every set of candidates and every method."""
        problem = self.draw_problem(task)
        where = task._asdict() | {"truth": problem.truth}
        del where["slow_method"]
        return [where | row for row in self.try_methods(problem, task)]

    def try_methods(self, problem: Problem, task: PaperTask) -> list[Row]:
        """Return what every method answers on a problem."""
        figure, rows = self.figure, rows_of_problem(problem)
        sets, singles = figure.candidate_sets(rows), list(figure.single_candidates)
        own = load_classes(self.own_classes)
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
        return found + trial.choose_always(singles) + trial.choose_in_hindsight(problem.truth)

    def draw_problem(self, task: PaperTask) -> Problem:
        """Return the problem of a task; one run of a dataset has the same halves and policies in every figure."""
        dataset = datasets.load_once(task.dataset, self.data)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(task.run,)) if self.seed else task.run)
        half = LoggedHalf.draw(
            dataset.features,
            dataset.labels,
            rng,
            logged_rows=task.size or None,
            bootstrap=self.figure.bootstrap,
            policy_file=self.policy_file(task),
        )
        return draw_until_rewards_vary(Classification(task.logging_beta, task.target_beta, self.policies), half, rng)

    def policy_file(self, task: PaperTask) -> Path | None:
        """Return where the policies of a task are kept, if they are."""
        if self.fits is None:
            return None
        kind = ("" if self.figure.bootstrap else "-whole") + (f"-{task.size}" if task.size else "")
        return self.fits / task.dataset / f"{self.seed}-{task.run}{kind}.npz"


def draw_until_rewards_vary(kind: Classification, half: LoggedHalf, rng: np.random.Generator) -> Problem:
    """Return the problem, with actions drawn again while all rewards are equal, which no log may have."""
    for _ in range(MOST_DRAWS):
        try:
            return kind.make_problem(half)
        except DataError:
            half = replace(half, luck=rng.random(len(half.luck)))
    raise DataError(f"rewards must vary, but {MOST_DRAWS} draws of {len(half.luck)} actions each had equal ones.")


def rows_of_problem(problem: Problem) -> Rows:
    """Return the rows of a problem with the paper's reward model."""
    return Rows.of(problem.log, as_target(problem.target, problem.log), RidgePerAction())
