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
    panels = list(dict.fromkeys((line.dataset, line.family) for line in lines))
    if any(set_name for _, set_name in panels):
        panels = [panel for panel in panels if panel[0] == ALL]
    columns = min(3, len(panels))
    height = -(-len(panels) // columns)
    canvas, axes = shared.load_pyplot().subplots(
        height, columns, figsize=(2 + 4 * columns, 2.6 * height + 1.2), squeeze=False
    )
    for place in axes.flat[len(panels) :]:
        place.set_axis_off()
    for place, panel in zip(axes.flat, panels, strict=False):
        shown = [line for line in lines if (line.dataset, line.family) == panel]
        (draw_sizes if len(figure.sizes) > 1 else draw_methods)(place, shown)
        place.set_title(panel[1] or panel[0], fontsize=10)
        place.tick_params(labelsize=8)
    what = "regret" if figure.regret else "mean squared error"
    legend = "; blue: ours, red: published" if any(line.published for line in lines) else ""
    canvas.suptitle(f"{figure.title}\n{what}, 95 % intervals{legend}", fontsize=10)
    return shared.save_picture(canvas, path)


def draw_methods(place: Any, lines: Sequence[Line]) -> None:
    """Draw one method below the other, our results filled and the published ones hollow."""
    from matplotlib import ticker

    names = list(dict.fromkeys(line.method for line in lines))
    for line in lines:
        height = names.index(line.method)
        place.plot([line.low, line.high], [height, height], color=shared.OURS, linewidth=2)
        place.plot(line.mean, height, "o", color=shared.OURS, markersize=5)
        if line.published is not None:
            place.plot(
                [line.published_low, line.published_high], [height + 0.25] * 2, color=shared.PUBLISHED, linewidth=1
            )
            place.plot(
                line.published, height + 0.25, "o", color=shared.PUBLISHED, markersize=4, markerfacecolor="white"
            )
    place.set_yticks(range(len(names)), names)
    place.set_xscale("log")
    low, high = place.get_xlim()
    locator = ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,))
    place.xaxis.set(major_locator=locator, major_formatter="{x:g}", minor_formatter=ticker.NullFormatter())
    place.invert_yaxis()
    place.grid(axis="x", alpha=0.3)


def draw_sizes(place: Any, lines: Sequence[Line]) -> None:
    """Draw a curve for every method over the number of rows; the oracle is left out, as it has no regret."""
    for method in dict.fromkeys(line.method for line in lines if line.method != ORACLE):
        curve = sorted((line for line in lines if line.method == method), key=lambda line: line.size)
        sizes = [line.size for line in curve]
        colour = place.plot(sizes, [line.mean for line in curve], "o-", label=method, markersize=4)[0].get_color()
        place.fill_between(sizes, [line.low for line in curve], [line.high for line in curve], alpha=0.2, color=colour)
    place.set_xscale("log")
    place.set_yscale("log", nonpositive="clip")
    place.set_xlabel("logged rows", fontsize=8)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    place.grid(alpha=0.3)
