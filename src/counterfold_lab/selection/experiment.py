"""SelectionExperiment: draws the problem of a task, and returns a row for every way to answer it."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import counterfold as cf
from counterfold.estimators.estimates import standard_error
from counterfold.models import as_model
from counterfold.policies.given import as_target
from counterfold.simulation import Problem
from counterfold_lab.files import Row
from counterfold_lab.paper.datasets import NAMES
from counterfold_lab.paper.experiment import RUNS_PER_SEED, PaperExperiment, PaperTask, selector_seed
from counterfold_lab.paper.figures import EVERYTHING, FIGURES, ORACLE, PLAIN, TUNED, tuned_candidates
from counterfold_lab.selection.bandits import FAMILIES, draw_bandit

Part = Literal["development", "held", "all"]

PAPER, PAPER_FIGURE = "paper", "figure3"
KNOWN = (*FAMILIES, PAPER)
"""The families of problems: those of `bandits`, and the paper's datasets at all temperatures of its figure 3."""

DEFAULT = "default"
PAPER_MODEL, THEORY = cf.RidgePerAction(), cf.Theory(rules="paper")

JOINT_SELECTORS: dict[str, cf.Selector] = {"OCV_IPS": cf.OCV(cf.IPS()), "OCV_DR": cf.OCV(cf.DR())}
PLAIN_SELECTORS: dict[str, cf.Selector] = {"OPERA": cf.OPERA(), "KFoldCV_DR": cf.KFoldCV(cf.DR(), 10)}
"""The selectors that choose among all that the paper tunes jointly, as in its figure 3, and among `PLAIN`."""

AUTO_OPE = "AutoOPE"

Ends = tuple[float | None, float | None]
Candidates = Callable[[cf.Rows], Sequence[cf.Estimator]]


class SelectionTask(NamedTuple):
    """A problem: its family, its number there and, for the paper's, which of the 90 conditions of that run."""

    family: str
    number: int
    dataset: str = ""
    logging_beta: float = 0.0
    target_beta: float = 0.0

    def __str__(self) -> str:
        return "|".join(map(str, tuple(self)))


def part_of(number: int) -> Part:
    """Return whether a problem may be looked at while methods are made, as every third may, or is held back.

    >>> [part_of(number) for number in range(4)]
    ['development', 'held', 'held', 'development']
    """
    return "held" if number % 3 else "development"


def list_tasks(families: Sequence[str], problems: int, part: Part) -> list[SelectionTask]:
    """Return those of the first `problems` of each family that belong to a part, and at least one per family.

    >>> [task.number for task in list_tasks(["binary"], 6, "held")]
    [1, 2, 4, 5]
    """
    conditions = [(name, *betas) for name in NAMES for betas in FIGURES[PAPER_FIGURE].betas]
    found = []
    for family in families:
        count = problems if family != PAPER else max(1, round(problems / 10))  # a run has 90 conditions
        numbers = [number for number in range(count) if part in {"all", part_of(number)}] or [1]  # the first held one
        for number in numbers:
            found += [SelectionTask(family, number, *one) for one in (conditions if family == PAPER else [()])]
    return found


@dataclass(frozen=True, eq=False)
class SelectionExperiment:
    """What a task of the benchmark needs to know besides the task: the fields of `PaperExperiment`, and a rival.

    The rival `auto_ope` takes no part if it is missing.
    """

    data: Path | None = None
    fits: Path | None = None
    seed: int = 0
    auto_ope: cf.Selector | None = None

    def __call__(self, task: SelectionTask) -> list[Row]:
        """Return a row for every method."""
        problem = self.draw_problem(task)
        log, methods = problem.log, Methods(problem, selector_seed(self.seed, task.number), self.auto_ope)
        answer, default = methods.answer_by_default()
        condition = f"{task.dataset} {task.logging_beta:g} {task.target_beta:g}" if task.dataset else ""
        where = {"family": task.family, "problem": task.number, "condition": condition}
        where |= {"part": part_of(task.number), "rows": len(log), "actions": len(log.actions)}
        where |= {"truth": problem.truth, "scale": problem.scale, "verdict": answer.diagnostics.verdict}
        alarms = [one.name for one in answer.diagnostics.findings if one.severity != "note"]
        where |= {"effective_rows": answer.diagnostics.effective_rows, "alarms": " ".join(sorted(set(alarms)))}
        return [where | row for row in [*methods.choose_estimators(), default, methods.choose_in_hindsight(answer)]]

    def draw_problem(self, task: SelectionTask) -> Problem:
        """Return the problem of a task; errors on the paper's problems are not rescaled."""
        if task.family == PAPER:
            paper = PaperExperiment(PAPER_FIGURE, data=self.data, fits=self.fits, seed=self.seed)
            return paper.draw_problem(PaperTask(task.dataset, task.logging_beta, task.target_beta, run=task.number))
        number = task.number + RUNS_PER_SEED * self.seed
        return draw_bandit(task.family, number).draw_problem(number)


