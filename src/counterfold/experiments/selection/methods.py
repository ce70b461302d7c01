"""Methods: every way to answer one problem of the benchmark."""

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from counterfold.errors import ParameterError, SupportWarning
from counterfold.estimates import standard_error
from counterfold.estimators.base import Estimator
from counterfold.estimators.dm import DM
from counterfold.estimators.dr import DR
from counterfold.estimators.ips import IPS
from counterfold.estimators.sndr import SNDR
from counterfold.evaluation import evaluate
from counterfold.evaluation.result import Evaluation
from counterfold.experiments.files import Row
from counterfold.experiments.paper.candidates import EVERYTHING, PLAIN, TUNED, tuned_candidates
from counterfold.experiments.paper.trial import ORACLE
from counterfold.experiments.selection.bandits import BenchmarkProblem
from counterfold.models import as_model
from counterfold.models.ridge_per_action import RidgePerAction
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.kfold_cv import KFoldCV
from counterfold.selectors.ocv import OCV
from counterfold.selectors.opera import OPERA
from counterfold.selectors.theory import Theory
from counterfold.target import Target

DEFAULT = "default"

WITH_MODEL: tuple[Estimator, ...] = (DM(), DR(), SNDR())
"""The plain estimators that use a reward model."""

PAPER_MODEL, THEORY = RidgePerAction(), Theory()

JOINT_SELECTORS: dict[str, Selector] = {"OCV_IPS": OCV(IPS()), "OCV_DR": OCV(DR())}
"""The selectors that choose among all candidates that the paper tunes jointly, as in its figure 3."""

PLAIN_SELECTORS: dict[str, Selector] = {"OPERA": OPERA(), "KFoldCV_DR": KFoldCV(DR(), 10)}
"""The selectors that choose among the five estimators without parameters."""


@dataclass(frozen=True, eq=False)
class Methods:
    """Every way to answer one problem; the seed is that of the selectors.

    A user's predictions, where the problem has them, take the place of every reward model. Each method starts from
    rows on which nothing has been computed yet, so that its seconds are its own.
    """

    problem: BenchmarkProblem
    target: Target
    seed: int

    def rows(self, model: Any) -> Rows:
        """Return fresh rows with a reward model, or with the user's predictions."""
        log, given = self.problem.log, self.problem.predictions
        return Rows.of(log, self.target, as_model(model if given is None else given, log))

    def fixed(self) -> Iterator[Row]:
        """Yield the answers of single estimators, with the paper's reward model and with the package's default one."""
        for one in PLAIN:
            yield self.time_choice(one.name, "fixed", partial(keep, one))
        for one in WITH_MODEL:
            yield self.time_choice(f"{one.name}, default model", "fixed", partial(keep, one), "default")

    def theory(self) -> Iterator[Row]:
        """Yield the answers of estimators that are tuned by their authors' rules."""
        for kind in TUNED:
            if THEORY.can_tune(kind):
                yield self.time_choice(f"{kind.__name__}, theory", "theory", partial(tune_by_theory, kind))

    def selectors(self) -> Iterator[Row]:
        """Yield the answers of selectors, with the paper's reward model, which is fitted in sample."""
        for name, selector in JOINT_SELECTORS.items():
            yield self.time_choice(name, "selector", partial(self.choose, selector, joint_candidates))
        for name, selector in PLAIN_SELECTORS.items():
            yield self.time_choice(name, "selector", partial(self.choose, selector, lambda _: PLAIN))

    def default(self) -> tuple[Evaluation, Row]:
        """Return the answer of `evaluate` that is given nothing but the log, the target and the user's predictions."""
        given, start = self.problem.predictions, time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says the same
            answer = evaluate(
                self.problem.log,
                self.problem.target,
                reward_model="default" if given is None else given,
                progress=False,
                threads=1,
            )
        seconds = time.perf_counter() - start
        low, high = (end if math.isfinite(end) else None for end in (answer.interval.low, answer.interval.high))
        return answer, make_row(DEFAULT, DEFAULT, answer.selected, answer.value, answer.stderr, seconds, low, high)

    def oracle(self, answer: Evaluation) -> Row:
        """Return the best in hindsight of the paper's joint candidates and of those that `evaluate` chose from."""
        rows, start = self.rows(PAPER_MODEL), time.perf_counter()
        values = [(one.name, one.value(rows)) for one in joint_candidates(rows)]
        values += [(line.name, line.value) for line in answer.table]
        name, value = min(values, key=lambda one: abs(one[1] - self.problem.truth))
        return make_row(ORACLE, ORACLE, name, value, None, time.perf_counter() - start)

    def choose(
        self, selector: Selector, list_candidates: Callable[[Rows], Sequence[Estimator]], rows: Rows
    ) -> Estimator:
        """Return the candidate that a selector chooses, or its mixture of several."""
        candidates, rng = list_candidates(rows), np.random.default_rng(self.seed)
        return selector.resolve(rows).select(rows, candidates, rng, Pool(1)).answer(candidates)

    def time_choice(self, method: str, kind: str, choose: Callable[[Rows], Estimator], model: Any = PAPER_MODEL) -> Row:
        """Return the answer of the estimator that is chosen, and how many seconds choosing and answering took."""
        rows, start = self.rows(model), time.perf_counter()
        one = choose(rows)
        value, stderr = one.value(rows), standard_error(one.contributions(rows), rows.groups)
        return make_row(method, kind, one.name, value, stderr, time.perf_counter() - start)


def joint_candidates(rows: Rows) -> Sequence[Estimator]:
    """Return all candidates that the paper tunes jointly."""
    return tuned_candidates(rows)[EVERYTHING]


def keep(one: Estimator, rows: Rows) -> Estimator:
    """Return the estimator itself: nothing is chosen."""
    del rows
    return one


def tune_by_theory(kind: type[Estimator], rows: Rows) -> Estimator:
    """Return an estimator tuned by its authors' rule, or untuned if its grid is empty because no row has weight."""
    grid = [*kind.candidates(rows), *THEORY.extend_grid(kind, rows)] or [kind()]
    return THEORY.select(rows, grid, np.random.default_rng(0), Pool(1)).answer(grid)


def make_row(
    method: str,
    kind: str,
    chosen: str,
    value: float,
    stderr: float | None,
    seconds: float,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """Return a result, whose value must be finite."""
    if not math.isfinite(value):
        raise ParameterError(f"{method} must give finite values, got {value} by {chosen}.")
    what = {"method": method, "kind": kind, "chosen": chosen, "value": value, "stderr": stderr}
    return what | {"low": low, "high": high, "seconds": seconds}
