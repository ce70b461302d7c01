"""From the benchmark's rows to scores of methods, coverage of intervals, and what verdicts are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.diagnostics import Verdict
from counterfold.experiments.paper.results.summary import ends, replicated
from counterfold.experiments.runner import Row
from counterfold.experiments.selection.methods import DEFAULT

ALL = "all families"

LARGE_ERROR = 0.25
"""An error above so many standard deviations of the rewards is one that a verdict should have warned of."""

ENOUGH_ROWS = 500
"""Intervals are held to their level on logs of so many rows."""

LEVEL = 0.95

GOOD, NOT_GOOD, FEW_ROWS = "good", "not good", f"< {ENOUGH_ROWS} rows"

SIMPLE, RIVALS = ("fixed", "theory"), ("fixed", "selector", "default")
"""Kinds of methods: those that a choice must be measured against, and those among which one is the worst."""

SMALLEST = 1e-30
"""No squared error counts as less, so that ratios exist."""


@dataclass(frozen=True)
class Score:
    """One method on one family: squared errors in units of the rewards' variance (of 1 for the paper's problems).

    `low` and `high` are the bootstrap interval of the mean, where whole problems are drawn. `regret` is how far the
    mean is above the oracle's (a method with values that the oracle cannot choose may be below). `ratio` is that of the
    mean to that of the best fixed or theory-tuned method of the family, both drawn together. `worst` is the share of
    problems on which no fixed method, selector or default is worse. Over all families every family counts the same:
    means are means of theirs, and the ratio is the geometric mean of theirs, which no family of large errors dominates.
    """

    family: str
    method: str
    kind: str
    problems: int
    mean: float
    low: float
    high: float
    median: float
    regret: float
    ratio: float
    ratio_low: float
    ratio_high: float
    worst: float | None


@dataclass(frozen=True)
class Coverage:
    """How often the default's interval of 95 % holds the truth, and its width in standard deviations of the rewards.

    The p-value is that of the two-sided binomial test. The paper's problems share runs, so that theirs is only a guide.
    """

    family: str
    answers_of: str
    answers: int
    covered: int
    share: float
    p_value: float
    width: float | None


@dataclass(frozen=True)
class Warned:
    """Answers of one verdict, and how many have a large error; as an alarm for these, `precision` and `recall`."""

    family: str
    verdict: str
    answers: int
    large: int
    precision: float
    recall: float | None


@dataclass(frozen=True, eq=False)
class Board:
    """The squared errors of one family: a line per method, a column per problem, and the number of each problem.

    The paper's conditions of one run have the same number, and are drawn as one.
    """

    family: str
    kinds: dict[str, str]
    errors: Floats
    numbers: Ints
    seed: int

    @classmethod
    def of(cls, family: str, rows: Sequence[Row], seed: int) -> "Board":
        """Return the board of a family's rows; the seed is that of the bootstrap."""
        kinds = {row["method"]: row["kind"] for row in rows}
        lines: dict[str, list[float]] = {method: [] for method in kinds}
        for row in rows:
            lines[row["method"]].append(max(error(row) ** 2, SMALLEST))
        numbers = np.array([row["problem"] for row in rows if row["kind"] == DEFAULT])
        return cls(family, kinds, np.array(list(lines.values())), numbers, seed)

    @cached_property
    def draws(self) -> Floats:
        """Return the mean error of each method (methods x 1 + replicates): the true one first, then bootstrap ones."""
        _, units = np.unique(self.numbers, return_inverse=True)
        of_units = np.stack([np.bincount(units, weights=line) for line in self.errors]) / np.bincount(units)
        return np.stack([np.append(line.mean(), replicated(line, self.seed)) for line in of_units])

    @property
    def regrets(self) -> Floats:
        """Return what each method's mean error has beyond the oracle's."""
        means = self.draws[:, 0]
        return np.asarray(means - means[list(self.kinds.values()).index("oracle")])

    @property
    def worst(self) -> Floats:
        """Return the share of problems on which each method is the worst of its rivals; NaN where it is none."""
        rivals = np.isin(list(self.kinds.values()), RIVALS)
        share = (self.errors >= self.errors[rivals].max(axis=0)).mean(axis=1)
        return np.where(rivals, share, np.nan)

    def ratios(self, draws: Floats) -> Floats:
        """Return the ratio of each mean to that of the method that is the best of the simple ones."""
        simple = np.flatnonzero(np.isin(list(self.kinds.values()), SIMPLE))
        return np.asarray(draws / draws[simple[draws[simple, 0].argmin()]])


