"""From the benchmark's rows to what ways to learn are worth, how often they do harm, and how well that is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterfold.base.arrays import Floats
from counterfold_lab import results as shared
from counterfold_lab.files import Row
from counterfold_lab.learning.experiment import BEST, LOGGER, OURS
from counterfold_lab.selection.results import ALL, make_family_axes

HARM = 1e-9
"""A policy that earns less than the logger by more than so many standard deviations of the rewards is worse."""

STYLES = {
    OURS: ("D", "#0b3c8c"),
    "greedy DM": ("v", "#888888"),
    "IPW learner": ("x", "#e69f00"),
    "DRPolicyTree": ("s", "#009e73"),
    BEST: ("*", "#bbbbbb"),
}
"""The marker and the colour of each method that is drawn."""


@dataclass(frozen=True)
class Gain:
    """How much more than the logger the policies of one method earn.

    Over all families, every problem counts the same.
    """

    family: str
    """The family of problems."""

    rows: int
    """The rows of each log."""

    method: str
    """The method."""

    problems: int
    """The number of problems."""

    gain: float
    """The mean gain, in standard deviations of the rewards."""

    low: float
    """The lower end of its bootstrap interval, which resamples problems."""

    high: float
    """The upper end of its bootstrap interval."""

    worse: float
    """The share of problems on which the policy is worse than the logger."""


@dataclass(frozen=True)
class Holding:
    """How often the interval of a learnt policy, at a level of 95 %, covers its true value."""

    rows: int
    """The rows of each log."""

    answers_of: str
    """The problems: all, those whose verdict is good, those where a policy beats the log, or those where none does."""

    answers: int
    """The number of answers."""

    share: float
    """The share of the answers whose interval covers the true value."""

    p_value: float
    """The p-value of the share, by the two-sided binomial test."""

    width: float | None
    """The mean width of the intervals."""


def gains(rows: Sequence[Row]) -> list[Gain]:
    """Return a line for each family, number of rows and method; those over all families come first."""
    found = []
    for (size,), some in shared.group_rows(rows, "rows").items():
        groups = {ALL: some} | {family: mine for (family,), mine in shared.group_rows(some, "family").items()}
        for family, mine in groups.items():
            for (method,), several in shared.group_rows(mine, "method").items():
                if method != LOGGER:
                    found.append(measure_gain(family, size, method, several))
    return sorted(found, key=lambda line: line.family != ALL)


def measure_gain(family: str, size: int, method: str, rows: Sequence[Row]) -> Gain:
    """Return what one method gains on some problems."""
    apart = find_gains(rows)
    ends = shared.percentile_interval(shared.resample_means(apart))
    return Gain(family, size, method, len(rows), float(apart.mean()), *ends, float((apart < -HARM).mean()))


def find_gains(rows: Sequence[Row]) -> Floats:
    """Return how much more than the logger each policy earns."""
    return np.array([(row["value"] - row["logged"]) / row["scale"] for row in rows])


def holdings(rows: Sequence[Row]) -> list[Holding]:
    """Return how often intervals hold the truth, at each number of rows."""
    from scipy.stats import binomtest

    found = []
    for (size,), some in shared.group_rows([row for row in rows if row["method"] == OURS], "rows").items():
        groups = {"all": some, "has a good verdict": [row for row in some if row["verdict"] == "good"]}
        groups["beats the log"] = [row for row in some if row["beats_log"]]
        groups["keeps the log"] = [row for row in some if not row["beats_log"]]
        for name, mine in ((name, mine) for name, mine in groups.items() if mine):
            held = sum(holds(row) for row in mine)
            p_value = float(binomtest(held, len(mine), shared.LEVEL).pvalue)
            known = [row for row in mine if row["low"] is not None and row["high"] is not None]
            widths = [(row["high"] - row["low"]) / row["scale"] for row in known]
            width = float(np.mean(widths)) if widths else None
            found.append(Holding(size, name, len(mine), held / len(mine), p_value, width))
    return found


def holds(row: Row) -> bool:
    """Say whether an interval holds what the policy truly earns; an end that is missing is infinitely far away."""
    low = -np.inf if row["low"] is None else row["low"]
    high = np.inf if row["high"] is None else row["high"]
    return bool(low <= row["own"] <= high)


def draw_gains(lines: Sequence[Gain], path: Path) -> list[Path]:
    """Draw what each method gains on each family, at the largest number of rows."""
    size = max(line.rows for line in lines)
    shown = [line for line in lines if line.rows == size]
    families = list(dict.fromkeys(line.family for line in shown))
    title = f"What learnt policies are worth, {size:,} rows; the line is the 95 % interval of `{OURS}`"
    canvas, place = make_family_axes(families, title, "gain over the logger, in standard deviations of the rewards")
    for method, (marker, colour) in STYLES.items():
        mine, own = [line for line in shown if line.method == method], method == OURS
        heights = [families.index(line.family) for line in mine]
        for line, height in zip(mine if own else (), heights, strict=False):
            place.plot([line.low, line.high], [height] * 2, color=colour, alpha=0.4, linewidth=3)
        size_of = 8 if own else 6
        place.plot([line.gain for line in mine], heights, marker, color=colour, markersize=size_of, label=method)
    place.axvline(0.0, color="black", linewidth=0.8)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return shared.save_picture(canvas, path)
