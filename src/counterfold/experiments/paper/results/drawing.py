"""The paper's figures, drawn from summaries."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterfold.errors import ParameterError
from counterfold.experiments.paper.figures import Figure
from counterfold.experiments.paper.results.summary import ALL, Line
from counterfold.experiments.runner import whole

OURS, THEIRS, ORACLE = "#2166ac", "#b2182b", "oracle"
NOTE = "; blue: ours, red: published"


def drawn(lines: Sequence[Line], figure: Figure, path: Path) -> list[Path]:
    """Draw a panel for every dataset or family, as PNG and SVG, and return the files."""
    plt = pyplot()
    panels = list(dict.fromkeys((line.dataset, line.family) for line in lines))
    if any(family for _, family in panels):
        panels = [panel for panel in panels if panel[0] == ALL]
    columns = min(3, len(panels))
    height = -(-len(panels) // columns)
    canvas, axes = plt.subplots(height, columns, figsize=(2 + 4 * columns, 2.6 * height + 1.2), squeeze=False)
    for place in axes.flat[len(panels) :]:
        place.set_axis_off()
    for place, panel in zip(axes.flat, panels, strict=False):
        mine = [line for line in lines if (line.dataset, line.family) == panel]
        (by_size if len(figure.sizes) > 1 else by_method)(place, mine)
        place.set_title(panel[1] or panel[0], fontsize=10)
        place.tick_params(labelsize=8)
    what = "regret" if figure.regret else "mean squared error"
    note = NOTE if any(line.published for line in lines) else ""
    canvas.suptitle(f"{figure.title}\n{what}, 95 % intervals{note}", fontsize=10)
    canvas.tight_layout()
    return saved(canvas, path)


def saved(canvas: Any, path: Path) -> list[Path]:
    """Write a figure as PNG and SVG, without dates, so that the same figure is the same file."""
    paths = [path.with_suffix(ending) for ending in (".png", ".svg")]
    for one in paths:
        kind = one.suffix[1:]
        with whole(one) as part:
            canvas.savefig(part, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    pyplot().close(canvas)
    return paths


def by_method(place: Any, lines: Sequence[Line]) -> None:
    """Draw one method below the other, ours filled and what was published hollow."""
    from matplotlib import ticker

    names = list(dict.fromkeys(line.method for line in lines))
    for line in lines:
        height = names.index(line.method)
        place.plot([line.low, line.high], [height, height], color=OURS, linewidth=2)
        place.plot(line.mean, height, "o", color=OURS, markersize=5)
        if line.published is not None:
            place.plot([line.published_low, line.published_high], [height + 0.25] * 2, color=THEIRS, linewidth=1)
            place.plot(line.published, height + 0.25, "o", color=THEIRS, markersize=4, markerfacecolor="white")
    place.set_yticks(range(len(names)), names)
    place.set_xscale("log")
    low, high = place.get_xlim()
    place.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 50 * low else (1.0,)))
    place.xaxis.set_major_formatter("{x:g}")
    place.xaxis.set_minor_formatter(ticker.NullFormatter())
    place.invert_yaxis()
    place.grid(axis="x", alpha=0.3)


def by_size(place: Any, lines: Sequence[Line]) -> None:
    """Draw a curve for every method over the number of rows; the oracle has no regret to draw."""
    for method in dict.fromkeys(line.method for line in lines if line.method != ORACLE):
        mine = sorted((line for line in lines if line.method == method), key=lambda line: line.size)
        sizes = [line.size for line in mine]
        drawn_line = place.plot(sizes, [line.mean for line in mine], "o-", label=method, markersize=4)[0]
        low, high = [line.low for line in mine], [line.high for line in mine]
        place.fill_between(sizes, low, high, alpha=0.2, color=drawn_line.get_color())
    place.set_xscale("log")
    place.set_yscale("log", nonpositive="clip")
    place.set_xlabel("logged rows", fontsize=8)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    place.grid(alpha=0.3)


def pyplot() -> Any:
    """Return matplotlib, drawing into files alone and the same bytes each time; say so if it is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ParameterError("figures need matplotlib; install it with `pip install counterfold[plot]`.") from None
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "counterfold"
    import matplotlib.pyplot as plt

    return plt
