"""Picture: values and their intervals on one scale, drawn in characters."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Table

from counterfold.base import messages
from counterfold.intervals.base import Bounds
from counterfold.report.tables import cut_names

WIDEST, NARROWEST = 60, 10
"""How many characters the scale has at most; where there is room for fewer than the least, nothing is drawn."""

LONGEST_NAME = 24
"""How many characters of a name are shown beside its line."""


class Signs(NamedTuple):
    """The characters that a line is drawn with."""

    point: str
    low: str
    reach: str
    high: str
    mark: str
    crossed: str


ASCII, UNICODE = Signs("o", "[", "-", "]", ":", "+"), Signs("●", "├", "─", "┤", "┊", "┼")


class Line(NamedTuple):
    """A value with its interval, if it has one; `shown` is the value in digits."""

    name: str
    value: float
    shown: str
    interval: Bounds | None = None

    @property
    def ends(self) -> tuple[float, float, float]:
        """Return the ends of the interval, and the value between them."""
        low, high = self.interval or (self.value, self.value)
        return low, self.value, high


@dataclass(frozen=True)
class Picture:
    """Lines on one scale, all with a mark at the same number, such as what the log earned."""

    lines: Sequence[Line]
    mark: float

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        several = cut_names([messages.show(line.name) for line in self.lines], LONGEST_NAME)
        names = [messages.cut(name, LONGEST_NAME) for name in several]
        beside = max(map(len, names)) + max(len(line.shown) for line in self.lines) + 4
        width = min(options.max_width - beside, WIDEST)
        if width < NARROWEST:
            return
        signs = ASCII if options.ascii_only else UNICODE
        grid = Table.grid(padding=(0, 2))
        for justify in ("left", "left", "right"):
            grid.add_column(justify=justify, no_wrap=True)
        for name, line in zip(names, self.lines, strict=True):
            grid.add_row(name, self.draw(line, width, signs), line.shown)
        yield grid

    def draw(self, line: Line, width: int, signs: Signs) -> str:
        """Return one line, as wide as the scale."""
        low, value, high = (self.find_place(number, width) for number in line.ends)
        mark = self.find_place(self.mark, width)
        drawn = [" "] * width
        drawn[low : high + 1] = signs.reach * (high + 1 - low)
        drawn[low], drawn[high] = signs.low, signs.high
        drawn[mark] = signs.crossed if low <= mark <= high else signs.mark
        drawn[value] = signs.point
        return "".join(drawn)

    def find_place(self, number: float, width: int) -> int:
        """Return where a number is on the scale; one that is not finite is at its end."""
        known = [self.mark, *(end for line in self.lines for end in line.ends if math.isfinite(end))]
        low, high = min(known), max(known)
        if not math.isfinite(number):
            return width - 1 if number > 0 else 0
        return round((number / 2 - low / 2) / (high / 2 - low / 2) * (width - 1)) if high > low else width // 2