def error(row: Row) -> float:
    """Return the error of an answer in units of the problem's scale."""
    return float((row["value"] - row["truth"]) / row["scale"])


def by_family(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each family."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["family"], []).append(row)
    return found


def scores(rows: Sequence[Row]) -> list[Score]:
    """Return a line for every method over all families, and on each."""
    boards = [Board.of(family, mine, seed) for seed, (family, mine) in enumerate(by_family(rows).items())]
    return [*together(ALL, boards), *(score for board in boards for score in together(board.family, [board]))]


def together(name: str, boards: Sequence[Board]) -> list[Score]:
    """Return a line for every method over some families, all of which count the same."""
    draws = [board.draws for board in boards]
    means = np.mean(draws, axis=0)
    ratios = np.exp(np.mean([np.log(board.ratios(one)) for board, one in zip(boards, draws, strict=True)], axis=0))
    regrets, worst = (np.mean([getattr(board, part) for board in boards], axis=0) for part in ("regrets", "worst"))
    every = np.concatenate([board.errors for board in boards], axis=1)
    found = []
    for place, (method, kind) in enumerate(boards[0].kinds.items()):
        error_size = float(means[place, 0]), *ends(means[place, 1:]), float(np.median(every[place]))
        ratio = float(ratios[place, 0]), *ends(ratios[place, 1:])
        share = None if np.isnan(worst[place]) else float(worst[place])
        found.append(Score(name, method, kind, every.shape[1], *error_size, float(regrets[place]), *ratio, share))
    return found


def answers(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the default's answers, all together and by family."""
    own = [row for row in rows if row["kind"] == DEFAULT]
    return {ALL: own} | by_family(own)


def coverage(rows: Sequence[Row]) -> list[Coverage]:
    """Return a line for the good answers, the others, and those from few rows, over all families and on each."""
    found = []
    for family, mine in answers(rows).items():
        for which in (GOOD, NOT_GOOD, FEW_ROWS):
            some = [row for row in mine if group(row) == which]
            if some:
                found.append(covering(family, which, some))
    return found


def group(row: Row) -> str:
    """Return which answers an answer's interval is judged with."""
    if row["rows"] < ENOUGH_ROWS:
        return FEW_ROWS
    return GOOD if row["verdict"] == GOOD else NOT_GOOD


def covering(family: str, which: str, rows: Sequence[Row]) -> Coverage:
    """Return how often intervals hold the truth; an end that is missing is infinitely far away."""
    from scipy.stats import binomtest

    covered = sum(
        (row["low"] is None or row["low"] <= row["truth"]) and (row["high"] is None or row["truth"] <= row["high"])
        for row in rows
    )
    widths = [(row["high"] - row["low"]) / row["scale"] for row in rows if None not in (row["low"], row["high"])]
    p_value = float(binomtest(covered, len(rows), LEVEL).pvalue)
    width = float(np.mean(widths)) if widths else None
    return Coverage(family, which, len(rows), covered, covered / len(rows), p_value, width)


def verdicts(rows: Sequence[Row]) -> list[Warned]:
    """Return a line for each verdict that was given, and for all but "good" together, over all families and on each."""
    found = []
    for family, mine in answers(rows).items():
        wrong = sum(is_large(row) for row in mine)
        for name in (*get_args(Verdict), NOT_GOOD):
            some = [row for row in mine if row["verdict"] == name or (name == NOT_GOOD and row["verdict"] != GOOD)]
            if some:
                large = sum(is_large(row) for row in some)
                recall = large / wrong if wrong else None
                found.append(Warned(family, name, len(some), large, large / len(some), recall))
    return found


def is_large(row: Row) -> bool:
    """Say whether an answer is farther from the truth than a verdict should let pass."""
    return abs(error(row)) > LARGE_ERROR
