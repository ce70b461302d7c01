"""From the rows of many runs to mean errors with intervals, beside the published ones where these are known."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from counterfold.arrays import Floats
from counterfold.experiments.files import Row
from counterfold.experiments.paper.figures import Figure
from counterfold.experiments.results.bootstrap import mean_interval

Key = tuple[str, int, str, str]
"""A dataset, a number of rows, a set of candidates and a method."""

Published = dict[tuple[str, str], tuple[float, float, float]]
"""The published mean and the bounds of its interval, by dataset and method."""

ALL = "all datasets"


@dataclass(frozen=True)
class Line:
    """The mean squared error, or regret, of one method on one dataset over all runs and temperatures.

    `family` is the set of candidates that the method chose from, and `low` and `high` are a bootstrap interval.
    """

    dataset: str
    size: int
    family: str
    method: str
    runs: int
    mean: float
    low: float
    high: float
    published: float | None = None
    published_low: float | None = None
    published_high: float | None = None

    @property
    def overlaps(self) -> bool | None:
        """Say whether our interval and the published one overlap; None if nothing was published."""
        if self.published_low is None or self.published_high is None:
            return None
        return self.low <= self.published_high and self.published_low <= self.high


def summarise(rows: Sequence[Row], figure: Figure, published: Published) -> list[Line]:
    """Return a line for every method on every dataset and, where the figure averages over datasets, on all of them.

    The temperatures of one run share halves, policies and luck, so intervals resample whole runs.
    """
    groups: dict[Key, dict[tuple[str, int], list[float]]] = {}
    for row, loss in zip(rows, squared_errors(rows, figure).tolist(), strict=True):
        for dataset in (row["dataset"], ALL) if figure.overall else (row["dataset"],):
            group = groups.setdefault((dataset, row["size"], row["family"], row["method"]), {})
            group.setdefault((row["dataset"], row["run"]), []).append(loss)
    lines = []
    for key in sort_keys(list(groups)):
        runs = np.array([np.mean(losses) for losses in groups[key].values()])
        count = sum(map(len, groups[key].values()))
        theirs = published.get((key[0], key[3]), (None, None, None))
        lines.append(Line(*key, count, float(runs.mean()), *mean_interval(runs), *theirs))
    return lines


def sort_keys(keys: list[Key]) -> list[Key]:
    """Return the keys sorted by dataset, size, set and method, each in the order in which they first came."""
    places = [{value: place for place, value in enumerate(dict.fromkeys(column))} for column in zip(*keys, strict=True)]
    places[0] |= {ALL: len(keys)}
    return sorted(keys, key=lambda key: tuple(place[value] for place, value in zip(places, key, strict=True)))


def squared_errors(rows: Sequence[Row], figure: Figure) -> Floats:
    """Return the squared error of each row or, for a figure of regret, what it has beyond the best single candidate.

    A user's own estimator is no such candidate, so that its regret may be negative.
    """
    errors = np.array([(row["value"] - row["truth"]) ** 2 for row in rows])
    if not figure.regret:
        return errors
    singles = {one.name for one in figure.single_candidates}
    best: dict[tuple[object, ...], float] = {}
    problems = [tuple(row[name] for name in ("dataset", "logging_beta", "target_beta", "size", "run")) for row in rows]
    for problem, row, error in zip(problems, rows, errors.tolist(), strict=True):
        if row["method"] in singles:
            best[problem] = min(error, best.get(problem, np.inf))
    return np.asarray(errors - [best[problem] for problem in problems])


def read_published(name: str) -> Published:
    """Return the published results of a figure; an empty dictionary if its numbers are not known."""
    file = files("counterfold.experiments.paper") / "published" / f"{name}.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["method"]): (float(row["mse"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in csv.DictReader(lines)
        }
