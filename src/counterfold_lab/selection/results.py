"""From the benchmark's rows to scores of methods, coverage of intervals, how well verdicts warn, and pictures of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from counterfold.base import registry
from counterfold.base.arrays import Floats
from counterfold.diagnostics import Verdict
from counterfold_lab import results as shared
from counterfold_lab.files import Row
from counterfold_lab.paper.figures import ORACLE
from counterfold_lab.selection.experiment import AUTO_OPE, DEFAULT

ALL = "all families"

LARGE_ERROR = 0.25
"""A verdict should warn of an error above so many standard deviations of the rewards."""

ENOUGH_ROWS = 500
GOOD, NOT_GOOD, FEW_ROWS = "good", "not good", f"< {ENOUGH_ROWS} rows"
"""The number of rows from which on intervals are expected to reach their level, and groups of answers."""

STYLES = {
    "IPS": ("x", "#888888"),
    "SNIPS": ("+", "#888888"),
    "DM": ("v", "#bbbbbb"),
    "DR": ("^", "#bbbbbb"),
    "OCV_IPS": ("s", "#e69f00"),
    "OCV_DR": ("s", "#009e73"),
    "KFoldCV_DR": ("P", "#56b4e9"),
    "OPERA": ("o", "#cc79a7"),
    AUTO_OPE: ("*", "#d55e00"),
    DEFAULT: ("D", "#0b3c8c"),
}
"""The marker and the colour of each method that is drawn."""

VERDICT_COLOURS = dict(zip(get_args(Verdict), ("#2166ac", "#7b68a6", "#e69f00", "#b2182b"), strict=True))
COVERAGE_STYLES = {GOOD: (VERDICT_COLOURS["good"], -0.15, "o"), NOT_GOOD: (VERDICT_COLOURS["caution"], 0.15, "s")}
"""The colour, the vertical shift and the marker of each group of answers."""


@dataclass(frozen=True)
class Score:
    """The squared errors of one method on one family, in units of the rewards' variance (1 for the paper's problems).

    Over all families, every family counts the same: means are means over families, and the ratio is the geometric
    mean, which no family of large errors dominates.
    """

    family: str
    """The family of problems."""

    method: str
    """The method that answers."""

    kind: str
    """The kind of method."""

    problems: int
    """The number of problems."""

    mean: float
    """The mean squared error, in units of the rewards' variance."""

    low: float
    """The lower end of its bootstrap interval, which resamples problems."""

    high: float
    """The upper end of its bootstrap interval."""

    median: float
    """The median squared error."""

    regret: float
    """The mean less that of the oracle, which is negative for values that the oracle cannot choose."""

    ratio: float
    """The mean divided by that of the best fixed or theory-tuned method of the family."""

    ratio_low: float
    """The lower end of the ratio's bootstrap interval, which resamples both means together."""

    ratio_high: float
    """The upper end of the ratio's bootstrap interval."""

    worst: float | None
    """The share of problems on which no fixed method, selector or default is worse."""


@dataclass(frozen=True)
class Coverage:
    """How often the default's interval, at a level of 95 %, covers the true value."""

    family: str
    """The family of problems."""

    answers_of: str
    """The answers that are counted, such as those with a good verdict."""

    answers: int
    """The number of answers."""

    covered: int
    """The number of answers whose interval covers the true value."""

    share: float
    """Their share."""

    p_value: float
    """The p-value of the share, by the two-sided binomial test.

    It is a rough guide for the paper's problems, which share runs.
    """

    width: float | None
    """The mean width of the intervals, in standard deviations of the rewards."""


@dataclass(frozen=True)
class Alarm:
    """How well a verdict warns of large errors."""

    family: str
    """The family of problems."""

    verdict: str
    """The verdict."""

    answers: int
    """The answers with this verdict."""

    large: int
    """Those that have a large error."""

    precision: float
    """Their share of the answers with this verdict."""

    recall: float | None
    """Their share of all large errors."""


@dataclass(frozen=True)
class CheckAlarms:
    """How often one diagnostic raises an alarm."""

    family: str
    """The family of problems."""

    check: str
    """The check."""

    answers: int
    """The number of answers."""

    alarms: int
    """The number of alarms."""

    share: float
    """The share of the answers with an alarm."""


FamilyErrors = tuple[list[Any], Floats, tuple[Floats, Floats, Floats, Floats]]
"""The name and kind of each method, the squared errors of a family (methods x problems), and what is averaged over
families: mean errors with their bootstrap replicates behind, regrets, shares of problems on which a method is the worst
of its rivals (NaN for others), and the logarithms of the ratios of the means and their replicates."""


