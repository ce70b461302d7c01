"""From the benchmark's rows to scores of methods, coverage of intervals, and how well verdicts warn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.diagnostics import Verdict
from counterfold.experiments.files import Row
from counterfold.experiments.paper.experiment import ORACLE
from counterfold.experiments.results import percentile_interval, resample_means
from counterfold.experiments.selection.experiment import DEFAULT

ALL = "all families"

LARGE_ERROR = 0.25
"""A verdict should warn of an error above so many standard deviations of the rewards."""

ENOUGH_ROWS = 500
"""The number of rows from which on intervals are expected to reach their level."""

LEVEL = 0.95
"""The level of the default's intervals."""

GOOD, NOT_GOOD, FEW_ROWS = "good", "not good", f"< {ENOUGH_ROWS} rows"

SIMPLE, RIVALS = ("fixed", "theory"), ("fixed", "selector", "default")
"""The kinds of methods with the best of which all are compared, and those among which one is the worst."""

SMALLEST_ERROR = 1e-30
"""A smaller squared error counts as this, so that ratios exist."""


@dataclass(frozen=True)
class Score:
    """The squared errors of one method on one family, in units of the rewards' variance (1 for the paper's problems).

    `low` and `high` are the bootstrap interval of the mean, which resamples problems. `regret` is the mean less that of
    the oracle; it may be negative for a method with values that the oracle cannot choose. `ratio` is the mean divided
    by that of the best fixed or theory-tuned method of the family, both resample_rows together. `worst` is the share of
    problems on which no fixed method, selector or default is worse. Over all families every family counts the same:
    means are means over families, and the ratio is the geometric mean, which no family of large errors dominates.
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

    The p-value is that of the two-sided binomial test. The paper's problems share runs, so theirs is a rough guide.
    """

    family: str
    answers_of: str
    answers: int
    covered: int
    share: float
    p_value: float
    width: float | None


@dataclass(frozen=True)
class Alarm:
    """How well a verdict warns of large errors: how many of its answers have one, with precision and recall."""

    family: str
    verdict: str
    answers: int
    large: int
    precision: float
    recall: float | None


@dataclass(frozen=True, eq=False)
class FamilyErrors:
    """The squared errors of one family (methods x problems), the kinds of methods, and the numbers of problems.

    The paper's conditions of one run have the same number, and are resample_rows as one. The seed is the bootstrap's.
    """

    family: str
    kinds: dict[str, str]
    errors: Floats
    numbers: Ints
    seed: int

    @classmethod
    def of(cls, family: str, rows: Sequence[Row], seed: int) -> "FamilyErrors":
        """Return the errors in the rows of a family."""
        kinds = {row["method"]: row["kind"] for row in rows}
        lines: dict[str, list[float]] = {method: [] for method in kinds}
        for row in rows:
            lines[row["method"]].append(max(error(row) ** 2, SMALLEST_ERROR))
        numbers = np.array([row["problem"] for row in rows if row["kind"] == DEFAULT])
        return cls(family, kinds, np.array(list(lines.values())), numbers, seed)

    @cached_property
    def means(self) -> Floats:
        """Return the mean error of each method, and its bootstrap replicates behind (methods x 1 + replicates)."""
        _, units = np.unique(self.numbers, return_inverse=True)
        of_units = np.stack([np.bincount(units, weights=line) for line in self.errors]) / np.bincount(units)
        return np.stack([np.append(line.mean(), resample_means(line, self.seed)) for line in of_units])

    @property
    def regrets(self) -> Floats:
        """Return the mean error of each method less that of the oracle."""
        means = self.means[:, 0]
        return np.asarray(means - means[list(self.kinds.values()).index(ORACLE)])

    @property
    def worst(self) -> Floats:
        """Return the share of problems on which each method is the worst of the rivals; NaN for any other."""
        rivals = np.isin(list(self.kinds.values()), RIVALS)
        share = (self.errors >= self.errors[rivals].max(axis=0)).mean(axis=1)
        return np.where(rivals, share, np.nan)

    @property
    def ratios(self) -> Floats:
        """Return the ratio of each mean, and of each replicate, to that of the best simple method."""
        simple = np.flatnonzero(np.isin(list(self.kinds.values()), SIMPLE))
        return np.asarray(self.means / self.means[simple[self.means[simple, 0].argmin()]])


def error(row: Row) -> float:
    """Return the error of an answer in units of the problem's scale."""
    return float((row["value"] - row["truth"]) / row["scale"])


def group_by_family(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows of each family."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["family"], []).append(row)
    return found


def scores(rows: Sequence[Row]) -> list[Score]:
    """Return a line for every method over all families, and on each."""
    families = [FamilyErrors.of(name, some, seed) for seed, (name, some) in enumerate(group_by_family(rows).items())]
    return [*average_scores(ALL, families), *(score for one in families for score in average_scores(one.family, [one]))]


def average_scores(name: str, families: Sequence[FamilyErrors]) -> list[Score]:
    """Return a line for every method over some families, all of which count the same."""
    means, regrets, worst, logs = (
        np.mean(some, axis=0)
        for some in zip(*((one.means, one.regrets, one.worst, np.log(one.ratios)) for one in families), strict=True)
    )
    ratios, errors = np.exp(logs), np.concatenate([one.errors for one in families], axis=1)
    found = []
    for place, (method, kind) in enumerate(families[0].kinds.items()):
        mean = float(means[place, 0]), *percentile_interval(means[place, 1:]), float(np.median(errors[place]))
        ratio = float(ratios[place, 0]), *percentile_interval(ratios[place, 1:])
        share = None if np.isnan(worst[place]) else float(worst[place])
        found.append(Score(name, method, kind, errors.shape[1], *mean, float(regrets[place]), *ratio, share))
    return found


def default_answers(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the default's answers, all together and by family."""
    own = [row for row in rows if row["kind"] == DEFAULT]
    return {ALL: own} | group_by_family(own)


def coverage(rows: Sequence[Row]) -> list[Coverage]:
    """Return a line for the good answers, the others, and those from few rows, over all families and on each."""
    found = []
    for family, mine in default_answers(rows).items():
        for which in (GOOD, NOT_GOOD, FEW_ROWS):
            some = [row for row in mine if coverage_group(row) == which]
            if some:
                found.append(count_covered(family, which, some))
    return found


def coverage_group(row: Row) -> str:
    """Return the group of answers that an answer's interval is counted in."""
    if row["rows"] < ENOUGH_ROWS:
        return FEW_ROWS
    return GOOD if row["verdict"] == GOOD else NOT_GOOD


def count_covered(family: str, which: str, rows: Sequence[Row]) -> Coverage:
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


def verdicts(rows: Sequence[Row]) -> list[Alarm]:
    """Return a line for each verdict that was given, and for all but "good" together, over all families and on each."""
    found = []
    for family, mine in default_answers(rows).items():
        wrong = sum(has_large_error(row) for row in mine)
        for name in (*get_args(Verdict), NOT_GOOD):
            some = [row for row in mine if row["verdict"] == name or (name == NOT_GOOD and row["verdict"] != GOOD)]
            if some:
                large = sum(has_large_error(row) for row in some)
                recall = large / wrong if wrong else None
                found.append(Alarm(family, name, len(some), large, large / len(some), recall))
    return found


def has_large_error(row: Row) -> bool:
    """Say whether the error of an answer is one that a verdict should warn of."""
    return abs(error(row)) > LARGE_ERROR
