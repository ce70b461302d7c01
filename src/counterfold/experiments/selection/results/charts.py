"""The benchmark of selection as pictures: ratios to the best simple method, coverage, and errors by verdict."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from counterfold.diagnostics import Verdict
from counterfold.experiments.files import Row
from counterfold.experiments.results import load_pyplot, save_picture
from counterfold.experiments.selection.experiment import DEFAULT
from counterfold.experiments.selection.results.scoring import (
    ALL,
    ENOUGH_ROWS,
    GOOD,
    LARGE_ERROR,
    LEVEL,
    NOT_GOOD,
    Coverage,
    Score,
    error,
)

STYLES = {
    "IPS": ("x", "#888888"),
    "SNIPS": ("+", "#888888"),
    "DM": ("v", "#bbbbbb"),
    "DR": ("^", "#bbbbbb"),
    "OCV_IPS": ("s", "#e69f00"),
    "OCV_DR": ("s", "#009e73"),
    "KFoldCV_DR": ("P", "#56b4e9"),
    "OPERA": ("o", "#cc79a7"),
    DEFAULT: ("D", "#0b3c8c"),
}
"""The marker and the colour of each method that is drawn."""

VERDICT_COLOURS = dict(zip(get_args(Verdict), ("#2166ac", "#e69f00", "#b2182b"), strict=True))
COVERAGE_STYLES = {GOOD: (VERDICT_COLOURS["good"], -0.15, "o"), NOT_GOOD: (VERDICT_COLOURS["caution"], 0.15, "s")}
"""The colour, the vertical shift and the marker of each group of answers."""


def draw_ratios(scores: Sequence[Score], path: Path) -> list[Path]:
    """Draw the ratio of each main method's mean squared error to that of the best fixed or theory-tuned one."""
    from matplotlib import ticker

    families = list(dict.fromkeys(score.family for score in scores))
    canvas, place = make_family_axes(families)
    for method, (marker, colour) in STYLES.items():
        mine = [score for score in scores if score.method == method]
        own = method == DEFAULT
        if own:
            for score in mine:
                height = families.index(score.family)
                place.plot([score.ratio_low, score.ratio_high], [height] * 2, color=colour, alpha=0.4, linewidth=3)
        points = [score.ratio for score in mine], [families.index(score.family) for score in mine]
        style = {"markersize": 8 if own else 6, "zorder": 3 if own else 2, "markeredgewidth": 1.5}
        place.plot(*points, marker, color=colour, markerfacecolor=colour if own else "none", label=method, **style)
    place.axvline(1.0, color="black", linewidth=0.8)
    place.set_xscale("log")
    place.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    place.set_xlabel("mean squared error, as a multiple of that of the family's best fixed or theory-tuned method")
    place.set_title("What choosing costs, or gains; the line is the default's 95 % interval", fontsize=10)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return save_picture(canvas, path)


def draw_coverage(lines: Sequence[Coverage], path: Path) -> list[Path]:
    """Draw how often the default's interval holds the truth, with the exact interval of a binomial share."""
    from scipy.stats import binomtest

    shown = [line for line in lines if line.answers_of in COVERAGE_STYLES]
    families = list(dict.fromkeys([ALL, *(line.family for line in shown)]))
    canvas, place = make_family_axes(families)
    for which, (colour, shift, marker) in COVERAGE_STYLES.items():
        label: str | None = f"verdict {which}"
        for line in shown:
            if line.answers_of == which:
                height = families.index(line.family) + shift
                bounds = binomtest(line.covered, line.answers).proportion_ci()
                place.plot([bounds.low, bounds.high], [height] * 2, color=colour, linewidth=1.5)
                place.plot(line.share, height, marker, color=colour, markersize=5, label=label)
                place.text(1.012, height, str(line.answers), color=colour, fontsize=7, va="center")
                label = None
    place.axvline(LEVEL, color="black", linewidth=0.8, linestyle="--")
    place.set_xlim(right=1.01)
    place.set_xlabel(f"share of intervals that hold the truth, and of how many; logs of at least {ENOUGH_ROWS} rows")
    place.set_title("Coverage of the default's 95 % interval", fontsize=10)
    place.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.05, 1.0))
    return save_picture(canvas, path)


def draw_errors(rows: Sequence[Row], path: Path) -> list[Path]:
    """Draw the default's error against the effective rows, by verdict."""
    canvas, place = load_pyplot().subplots(figsize=(8, 5))
    own = [row for row in rows if row["kind"] == DEFAULT]
    for verdict, colour in VERDICT_COLOURS.items():
        mine = [row for row in own if row["verdict"] == verdict]
        sizes = np.maximum([abs(error(row)) for row in mine], 1e-6)
        effective = np.maximum([row["effective_rows"] for row in mine], 1.0)
        label = f"{verdict} ({len(mine)}, {np.sum(sizes > LARGE_ERROR)} above the line)"
        place.plot(effective, sizes, "o", color=colour, markersize=3, alpha=0.5, markeredgewidth=0, label=label)
    place.axhline(LARGE_ERROR, color="black", linewidth=0.8, linestyle="--")
    place.set_xscale("log")
    place.set_yscale("log")
    place.set_xlabel("effective rows")
    place.set_title("What verdicts are worth: the default's error on every problem", fontsize=10)
    place.set_ylabel("error of the default, in standard deviations of the rewards")
    place.legend(fontsize=8, loc="lower left", markerscale=2)
    place.grid(alpha=0.3)
    return save_picture(canvas, path)


def make_family_axes(families: Sequence[str]) -> tuple[Any, Any]:
    """Return an empty picture with a line for each family; the name of all together is bold."""
    canvas, place = load_pyplot().subplots(figsize=(9, 1.6 + 0.36 * len(families)))
    place.set_yticks(range(len(families)), families)
    place.get_yticklabels()[families.index(ALL)].set_fontweight("bold")
    place.set_ylim(len(families) - 0.5, -0.5)
    place.tick_params(labelsize=8)
    place.xaxis.label.set_size(8)
    place.grid(alpha=0.3)
    return canvas, place