def measure_family(rows: Sequence[Row], seed: int) -> FamilyErrors:
    """Return the errors in the rows of a family; the seed is the bootstrap's.

    The paper's conditions of one run have the same number, and are resampled as one.
    """
    methods = shared.group_rows(rows, "method", "kind")
    kinds = [kind for _, kind in methods]
    errors = np.array([[error(row) ** 2 for row in some] for some in methods.values()]).clip(1e-30)  # for the ratios
    _, units = np.unique([row["problem"] for row in rows if row["kind"] == DEFAULT], return_inverse=True)
    of_units = np.stack([np.bincount(units, weights=line) for line in errors]) / np.bincount(units)
    means = np.stack([np.append(line.mean(), shared.resample_means(line, seed)) for line in of_units])
    rivals = np.isin(kinds, ["fixed", "selector", "default"])
    simple = np.flatnonzero(np.isin(kinds, ["fixed", "theory"]))
    worst = np.where(rivals, (errors >= errors[rivals].max(axis=0)).mean(axis=1), np.nan)
    log_ratios = np.log(means / means[simple[means[simple, 0].argmin()]])
    return list(methods), errors, (means, means[:, 0] - means[kinds.index(ORACLE), 0], worst, log_ratios)


def error(row: Row) -> float:
    """Return the error of an answer in units of the problem's scale."""
    return float((row["value"] - row["truth"]) / row["scale"])


def scores(rows: Sequence[Row]) -> list[Score]:
    """Return a line for every method over all families, and on each."""
    families = shared.group_rows(rows, "family")
    measured = {name: measure_family(families[name,], seed) for seed, (name,) in enumerate(families)}
    groups = {ALL: list(measured.values())} | {name: [one] for name, one in measured.items()}
    return [score for name, some in groups.items() for score in average_scores(name, some)]


def average_scores(name: str, families: Sequence[FamilyErrors]) -> list[Score]:
    """Return a line for every method over some families, all of which count the same."""
    errors = np.concatenate([errors for _, errors, _ in families], axis=1)
    columns = zip(*(measures for _, _, measures in families), strict=True)
    means, regrets, worst, logs = (np.mean(some, axis=0) for some in columns)
    ratios, found = np.exp(logs), []
    for place, (method, kind) in enumerate(families[0][0]):
        mean = float(means[place, 0]), *shared.percentile_interval(means[place, 1:]), float(np.median(errors[place]))
        ratio = float(ratios[place, 0]), *shared.percentile_interval(ratios[place, 1:])
        share = None if np.isnan(worst[place]) else float(worst[place])
        found.append(Score(name, method, kind, errors.shape[1], *mean, float(regrets[place]), *ratio, share))
    return found


