"""What tables and pictures of results share: bootstrap intervals, and files of pictures. It cannot change rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.errors import ParameterError
from counterfold_lab.files import Row, write_atomically

OURS, PUBLISHED = "#2166ac", "#b2182b"
"""The colours of our results and of published ones."""

LEVEL, REPLICATES = 0.95, 2000
"""The level of all intervals, and the number of bootstrap samples."""


def group_rows(rows: Sequence[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows by their values in some columns."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found


def resample_means(values: Floats, seed: int = 0) -> Floats:
    """Return the mean of each bootstrap sample; a seed draws the same places from all arrays of one length."""
    places = np.random.default_rng(seed).integers(len(values), size=(REPLICATES, len(values)))
    return np.asarray(values[places].mean(axis=1))


def percentile_interval(replicates: Floats) -> tuple[float, float]:
    """Return the bounds between which the middle 95 % of the replicates lie."""
    low, high = np.quantile(replicates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def load_pyplot() -> Any:
    """Return matplotlib's pyplot, which draws to files alone; refuse if matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ParameterError("figures need matplotlib: pip install 'counterfold[plot]'.") from None
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "counterfold"
    import matplotlib.pyplot as plt

    return plt


def save_picture(canvas: Any, path: Path, rect: tuple[float, float, float, float] | None = None) -> list[Path]:
    """Arrange a picture within `rect`, write it as PNG and SVG without dates, close it, and return the paths."""
    canvas.tight_layout(rect=rect)
    paths = [path.with_suffix(f".{kind}") for kind in ("png", "svg")]
    for one, undated in zip(paths, ("Software", "Date"), strict=True):
        with write_atomically(one) as draft:
            canvas.savefig(draft, format=one.suffix[1:], dpi=150, metadata={undated: None})
    load_pyplot().close(canvas)
    return paths
