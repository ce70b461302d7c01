"""Axes of a figure of their own, which a notebook shows by itself; this file needs matplotlib."""

from io import BytesIO
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from counterfold.base import messages
from counterfold.base.errors import ParameterError

WIDTH = 7.2
"""How wide a figure is, in inches."""

RESOLUTION = 100
"""The dots per inch of what a notebook shows."""


class ShownAxes(Axes):
    """Axes that a notebook shows as their figure: pyplot, which would do so, keeps every figure until it is closed."""

    def _repr_png_(self) -> bytes:
        written, figure = BytesIO(), self.get_figure(root=True)
        if figure is not None:
            figure.savefig(written, format="png", dpi=RESOLUTION)
        return written.getvalue()


def make_axes(height: float) -> Axes:
    """Return the axes of a new figure."""
    return Figure(figsize=(WIDTH, height), layout="constrained").add_subplot(axes_class=ShownAxes)


def require_axes(ax: Any) -> Axes:
    """Return axes that were given; refuse anything else."""
    if not isinstance(ax, Axes):
        raise ParameterError(f"`ax` must be axes of matplotlib, got {messages.shorten(ax)}.")
    return ax
