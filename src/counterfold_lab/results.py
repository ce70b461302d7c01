"""What tables and charts of results share: bootstrap intervals, and files of charts. It cannot change rows."""

from collections.abc import Mapping, Sequence
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


def load_altair() -> Any:
    """Return Altair, which draws; refuse if it is missing, or what writes its charts as files."""
    try:
        import altair as alt
        import vl_convert as _  # noqa: F401 (what Altair writes PNG and SVG by)
    except ImportError:
        raise ParameterError("figures need altair and vl-convert: pip install 'counterfold[report]'.") from None
    return alt


def save_chart(chart: Any, path: Path) -> list[Path]:
    """Write a chart as PNG and SVG, and return the paths."""
    paths = [path.with_suffix(f".{kind}") for kind in ("png", "svg")]
    for one in paths:
        with write_atomically(one) as draft:
            chart.save(str(draft), format=one.suffix[1:], scale_factor=1.5 if one.suffix == ".png" else 1)
    return paths


def make_chart(lines: Sequence[Mapping[str, Any]]) -> Any:
    """Return a chart without marks of some lines."""
    alt = load_altair()
    return alt.Chart(alt.Data(values=list(lines)))


def name_families(families: Sequence[str], bold: str) -> Any:
    """Return the vertical axis of families; the name of all together is bold."""
    alt = load_altair()
    weight = {"condition": {"test": f"datum.value === {bold!r}", "value": "bold"}, "value": "normal"}
    axis = alt.Axis(title=None, grid=True, labelLimit=300, labelFontWeight=weight)
    return alt.Y("family:N", scale=alt.Scale(domain=list(families)), axis=axis)


def style_methods(styles: Mapping[str, tuple[str, str]]) -> list[Any]:
    """Return the shape and the colour of each method, of which there is one legend at the right."""
    alt = load_altair()
    shapes, colours = zip(*styles.values(), strict=True)
    names = list(styles)
    legend = alt.Legend(offset=40, labelLimit=300)
    return [
        alt.Shape("method:N", title=None, scale=alt.Scale(domain=names, range=list(shapes)), legend=legend),
        alt.Color("method:N", title=None, scale=alt.Scale(domain=names, range=list(colours)), legend=legend),
    ]


def draw_line_at(number: float, *, is_vertical: bool = True, dashes: Sequence[int] = ()) -> Any:
    """Return a thin black line across a chart."""
    alt = load_altair()
    rule = make_chart([{"at": number}]).mark_rule(color="black", strokeWidth=0.8, strokeDash=list(dashes))
    return rule.encode(alt.X("at:Q") if is_vertical else alt.Y("at:Q"))
