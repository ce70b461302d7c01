"""The paper's figures as pictures, drawn from summaries."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterfold.experiments.paper.figures import Figure
from counterfold.experiments.paper.results.summary import ALL, Line
from counterfold.experiments.paper.trial import ORACLE
from counterfold.experiments.results.pictures import OURS, PUBLISHED, load_pyplot, save_picture

LEGEND = "; blue: ours, red: published"


def draw_figure(lines: Sequence[Line], figure: Figure, path: Path) -> list[Path]:
    """Draw a panel for every dataset, or for every set of candidates, as PNG and SVG, and return the paths."""
    panels = list(dict.fromkeys((line.dataset, line.family) for line in lines))
    if any(set_name for _, set_name in panels):
        panels = [panel for panel in panels if panel[0] == ALL]
    columns = min(3, len(panels))
    height = -(-len(panels) // columns)
    canvas, axes = load_pyplot().subplots(height, columns, figsize=(2 + 4 * columns, 2.6 * height + 1.2), squeeze=False)
    for place in axes.flat[len(panels) :]:
        place.set_axis_off()
    for place, panel in zip(axes.flat, panels, strict=False):
        shown = [line for line in lines if (line.dataset, line.family) == panel]
        (draw_sizes if len(figure.sizes) > 1 else draw_methods)(place, shown)
        place.set_title(panel[1] or panel[0], fontsize=10)
        place.tick_params(labelsize=8)
    what = "regret" if figure.regret else "mean squared error"
    legend = LEGEND if any(line.published for line in lines) else ""
    canvas.suptitle(f"{figure.title}\n{what}, 95 % intervals{legend}", fontsize=10)
    return save_picture(canvas, path)


def draw_methods(place: Any, lines: Sequence[Line]) -> None:
    """Draw one method below the other, our results filled and the published ones hollow."""
    from matplotlib import ticker

    names = list(dict.fromkeys(line.method for line in lines))
    for line in lines:
        height = names.index(line.method)
        place.plot([line.low, line.high], [height, height], color=OURS, linewidth=2)
        place.plot(line.mean, height, "o", color=OURS, markersize=5)
        if line.published is not None:
            place.plot([line.published_low, line.published_high], [height + 0.25] * 2, color=PUBLISHED, linewidth=1)
            place.plot(line.published, height + 0.25, "o", color=PUBLISHED, markersize=4, markerfacecolor="white")
    place.set_yticks(range(len(names)), names)
    place.set_xscale("log")
    low, high = place.get_xlim()
    place.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
    place.xaxis.set_major_formatter("{x:g}")
    place.xaxis.set_minor_formatter(ticker.NullFormatter())
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
