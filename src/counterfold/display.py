"""Displayed, Plotted: results that show themselves; how they look is the report's business, which is loaded then."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from altair import VConcatChart
    from matplotlib.axes import Axes


class Displayed:
    """Something that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        from counterfold.report.notebook import show

        return show(self)


class Plotted(Displayed):
    """A result of which there are pictures."""

    def plot(self, name: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Draw a picture, by default the most important one, and return its axes, to be changed as you like.

        The page on plots has all names. A new figure is made if no axes are given, without any state of pyplot: a
        notebook shows what the last line of a cell returns, and `plot().figure.savefig("answer.png")` writes a file.
        """
        from counterfold.report.plots import draw

        return draw(self, name, ax)

    def chart(self, name: str | None = None) -> "VConcatChart":
        """Return the same as a chart of Altair: those of the HTML report, which show numbers under the pointer."""
        from counterfold.report.charts import make_chart

        return make_chart(self, name)
