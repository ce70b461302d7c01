"""Results that show themselves. How they look is the business of the report, which is loaded when it is asked for."""

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair import VConcatChart
    from matplotlib.axes import Axes

RENDERING = "counterfold.report.rendering"
"""The module that shows, draws and writes results. It lies above all results, so they name it and do not import it."""


def load_rendering() -> Any:
    """Return the module that shows, draws and writes results."""
    return import_module(RENDERING)


class Displayed:
    """Something that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        html: str = load_rendering().show(self)
        return html


class Plotted(Displayed):
    """A result of which there are pictures."""

    def plot(self, name: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Draw a picture, by default the most important one, and return its axes, to be changed as you like.

        The page on plots has all names. A new figure is made if no axes are given, without any state of pyplot: a
        notebook shows what the last line of a cell returns, and `plot().figure.savefig("answer.png")` writes a file.
        """
        axes: Axes = load_rendering().draw(self, name, ax)
        return axes

    def chart(self, name: str | None = None) -> "VConcatChart":
        """Return the same as a chart of Altair: those of the HTML report, which show numbers under the pointer."""
        chart: VConcatChart = load_rendering().make_chart(self, name)
        return chart


class Reported(Plotted):
    """A result that has a report."""

    def to_html(self, path: str | PathLike[str], *, rows: bool = True) -> None:
        """Write a report as one HTML file, without the rows that carry the answer if `rows` is False."""
        load_rendering().write_html(self, path, rows=rows)
