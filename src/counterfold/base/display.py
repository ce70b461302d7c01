"""Results that show themselves. How they look is the business of the report, which is loaded when it is asked for."""

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair import VConcatChart

RENDERING = "counterfold.report.rendering"
"""The module that shows, plots and writes results. It lies above all results, so they name it and do not import it."""


def load_rendering() -> Any:
    """Return the module that shows, plots and writes results."""
    return import_module(RENDERING)


class Displayed:
    """Something that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        html: str = load_rendering().show(self)
        return html


class Plotted(Displayed):
    """A result that can be drawn as figures."""

    def plot(self, name: str | None = None) -> "VConcatChart":
        """Return a figure as a chart of Altair, by default the most important one.

        The page on plots has all names. A notebook shows the chart, with its numbers under the pointer;
        `plot().save("answer.png")` writes a file, and so do names that end in `.svg` or `.html`. The chart is yours to
        change.
        """
        chart: VConcatChart = load_rendering().plot(self, name)
        return chart

    def chart(self, name: str | None = None) -> "VConcatChart":
        """Return the same as `plot`."""
        return self.plot(name)


class Reported(Plotted):
    """A result that has a report."""

    def to_html(self, path: str | PathLike[str], *, rows: bool = True) -> None:
        """Write a report as one HTML file, without the rows that carry the answer if `rows` is False."""
        load_rendering().write_html(self, path, rows=rows)
