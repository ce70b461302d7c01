"""One piece of the benchmark of selection: a problem with known truth, and a row for every way to answer it."""

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import counterfold
from counterfold.answers import evaluate
from counterfold.errors import ParameterError, SupportWarning
from counterfold.estimates import standard_error
from counterfold.estimators.base import Estimator
from counterfold.estimators.dm import DM
from counterfold.estimators.dr import DR
from counterfold.estimators.ips import IPS
from counterfold.estimators.sndr import SNDR
from counterfold.estimators.snips import SNIPS
from counterfold.evaluation import Evaluation
from counterfold.experiments.bandits import FAMILIES, Asked, bandit
from counterfold.experiments.contest import ORACLE
from counterfold.experiments.datasets import NAMES
from counterfold.experiments.figures import EVERYTHING, FIGURES, TUNED, Piece, tuned
from counterfold.experiments.paper import SELECTING, Experiment
from counterfold.experiments.runner import Row
from counterfold.models import as_model
from counterfold.models.ridge_per_action import RidgePerAction
from counterfold.pool import Pool
from counterfold.rows import Rows
from counterfold.selectors.base import Selector
from counterfold.selectors.kfold_cv import KFoldCV
from counterfold.selectors.ocv import OCV
from counterfold.selectors.opera import OPERA
from counterfold.selectors.theory import Theory
from counterfold.target import Target, as_target

Part = Literal["development", "held", "all"]

PAPER = "paper"
KNOWN = (*FAMILIES, PAPER)
"""Kinds of problems: those of `bandits`, and the paper's datasets at all temperatures of its figure 3."""

PAPER_SHARE = 10
"""A run of the paper's 90 conditions counts as so many problems."""

DEFAULT = "default"

Among = Callable[[Rows], Sequence[Estimator]]
"""The candidates on these rows."""

PLAIN: tuple[Estimator, ...] = (IPS(), SNIPS(), DM(), DR(), SNDR())
MODELLED: tuple[Estimator, ...] = (DM(), DR(), SNDR())
IN_SAMPLE, RULE = RidgePerAction(), Theory()

JOINT: dict[str, Selector] = {"OCV_IPS": OCV(IPS()), "OCV_DR": OCV(DR())}
"""What chooses among all that the paper tunes jointly, as in its figure 3."""

AMONG_PLAIN: dict[str, Selector] = {"OPERA": OPERA(), "KFoldCV_DR": KFoldCV(DR(), 10)}
"""What chooses among the five estimators without parameters."""

SHOWING = ("scoring.py", "charts.py", "drawing.py", "summary.py")
"""Files that rows do not depend on, besides those of the folders `cli` and `report`."""


class Case(NamedTuple):
    """A problem: its family, its number there and, for the paper's, which of the 90 conditions of that run."""

    family: str
    number: int
    dataset: str = ""
    logging_beta: float = 0.0
    target_beta: float = 0.0

    def __str__(self) -> str:
        """Return what the journal knows the piece by."""
        return "|".join(str(part) for part in tuple(self))

    @property
    def condition(self) -> str:
        """Return what tells problems of one number apart."""
        return f"{self.dataset} {self.logging_beta:g} {self.target_beta:g}" if self.dataset else ""


def part_of(number: int) -> Part:
    """Say whether a problem may be looked at while methods are made, as every third may, or is held back.

    >>> [part_of(number) for number in range(4)]
    ['development', 'held', 'held', 'development']
    """
    return "held" if number % 3 else "development"


def cases(families: Sequence[str], problems: int, part: Part) -> list[Case]:
    """Return the problems of a part: of so many per family those that belong to it, and at least one.

    >>> [case.number for case in cases(["binary"], 6, "held")]
    [1, 2, 4, 5]
    """
    found = []
    for family in families:
        count = problems if family != PAPER else max(1, round(problems / PAPER_SHARE))
        numbers = [number for number in range(count) if part in {"all", part_of(number)}] or [1]  # 0 is of the others
        conditions = [(name, *betas) for name in NAMES for betas in FIGURES["figure3"].betas]
        for number in numbers:
            found += [Case(family, number, *one) for one in (conditions if family == PAPER else [()])]
    return found


@dataclass(frozen=True, eq=False)
class Selecting:
    """What a piece of work needs to know besides the piece; other processes are sent it."""

    data: Path | None = None
    fits: Path | None = None
    seed: int = 0

    def __call__(self, case: Case) -> list[Row]:
        """Return a row for every method."""
        problem = self.problem(case)
        log = problem.log
        methods = Methods(problem, as_target(problem.target, log), SELECTING + 10**6 * self.seed + case.number)
        answer, own = methods.default()
        where = {
            "family": case.family,
            "problem": case.number,
            "condition": case.condition,
            "part": part_of(case.number),
            "rows": len(log),
            "actions": len(log.actions),
            "truth": problem.truth,
            "scale": problem.scale,
            "verdict": answer.diagnostics.verdict,
            "effective_rows": answer.diagnostics.effective_rows,
        }
        found = [*methods.fixed(), *methods.theory(), *methods.selectors(), own, methods.oracle(answer)]
        return [where | row for row in found]

    def problem(self, case: Case) -> Asked:
        """Return the problem of a piece; errors in the paper's are not rescaled."""
        if case.family == PAPER:
            piece = Piece(case.dataset, case.logging_beta, case.target_beta, 0, case.number, "")
            experiment = Experiment("figure3", data=self.data, fits=self.fits, seed=self.seed)
            found = experiment.problem(FIGURES["figure3"], piece)
            return Asked(found.log, found.target, found.truth, None, 1.0)
        number = case.number + 10**6 * self.seed
        return bandit(case.family, number).problem(number)