def default_answers(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the default's answers, all together and by family."""
    own = [row for row in rows if row["kind"] == DEFAULT]
    return {ALL: own} | {family: some for (family,), some in shared.group_rows(own, "family").items()}


def coverage(rows: Sequence[Row]) -> list[Coverage]:
    """Return a line for the good answers, the others, and those from few rows, over all families and on each."""

    def name_group(row: Row) -> str:
        return FEW_ROWS if row["rows"] < ENOUGH_ROWS else GOOD if row["verdict"] == GOOD else NOT_GOOD

    found = []
    for family, mine in default_answers(rows).items():
        for which in (GOOD, NOT_GOOD, FEW_ROWS):
            some = [row for row in mine if name_group(row) == which]
            found += [count_covered(family, which, some)] if some else []
    return found


def count_covered(family: str, which: str, rows: Sequence[Row]) -> Coverage:
    """Return how often intervals hold the truth; an end that is missing is infinitely far away."""
    from scipy.stats import binomtest

    names = ("low", "high", "truth", "scale")
    low, high, truth, scale = np.array([[row[name] for row in rows] for name in names], dtype=np.float64)
    covered = len(rows) - int(((low > truth) | (high < truth)).sum())  # a missing end is NaN here
    p_value = float(binomtest(covered, len(rows), shared.LEVEL).pvalue)
    widths = ((high - low) / scale)[~np.isnan(high - low)]
    width = float(widths.mean()) if len(widths) else None
    return Coverage(family, which, len(rows), covered, covered / len(rows), p_value, width)


def verdicts(rows: Sequence[Row]) -> list[Alarm]:
    """Return a line for each verdict that was given, and for all but "good" together, over all families and on each."""
    groups = {name: {name} for name in get_args(Verdict)} | {NOT_GOOD: {*get_args(Verdict)} - {GOOD}}
    found = []
    for family, mine in default_answers(rows).items():
        wrong = [row for row in mine if abs(error(row)) > LARGE_ERROR]
        for name, group in groups.items():
            answers, large = (sum(row["verdict"] in group for row in some) for some in (mine, wrong))
            if answers:
                recall = large / len(wrong) if wrong else None
                found.append(Alarm(family, name, answers, large, large / answers, recall))
    return found


def checks(rows: Sequence[Row]) -> list[CheckAlarms]:
    """Return a line for each diagnostic, over all families and on each."""
    found = []
    for family, mine in default_answers(rows).items():
        spoke = Counter(name for row in mine for name in row["alarms"].split())
        found += [
            CheckAlarms(family, name, len(mine), spoke[name], spoke[name] / len(mine))
            for name in registry.names("diagnostics")
        ]
    return found


def draw_ratios(scores: Sequence[Score], path: Path) -> list[Path]:
    """Draw the ratio of each main method's mean squared error to that of the best fixed or theory-tuned one."""
    families = list(dict.fromkeys(score.family for score in scores))
    canvas, place = make_family_axes(
        families,
        "What choosing costs, or gains; the line is the default's 95 % interval",
        "mean squared error, as a multiple of that of the family's best fixed or theory-tuned method",
    )
    for method, (marker, colour) in STYLES.items():
        mine, own = [score for score in scores if score.method == method], method == DEFAULT
        heights = [families.index(score.family) for score in mine]
        for score, height in zip(mine if own else (), heights, strict=False):
            place.plot([score.ratio_low, score.ratio_high], [height] * 2, color=colour, alpha=0.4, linewidth=3)
        points = [score.ratio for score in mine], heights
        style = {"markersize": 8 if own else 6, "zorder": 3 if own else 2, "markeredgewidth": 1.5}
        place.plot(*points, marker, color=colour, markerfacecolor=colour if own else "none", label=method, **style)
    place.axvline(1.0, color="black", linewidth=0.8)
    place.set_xscale("log")
    place.xaxis.set_major_formatter("{x:g}")
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return shared.save_picture(canvas, path)


def draw_coverage(lines: Sequence[Coverage], path: Path) -> list[Path]:
    """Draw how often the default's interval holds the truth, with the exact interval of a binomial share."""
    from scipy.stats import binomtest

    shown = [line for line in lines if line.answers_of in COVERAGE_STYLES]
    families = list(dict.fromkeys([ALL, *(line.family for line in shown)]))
    label = f"share of intervals that hold the truth, and of how many; logs of at least {ENOUGH_ROWS} rows"
    canvas, place = make_family_axes(families, "Coverage of the default's 95 % interval", label)
    for which, (colour, shift, marker) in COVERAGE_STYLES.items():
        for number, line in enumerate(line for line in shown if line.answers_of == which):
            height = families.index(line.family) + shift
            bounds = binomtest(line.covered, line.answers).proportion_ci()
            name = None if number else f"verdict {which}"
            place.plot([bounds.low, bounds.high], [height] * 2, color=colour, linewidth=1.5)
            place.plot(line.share, height, marker, color=colour, markersize=5, label=name)
            place.text(1.012, height, str(line.answers), color=colour, fontsize=7, va="center")
    place.axvline(shared.LEVEL, color="black", linewidth=0.8, linestyle="--")
    place.set_xlim(right=1.01)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.05, 1.0))
    return shared.save_picture(canvas, path)


def draw_errors(rows: Sequence[Row], path: Path) -> list[Path]:
    """Draw the default's error against the effective rows, by verdict."""
    canvas, place = shared.load_pyplot().subplots(figsize=(8, 5))
    own = [row for row in rows if row["kind"] == DEFAULT]
    for verdict, colour in VERDICT_COLOURS.items():
        mine = [row for row in own if row["verdict"] == verdict]
        sizes = np.maximum([abs(error(row)) for row in mine], 1e-6)
        effective = np.maximum([row["effective_rows"] for row in mine], 1.0)
        label = f"{verdict} ({len(mine)}, {np.sum(sizes > LARGE_ERROR)} above the line)"
        place.plot(effective, sizes, "o", color=colour, markersize=3, alpha=0.5, markeredgewidth=0, label=label)
    place.axhline(LARGE_ERROR, color="black", linewidth=0.8, linestyle="--")
    place.set(xscale="log", yscale="log", xlabel="effective rows")
    place.set_ylabel("error of the default, in standard deviations of the rewards")
    place.set_title("What verdicts are worth: the default's error on every problem", fontsize=10)
    place.legend(fontsize=8, loc="lower left", markerscale=2)
    place.grid(alpha=0.3)
    return shared.save_picture(canvas, path)


def make_family_axes(families: Sequence[str], title: str, label: str) -> tuple[Any, Any]:
    """Return an empty picture with a title, a label and a line for each family; the name of all together is bold."""
    canvas, place = shared.load_pyplot().subplots(figsize=(9, 1.6 + 0.36 * len(families)))
    place.set_yticks(range(len(families)), families)
    place.get_yticklabels()[families.index(ALL)].set_fontweight("bold")
    place.set_ylim(len(families) - 0.5, -0.5)
    place.tick_params(labelsize=8)
    place.set_title(title, fontsize=10)
    place.set_xlabel(label, fontsize=8)
    place.grid(alpha=0.3)
    return canvas, place
