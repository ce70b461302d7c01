"""Pictures as files: the same picture gives the same bytes."""

from pathlib import Path
from typing import Any

from counterfold.errors import ParameterError
from counterfold.experiments.files import write_atomically

OURS, PUBLISHED = "#2166ac", "#b2182b"
"""The colours of our results and of published ones."""


def load_pyplot() -> Any:
    """Return matplotlib's pyplot, which draws to files alone; refuse if matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise ParameterError("figures need matplotlib; install it with `pip install counterfold[plot]`.") from None
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