@dataclass(frozen=True, eq=False)
class Methods:
    """Every way to answer one problem; the seed is that of the selectors.

    A user's predictions, where the problem has them, take the place of every reward model. Each method starts from
    rows on which nothing has been computed yet, so that its seconds are its own.
    """

    problem: Problem
    seed: int
    auto_ope: cf.Selector | None = None

    def choose_estimators(self) -> Iterator[Row]:
        """Yield the answers of single estimators, of those that their authors' rules tune, and of selectors.

        The reward model is the paper's, which is fitted in sample, or the package's default one where the name says so.
        """
        for one in PLAIN:
            yield self.time_choice(one.name, "fixed", list_these([one]))
        for one in (cf.DM(), cf.DR(), cf.SNDR()):
            yield self.time_choice(f"{one.name}, default model", "fixed", list_these([one]), model="default")
        for kind in filter(THEORY.can_tune, TUNED):
            yield self.time_choice(f"{kind.__name__}, theory", "theory", partial(list_theory_grid, kind), THEORY)
        for name, selector in JOINT_SELECTORS.items():
            yield self.time_choice(name, "selector", list_joint_candidates, selector)
        for name, selector in PLAIN_SELECTORS.items():
            yield self.time_choice(name, "selector", list_these(PLAIN), selector)
        if self.auto_ope:
            yield self.time_choice(AUTO_OPE, "selector", list_these(PLAIN), self.auto_ope, model="default")

    def time_choice(
        self,
        method: str,
        kind: str,
        candidates: Candidates,
        selector: cf.Selector | None = None,
        model: Any = PAPER_MODEL,
    ) -> Row:
        """Return the answer of the estimator that is chosen, and how many seconds choosing and answering took."""
        rows, start = self.build_rows(model), time.perf_counter()
        some, rng = candidates(rows), np.random.default_rng(self.seed)
        one = selector.resolve(rows).select(rows, some, rng, cf.Pool(1)).answer(some) if selector else some[0]
        value, stderr = one.value(rows), standard_error(one.contributions(rows), rows.groups)
        return make_row(method, kind, one.name, value, stderr, time.perf_counter() - start)

    def build_rows(self, model: Any) -> cf.Rows:
        """Return fresh rows with a reward model, or with the user's predictions."""
        log, given = self.problem.log, self.problem.predictions
        return cf.Rows.of(log, as_target(self.problem.target, log), as_model(model if given is None else given, log))

    def answer_by_default(self) -> tuple[cf.Evaluation, Row]:
        """Return the answer of `evaluate` that is given nothing but the log, the target and the user's predictions."""
        log, target, given = self.problem.log, self.problem.target, self.problem.predictions
        model, start = "default" if given is None else given, time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cf.SupportWarning)  # the verdict says the same
            answer = cf.evaluate(log, target, reward_model=model, progress=False, threads=1)
        seconds = time.perf_counter() - start
        low, high = (end if math.isfinite(end) else None for end in (answer.interval.low, answer.interval.high))
        return answer, make_row(DEFAULT, DEFAULT, answer.selected, answer.value, answer.stderr, seconds, (low, high))

    def choose_in_hindsight(self, answer: cf.Evaluation) -> Row:
        """Return the best of the paper's joint candidates and of those that `evaluate` chose from."""
        rows, start = self.build_rows(PAPER_MODEL), time.perf_counter()
        values = [(one.name, one.value(rows)) for one in list_joint_candidates(rows)]
        values += [(line.name, line.value) for line in answer.table]
        name, value = min(values, key=lambda one: abs(one[1] - self.problem.truth))
        return make_row(ORACLE, ORACLE, name, value, None, time.perf_counter() - start)


def list_these(candidates: Sequence[cf.Estimator]) -> Candidates:
    """Return a function that lists the same candidates whatever the rows."""
    return lambda _: candidates


def list_joint_candidates(rows: cf.Rows) -> Sequence[cf.Estimator]:
    """Return all candidates that the paper tunes jointly."""
    return tuned_candidates(rows)[EVERYTHING]


def list_theory_grid(kind: type[cf.Estimator], rows: cf.Rows) -> Sequence[cf.Estimator]:
    """Return what an estimator's rule chooses from, or the untuned one where the grid is empty as no row has weight."""
    return [*kind.candidates(rows), *THEORY.extend_grid(kind, rows)] or [kind()]


def make_row(
    method: str, kind: str, chosen: str, value: float, stderr: float | None, seconds: float, ends: Ends = (None, None)
) -> Row:
    """Return a result, whose value must be finite."""
    if not math.isfinite(value):
        raise cf.ParameterError(f"{method} must give finite values, got {value} by {chosen}.")
    what = {"method": method, "kind": kind, "chosen": chosen, "value": value, "stderr": stderr}
    return what | {"low": ends[0], "high": ends[1], "seconds": seconds}