@dataclass(frozen=True, eq=False)
class Methods:
    """Every way to answer one problem; the seed is the selectors'.

    A user's predictions, where the problem has them, take the place of every reward model. Each method starts from
    rows on which nothing is computed yet, so that its seconds are its own.
    """

    problem: Asked
    target: Target
    seed: int

    def rows(self, model: Any) -> Rows:
        """Return fresh rows with a reward model, or with the user's predictions."""
        log, given = self.problem.log, self.problem.predictions
        return Rows.of(log, self.target, as_model(model if given is None else given, log))

    def fixed(self) -> Iterator[Row]:
        """Yield what single estimators say: with the paper's reward model, and with the library's default one."""
        for one in PLAIN:
            yield self.said(one.name, "fixed", partial(alone, one))
        for one in MODELLED:
            yield self.said(f"{one.name}, default model", "fixed", partial(alone, one), model="default")

    def theory(self) -> Iterator[Row]:
        """Yield what estimators say that are tuned by their authors' rules."""
        for kind in TUNED:
            if RULE.tunes(kind):
                yield self.said(f"{kind.__name__}, theory", "theory", partial(by_rule, kind))

    def selectors(self) -> Iterator[Row]:
        """Yield what selectors say, with the reward model fitted in sample, as in the paper."""
        for name, selector in JOINT.items():
            yield self.said(name, "selector", partial(chosen, selector, everything, self.seed))
        for name, selector in AMONG_PLAIN.items():
            yield self.said(name, "selector", partial(chosen, selector, plain, self.seed))

    def default(self) -> tuple[Evaluation, Row]:
        """Return what `evaluate` says when it is told nothing but the log, the target and the user's predictions."""
        given, start = self.problem.predictions, time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)  # the verdict says it, too
            found = evaluate(
                self.problem.log,
                self.problem.target,
                reward_model="default" if given is None else given,
                progress=False,
                threads=1,
            )
        seconds = time.perf_counter() - start
        low, high = (end if math.isfinite(end) else None for end in (found.interval.low, found.interval.high))
        return found, row(DEFAULT, DEFAULT, found.selected, found.value, found.stderr, seconds, low, high)

    def oracle(self, answer: Evaluation) -> Row:
        """Return the best in hindsight of the paper's joint candidates and of those that `evaluate` chose from."""
        rows, start = self.rows(IN_SAMPLE), time.perf_counter()
        every = [(one.name, one.value(rows)) for one in everything(rows)]
        every += [(line.name, line.value) for line in answer.table]
        name, value = min(every, key=lambda one: abs(one[1] - self.problem.truth))
        return row(ORACLE, ORACLE, name, value, None, time.perf_counter() - start)

    def said(self, method: str, kind: str, choose: Callable[[Rows], Estimator], model: Any = IN_SAMPLE) -> Row:
        """Return what the chosen estimator says, and how long choosing took."""
        rows, start = self.rows(model), time.perf_counter()
        one = choose(rows)
        value, stderr = one.value(rows), standard_error(one.contributions(rows), rows.groups)
        return row(method, kind, one.name, value, stderr, time.perf_counter() - start)


def everything(rows: Rows) -> Sequence[Estimator]:
    """Return all that the paper tunes jointly."""
    return tuned(rows)[EVERYTHING]


def plain(rows: Rows) -> Sequence[Estimator]:
    """Return the estimators without parameters."""
    del rows
    return PLAIN


def alone(one: Estimator, rows: Rows) -> Estimator:
    """Return an estimator that is not chosen but given."""
    del rows
    return one


def by_rule(kind: type[Estimator], rows: Rows) -> Estimator:
    """Return an estimator tuned by its own rule; one whose grid is empty, as no row has weight, is left as it is."""
    grid = [*kind.candidates(rows), *RULE.beyond(kind, rows)] or [kind()]
    return RULE.select(rows, grid, np.random.default_rng(0), Pool(1)).answer(grid)


def chosen(selector: Selector, among: Among, seed: int, rows: Rows) -> Estimator:
    """Return what a selector chooses, or mixes."""
    candidates = among(rows)
    selection = selector.settled(rows).select(rows, candidates, np.random.default_rng(seed), Pool(1))
    return selection.answer(candidates)


def row(
    method: str,
    kind: str,
    chosen: str,
    value: float,
    stderr: float | None,
    seconds: float,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """Return a result, which must be a number."""
    if not math.isfinite(value):
        raise ParameterError(f"{method} must give finite values, got {value} by {chosen}.")
    what = {"method": method, "kind": kind, "chosen": chosen, "value": value, "stderr": stderr}
    return what | {"low": low, "high": high, "seconds": seconds}


def code() -> str:
    """Return 16 digits that change when the package does, but for what only shows results."""
    digest = hashlib.sha256()
    folder = Path(counterfold.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        if file.parent.name not in {"cli", "report"} and file.name not in SHOWING:
            digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:16]
