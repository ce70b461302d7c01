"""From the benchmark's rows to scores of methods, coverage of intervals, how well verdicts warn, and pictures of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
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
    "IPS": ("cross", "#888888"),
    "SNIPS": ("stroke", "#888888"),
    "DM": ("triangle-down", "#bbbbbb"),
    "DR": ("triangle-up", "#bbbbbb"),
    "OCV_IPS": ("square", "#e69f00"),
    "OCV_DR": ("square", "#009e73"),
    "KFoldCV_DR": ("cross", "#56b4e9"),
    "OPERA": ("circle", "#cc79a7"),
    AUTO_OPE: ("triangle-right", "#d55e00"),
    DEFAULT: ("diamond", "#0b3c8c"),
}
"""The shape and the colour of each method that is drawn."""

VERDICT_COLOURS = dict(zip(get_args(Verdict), ("#2166ac", "#7b68a6", "#e69f00", "#b2182b"), strict=True))
COVERAGE_STYLES = {GOOD: (VERDICT_COLOURS["good"], -4, "circle"), NOT_GOOD: (VERDICT_COLOURS["caution"], 4, "square")}
"""The colour, the vertical shift in pixels and the shape of each group of answers."""

LEAST_ERROR = 1e-6
"""Smaller errors are drawn as if they were so large, as the axis is logarithmic."""


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
    return shared.save_chart(make_ratios(scores), path)


def make_ratios(scores: Sequence[Score]) -> Any:
    """Return a chart with a mark for each method and family, and the interval of the default."""
    alt = shared.load_altair()
    families = list(dict.fromkeys(score.family for score in scores))
    label = "mean squared error, as a multiple of that of the family's best fixed or theory-tuned method"
    marks = [asdict(score) for score in scores if score.method in STYLES]
    own = [one for one in marks if one["method"] == DEFAULT]
    down = shared.name_families(families, ALL)
    shape, colour = shared.style_methods(STYLES)
    axis = alt.Axis(format="~g", tickCount=6, labelOverlap=True)
    across = alt.X("ratio:Q", title=label, scale=alt.Scale(type="log"), axis=axis)
    bars = shared.make_chart(own).mark_rule(strokeWidth=3, opacity=0.4)
    bars = bars.encode(down, colour, x="ratio_low:Q", x2="ratio_high:Q")
    dots = shared.make_chart(marks).mark_point(strokeWidth=1.5, size=60, opacity=1).encode(down, across, shape, colour)
    title = "What choosing costs, or gains; the line is the default's 95 % interval"
    chart = alt.layer(shared.draw_line_at(1.0), bars, dots)
    return chart.properties(title=title, width=520, height=26 * len(families))


def draw_coverage(lines: Sequence[Coverage], path: Path) -> list[Path]:
    """Draw how often the default's interval holds the truth, with the exact interval of a binomial share."""
    return shared.save_chart(make_coverage([line for line in lines if line.answers_of in COVERAGE_STYLES]), path)


def make_coverage(lines: Sequence[Coverage]) -> Any:
    """Return a chart with a share and its interval for each family and group of answers, and their number beside it."""
    from scipy.stats import binomtest

    alt = shared.load_altair()
    families = list(dict.fromkeys([ALL, *(line.family for line in lines)]))
    label = f"share of intervals that hold the truth, and of how many; logs of at least {ENOUGH_ROWS} rows"
    layers = []
    shapes = {f"verdict {which}": (shape, colour) for which, (colour, _, shape) in COVERAGE_STYLES.items()}
    shape, colour = shared.style_methods(shapes)
    down = shared.name_families(families, ALL)
    for which, (_, shift, _) in COVERAGE_STYLES.items():
        shares = []
        for line in lines:
            if line.answers_of != which:
                continue
            low, high = binomtest(line.covered, line.answers).proportion_ci()
            own = {"family": line.family, "method": f"verdict {which}", "answers": str(line.answers)}
            shares.append({**own, "share": line.share, "low": low, "high": high, "end": 1.0})
        plot = shared.make_chart(shares).encode(down, colour)
        across = alt.X("low:Q", title=label, scale=alt.Scale(domainMax=1.0, zero=False))
        layers.append(plot.mark_rule(strokeWidth=1.5, yOffset=shift).encode(across, x2="high:Q"))
        layers.append(plot.mark_point(filled=True, size=40, opacity=1, yOffset=shift).encode(shape, x="share:Q"))
        numbers = plot.mark_text(align="left", dx=6, fontSize=9, yOffset=shift)
        layers.append(numbers.encode(x="end:Q", text="answers:N"))
    chart = alt.layer(*layers, shared.draw_line_at(shared.LEVEL, dashes=[4, 4]))
    title = "Coverage of the default's 95 % interval"
    return chart.properties(title=title, width=520, height=26 * len(families))


def draw_errors(rows: Sequence[Row], path: Path) -> list[Path]:
    """Draw the default's error against the effective rows, by verdict."""
    return shared.save_chart(make_errors([row for row in rows if row["kind"] == DEFAULT]), path)


def make_errors(rows: Sequence[Row]) -> Any:
    """Return a chart with a dot for each answer."""
    alt = shared.load_altair()
    dots = []
    colours = {}
    for verdict, colour in VERDICT_COLOURS.items():
        mine = [row for row in rows if row["verdict"] == verdict]
        sizes = [max(abs(error(row)), LEAST_ERROR) for row in mine]
        label = f"{verdict} ({len(mine)}, {sum(one > LARGE_ERROR for one in sizes)} above the line)"
        colours[label] = colour
        for row, size in zip(mine, sizes, strict=True):
            dots.append({"effective": max(row["effective_rows"], 1.0), "size": size, "verdict": label})
    axis = alt.Axis(format="~g", tickCount=6, labelOverlap=True)
    across = alt.X("effective:Q", title="effective rows", scale=alt.Scale(type="log"), axis=axis)
    label = "error of the default, in standard deviations of the rewards"
    upwards = alt.Y("size:Q", title=label, scale=alt.Scale(type="log"), axis=axis)
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour_by = alt.Color("verdict:N", title=None, scale=scale, legend=alt.Legend(labelLimit=400, symbolOpacity=1))
    points = shared.make_chart(dots).mark_point(filled=True, size=12, opacity=0.5).encode(across, upwards, colour_by)
    limit = shared.draw_line_at(LARGE_ERROR, is_vertical=False, dashes=[4, 4])
    title = "What verdicts are worth: the default's error on every problem"
    return alt.layer(points, limit).properties(title=title, width=560, height=340)
