"""From the rows of many runs to means with intervals, beside the published ones where these are known."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from counterfold.arrays import Floats
from counterfold.experiments.paper.figures import Figure
from counterfold.experiments.runner import Row, whole

REPLICATES = 2000
Key = tuple[str, int, str, str]
"""A dataset, a number of rows, a family and a method."""

Known = dict[tuple[str, str], tuple[float, float, float]]
"""Published mean, and ends of its interval, by dataset and method."""

ALL = "all datasets"


@dataclass(frozen=True)
class Line:
    """One method on one dataset: its mean squared error (or regret) over all runs and temperatures, with interval."""

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


def summarised(rows: Sequence[Row], figure: Figure, known: Known) -> list[Line]:
    """Return a line for every method on every dataset and, where the figure is of all datasets at once, on all.

    The conditions of one run share halves, policies and luck, so intervals draw whole runs.
    """
    groups: dict[Key, dict[tuple[str, int], list[float]]] = {}
    for row, loss in zip(rows, squared_errors(rows, figure).tolist(), strict=True):
        for dataset in (row["dataset"], ALL) if figure.overall else (row["dataset"],):
            group = groups.setdefault((dataset, row["size"], row["family"], row["method"]), {})
            group.setdefault((row["dataset"], row["run"]), []).append(loss)
    lines = []
    for key in in_order(list(groups)):
        runs = np.array([np.mean(losses) for losses in groups[key].values()])
        count = sum(map(len, groups[key].values()))
        theirs = known.get((key[0], key[3]), (None, None, None))
        lines.append(Line(*key, count, float(runs.mean()), *interval(runs), *theirs))
    return lines


def in_order(keys: list[Key]) -> list[Key]:
    """Return the keys sorted by dataset, size, family and method, each in the order in which they first came."""
    places = [{value: place for place, value in enumerate(dict.fromkeys(column))} for column in zip(*keys, strict=True)]
    places[0] |= {ALL: len(keys)}
    return sorted(keys, key=lambda key: tuple(place[value] for place, value in zip(places, key, strict=True)))


def squared_errors(rows: Sequence[Row], figure: Figure) -> Floats:
    """Return the squared error of each row, less that of the best single candidate of its run if regret is wanted."""
    errors = np.array([(row["value"] - row["truth"]) ** 2 for row in rows])
    if not figure.regret:
        return errors
    single = {one.name for one in figure.alone}  # a user's own estimator may be better, and have negative regret
    best: dict[tuple[object, ...], float] = {}
    runs = [tuple(row[part] for part in ("dataset", "logging_beta", "target_beta", "size", "run")) for row in rows]
    for run, row, error in zip(runs, rows, errors.tolist(), strict=True):
        if row["method"] in single:
            best[run] = min(error, best.get(run, np.inf))
    return np.array([error - best[run] for run, error in zip(runs, errors.tolist(), strict=True)])


def interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the bootstrap interval of a mean, the same each time."""
    return ends(replicated(values), level)


def replicated(values: Floats, seed: int = 0) -> Floats:
    """Return the means of bootstrap samples; samples of as many values by the same seed are of the same places."""
    draw = np.random.default_rng(seed).integers(len(values), size=(REPLICATES, len(values)))
    return np.asarray(values[draw].mean(axis=1))


def ends(replicates: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the interval that holds the middle of the replicates."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def published(name: str) -> Known:
    """Return the published mean and interval by dataset and method; nothing if the figure's numbers are not known."""
    file = files("counterfold.experiments.paper") / "published" / f"{name}.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["method"]): (float(row["mse"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in csv.DictReader(lines)
        }


def write(lines: Sequence[Any], path: Path) -> Path:
    """Write the lines of a dataclass as CSV, and return the file."""
    with whole(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(asdict(lines[0])), lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(line) for line in lines)
    return path
