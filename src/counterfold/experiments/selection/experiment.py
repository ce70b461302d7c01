"""SelectionExperiment: draws the problem of a task, and returns a row for every method."""

from dataclasses import dataclass
from pathlib import Path

from counterfold.experiments.files import Row
from counterfold.experiments.paper.experiment import RUNS_PER_SEED, PaperExperiment, selector_seed
from counterfold.experiments.paper.tasks import PaperTask
from counterfold.experiments.selection.bandits import BenchmarkProblem, draw_bandit
from counterfold.experiments.selection.methods import Methods
from counterfold.experiments.selection.tasks import PAPER, PAPER_FIGURE, SelectionTask, part_of
from counterfold.target import as_target


@dataclass(frozen=True, eq=False)
class SelectionExperiment:
    """What a task of the benchmark needs to know besides the task; it is sent to other processes.

    `data` is the folder of the paper's datasets, and `fits` that where fitted policies are kept.
    """

    data: Path | None = None
    fits: Path | None = None
    seed: int = 0

    def __call__(self, task: SelectionTask) -> list[Row]:
        """Return a row for every method."""
        problem = self.draw_problem(task)
        log = problem.log
        methods = Methods(problem, as_target(problem.target, log), selector_seed(self.seed, task.number))
        answer, default = methods.default()
        where = {
            "family": task.family,
            "problem": task.number,
            "condition": task.condition,
            "part": part_of(task.number),
            "rows": len(log),
            "actions": len(log.actions),
            "truth": problem.truth,
            "scale": problem.scale,
            "verdict": answer.diagnostics.verdict,
            "effective_rows": answer.diagnostics.effective_rows,
        }
        rows = [*methods.fixed(), *methods.theory(), *methods.selectors(), default, methods.oracle(answer)]
        return [where | row for row in rows]

    def draw_problem(self, task: SelectionTask) -> BenchmarkProblem:
        """Return the problem of a task; errors on the paper's problems are not rescaled."""
        if task.family == PAPER:
            paper = PaperExperiment(PAPER_FIGURE, data=self.data, fits=self.fits, seed=self.seed)
            condition = PaperTask(task.dataset, task.logging_beta, task.target_beta, run=task.number)
            problem = paper.draw_problem(condition)
            return BenchmarkProblem(problem.log, problem.target, problem.truth, None, 1.0)
        number = task.number + RUNS_PER_SEED * self.seed
        return draw_bandit(task.family, number).draw_problem(number)
