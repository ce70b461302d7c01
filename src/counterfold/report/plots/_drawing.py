"""What pictures have in common: colours that everybody can tell apart (Okabe and Ito), titles, lines with intervals."""

import math
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from scipy import special

from counterfold.base import messages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TARGET, LOG, WARNING = "#0072B2", "#767676", "#D55E00"
"""The colours of the target, of the log, and of what needs a look."""

DASHED = (0, (3, 3))
"""How lines to compare with are drawn."""

SERIES = (TARGET, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", WARNING, "#4D4D4D")
"""The colours of lines that are of one rank."""

BY_DATA, DOWN = ("data", "data"), ("data", "axes fraction")
"""Scales of points: both of the axes, or the second one from the bottom (0) to the top (1)."""

TEXT, TITLE = 9.0, 11.5
"""The size of labels and of titles, in points."""

PER_INCH, PER_INCH_OF_TITLE = 14.0, 9.8
"""How many characters of labels, and of a title, there are to an inch."""

LONGEST = 34
"""How many characters of a name are shown."""


class Reach(NamedTuple):
    """A value with the ends of its interval."""

    low: float
    value: float
    high: float

    @classmethod
    def of(cls, value: float, stderr: float, level: float) -> "Reach":
        """Return a normal interval around a value."""
        apart = float(special.ndtri((1 + level) / 2)) * stderr
        return cls(value - apart, value, value + apart)


def write(text: object) -> str:
    """Return a text from data that is safe to draw: short, in one line, and without mathematics."""
    return messages.cut(messages.show(text), LONGEST).replace("$", r"\$")


def percent(share: float) -> str:
    """Return a share in percent, to two digits if it is small.

    >>> percent(0.5), percent(0.0123), percent(0.00004)
    ('50 %', '1.2 %', '< 0.01 %')
    """
    if 0 < share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.2g} %"


def count(number: float) -> str:
    """Return a count with its thousands apart."""
    return f"{number:,.0f}"


def set_titles(ax: "Axes", title: str, note: str = "") -> None:
    """Write what is to be seen, and below it what else one should know, from the left end of a figure of its own."""
    from matplotlib.transforms import blended_transform_factory

    figure: Any = ax.get_figure(root=True)
    is_alone = len(figure.axes) == 1
    width = figure.get_size_inches()[0] * (1.0 if is_alone else ax.get_position().width)
    title, note = fill(title, round(width * PER_INCH_OF_TITLE)), fill(note, round(width * PER_INCH))
    room = 10 + 1.25 * TEXT * (note.count("\n") + 1 if note else 0)
    above = ax.set_title(title, loc="left", fontsize=TITLE, fontweight="bold", pad=room)
    where = ("figure fraction" if is_alone else "axes fraction", "axes fraction")
    place, shift = (0.012 if is_alone else 0, 1), (0, 8)
    below = ax.annotate(note, place, shift, where, "offset points", fontsize=TEXT, color=LOG, gid="note")
    below.set(in_layout=False, annotation_clip=False)
    if is_alone:
        above.set_transform(blended_transform_factory(figure.transFigure, above.get_transform()))
        above.set_x(0.012)


def tidy(ax: "Axes", x: str, y: str = "", grid: Literal["both", "x", "y"] = "both") -> None:
    """Name what the axes show, write their numbers in full, and take away what shows nothing."""
    from matplotlib.ticker import ScalarFormatter

    ax.set_xlabel(x, fontsize=TEXT + 0.5, color=LOG)
    ax.set_ylabel(y, fontsize=TEXT + 0.5, color=LOG)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(which="both", length=0, labelsize=TEXT)
    for axis in (ax.xaxis, ax.yaxis):
        plain = ScalarFormatter(useOffset=False)
        plain.set_powerlimits((-6, 10))
        axis.set_major_formatter(plain)
    ax.set_axisbelow(True)
    ax.grid(visible=True, axis=grid, color="0.5", alpha=0.22, linewidth=0.7)


def use_logarithms(ax: "Axes", low: float, high: float) -> None:
    """Make the horizontal axis logarithmic, from one number to another, with plain numbers below it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 100 * low else (1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda number, _: f"{number:,.10g}" if number < 1e7 else f"{number:.0e}")
    )
    ax.xaxis.set_minor_formatter(NullFormatter())


def name_lines(ax: "Axes", names: Sequence[object]) -> None:
    """Name lines that lie below each other, the first one at the top."""
    ax.set_yticks(range(len(names)), [write(name) for name in names], fontsize=TEXT)
    ax.set_ylim(len(names) - 0.4, -0.6)


def draw_reaches(ax: "Axes", places: Sequence[float], reaches: Sequence[Reach], colour: str, gid: str) -> None:
    """Draw values and their intervals as horizontal lines, each at its place; a point beyond the view is an arrow."""
    left, right = ax.get_xlim()
    far = max(abs(left), abs(right)) + 1e3 * (right - left)
    lows, highs = [max(one.low, -far) for one in reaches], [min(one.high, far) for one in reaches]
    ax.hlines(places, lows, highs, colors=colour, linewidth=2.2, gid=f"{gid} interval", capstyle="round")
    ax.scatter([one.value for one in reaches], places, s=36, c=colour, zorder=3, linewidth=0, gid=gid)
    for place, one in zip(places, reaches, strict=True):
        if not left <= one.value <= right:
            is_right = one.value > right
            edge = right if is_right else left
            ax.scatter([edge], [place], s=36, c=colour, marker=">" if is_right else "<", clip_on=False, gid="beyond")


def write_at(
    ax: "Axes", text: str, at: tuple[Any, Any], shift: tuple[int, int], colour: str, scales: tuple[str, str] = BY_DATA
) -> None:
    """Write a text near a point, so many points of type to the right of it and above it."""
    note = ax.annotate(text, at, shift, scales, "offset points", va="center", annotation_clip=False)
    note.set(fontsize=TEXT, color=colour)


def write_beside(ax: "Axes", place: float, text: str, colour: str = LOG) -> None:
    """Write a text at the right end of a line."""
    write_at(ax, text, (1, place), (6, 0), colour, ("axes fraction", "data"))


def group_lines(lines: Iterable[Any], key: str) -> dict[str, list[Any]]:
    """Return lines by what they say of one thing, in their order."""
    found: dict[str, list[Any]] = {}
    for line in lines:
        found.setdefault(line[key], []).append(line)
    return found


def find_view(core: Sequence[float], everything: Sequence[float], most: float = 2.0) -> tuple[float, float]:
    """Return what part of an axis to show: all that matters, and of the rest what is not too far off.

    >>> find_view([0.0, 1.0], [-1.0, 1000.0])
    (-1.2, 3.2)
    """
    known = [one for one in core if math.isfinite(one)]
    low, high = min(known), max(known)
    width = (high - low) or abs(high) / 10 or 1.0
    rest = [min(max(one, low - most * width), high + most * width) for one in everything if not math.isnan(one)]
    low, high = min([low, *rest]), max([high, *rest])
    beside = (high - low or width) / 20
    return low - beside, high + beside
