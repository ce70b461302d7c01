"""From the rows of many runs to mean errors with intervals, beside the published ones, and to the paper's pictures."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold_lab import results as shared
from counterfold_lab.files import Row
from counterfold_lab.paper.figures import ORACLE, Figure

Published = dict[tuple[str, str], tuple[float, float, float]]
"""The published mean and the bounds of its interval, by dataset and method."""

ALL = "all datasets"


@dataclass(frozen=True)
class Line:
    """A method on a dataset, over all runs and temperatures."""

    dataset: str
    """The dataset."""

    size: int
    """Its rows."""

    family: str
    """The set of candidates that the method chose from."""

    method: str
    """The method."""

    runs: int
    """The number of runs."""

    mean: float
    """The mean squared error, or regret."""

    low: float
    """The lower end of its bootstrap interval."""

    high: float
    """The upper end of its bootstrap interval."""

    published: float | None = None
    """The published mean."""

    published_low: float | None = None
    """The lower end of the published interval."""

    published_high: float | None = None
    """The upper end of the published interval."""

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
    losses = squared_errors(rows, figure).tolist()
    every = [row | {"loss": loss, "shown": row["dataset"]} for row, loss in zip(rows, losses, strict=True)]
    every += [row | {"shown": ALL} for row in every if figure.overall]
    groups = shared.group_rows(every, "shown", "size", "family", "method")
    lines = []
    for dataset, size, family, method in sort_keys(list(groups)):
        some = groups[dataset, size, family, method]
        runs = shared.group_rows(some, "dataset", "run").values()
        means = np.array([np.mean([row["loss"] for row in run]) for run in runs])
        ours = float(means.mean()), *shared.percentile_interval(shared.resample_means(means))
        theirs = published.get((dataset, method), (None, None, None))
        lines.append(Line(dataset, size, family, method, len(some), *ours, *theirs))
    return lines


def sort_keys(keys: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the keys sorted by dataset, size, set and method, each in the order in which they first came."""
    orders = [list(dict.fromkeys(column)) for column in zip(*keys, strict=True)]
    return sorted(keys, key=lambda key: tuple(order.index(value) for order, value in zip(orders, key, strict=True)))


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
    for problem, row, error in zip(problems, rows, errors, strict=True):
        if row["method"] in singles:
            best[problem] = min(error, best.get(problem, np.inf))
    return np.asarray(errors - [best[problem] for problem in problems])


def read_published(name: str) -> Published:
    """Return the published results of a figure; an empty dictionary if its numbers are not known."""
    file = files("counterfold_lab.paper") / "published" / f"{name}.csv"
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["method"]): (float(row["mse"]), float(row["ci_low"]), float(row["ci_high"]))
            for row in csv.DictReader(lines)
        }


def draw_figure(lines: Sequence[Line], figure: Figure, path: Path) -> list[Path]:
    """Draw a panel for every dataset, or for every set of candidates, as PNG and SVG, and return the paths."""
    return shared.save_chart(make_figure(lines, figure), path)


def make_figure(lines: Sequence[Line], figure: Figure) -> Any:
    """Return a chart with a panel for every dataset, or for every set of candidates."""
    alt = shared.load_altair()
    panels = list(dict.fromkeys((line.dataset, line.family) for line in lines))
    if any(set_name for _, set_name in panels):
        panels = [panel for panel in panels if panel[0] == ALL]
    draw = draw_sizes if len(figure.sizes) > 1 else draw_methods
    charts = []
    for dataset, family in panels:
        shown = [line for line in lines if (line.dataset, line.family) == (dataset, family)]
        charts.append(draw(shown).properties(title=family or dataset))
    what = "regret" if figure.regret else "mean squared error"
    legend = "; blue: ours, red: published" if any(line.published for line in lines) else ""
    title = alt.Title(figure.title, subtitle=f"{what}, 95 % intervals{legend}", anchor="start")
    grid = alt.concat(*charts, columns=min(3, len(charts)))
    return grid.resolve_scale(x="independent", y="independent", color="shared").properties(title=title)


def draw_methods(lines: Sequence[Line]) -> Any:
    """Return one method below the other, our results filled and the published ones hollow."""
    alt = shared.load_altair()
    names = list(dict.fromkeys(line.method for line in lines))
    ours = [{"method": line.method, "mean": line.mean, "low": line.low, "high": line.high} for line in lines]
    published = [
        {"method": line.method, "mean": line.published, "low": line.published_low, "high": line.published_high}
        for line in lines
        if line.published is not None
    ]
    down = alt.Y("method:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(grid=False))
    axis = alt.Axis(title=None, format="~g", tickCount=5, labelOverlap=True)
    layers = []
    for results, colour, shift, fill in (
        (ours, shared.OURS, 0, shared.OURS),
        (published, shared.PUBLISHED, 5, "white"),
    ):
        low = alt.X("low:Q", scale=alt.Scale(type="log", nice=False, padding=8), axis=axis)
        plot = shared.make_chart(results).encode(down)
        layers.append(plot.mark_rule(color=colour, strokeWidth=2, yOffset=shift).encode(low, x2="high:Q"))
        dots = plot.mark_point(color=colour, fill=fill, opacity=1, size=40, yOffset=shift)
        layers.append(dots.encode(x="mean:Q"))
    return alt.layer(*layers).properties(width=260, height=18 * len(names))


def draw_sizes(lines: Sequence[Line]) -> Any:
    """Return a curve for every method over the number of rows; the oracle is left out, as it has no regret."""
    alt = shared.load_altair()
    shown = []
    for line in lines:
        # Nothing at or below 0 has a place on a logarithmic axis.
        if line.method != ORACLE and line.mean > 0:
            low = max(line.low, line.mean / 100)
            shown.append({"method": line.method, "size": line.size, "mean": line.mean, "low": low, "high": line.high})
    axis = alt.Axis(format="~g", tickCount=5, labelOverlap=True)
    rows = alt.X("size:Q", title="logged rows", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(format="~s"))
    mean = alt.Y("mean:Q", title=None, scale=alt.Scale(type="log", nice=False), axis=axis)
    plot = shared.make_chart(shown).encode(rows, alt.Color("method:N", title=None))
    band = plot.mark_area(opacity=0.2).encode(alt.Y("low:Q", stack=None), y2="high:Q")
    return alt.layer(band, plot.mark_line(point=True).encode(mean)).properties(width=260, height=200)
