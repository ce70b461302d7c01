"""The grids and tables that answers are shown in; at any width, no number is cut."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group
from rich.measure import Measurement
from rich.styled import Styled
from rich.table import Table

from counterfold.base import messages

STYLES = {
    "good": "not dim bold green",
    "undecided": "not dim bold cyan",
    "caution": "not dim bold yellow",
    "not answerable": "not dim bold red",
    "note": "not dim",
}
"""How verdicts and severities look."""

GAP, NARROW_GAP = 2, 1
"""The characters between columns, and where there is little room."""

SHORT_NAME = 12
"""The characters that are left of a long name where there is little room."""


def add_title(title: str, *blocks: ConsoleRenderable | str) -> ConsoleRenderable:
    """Return blocks under a title."""
    return Group(Styled(messages.clean_sentence(title), "bold underline"), *blocks)


def new_grid() -> Table:
    """Return an empty two-column grid of names and values."""
    grid = Table.grid(padding=(0, 3))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    return grid


@dataclass(frozen=True)
class Lines:
    """A table of a name and of numbers, with as many texts behind.

    Where there is too little room, columns move together, then names are cut, and then texts and intervals go over
    several lines, at spaces; where that does not help, each line becomes a list. No number is ever cut.
    """

    names: Sequence[str]
    lines: Sequence[Sequence[str]]
    texts: int = 0

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[ConsoleRenderable | str]:
        room = options.max_width
        gap = GAP if add_widths(self.natural_widths, GAP) <= room else NARROW_GAP
        widths = self.find_widths(room, gap)
        if add_widths(widths, gap) > room:
            yield from map(self.list_line, self.lines)
            return
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
        for place, (name, width) in enumerate(zip(self.names, widths, strict=True)):
            is_number = 0 < place < len(self.names) - self.texts
            table.add_column(name, width=width, justify="right" if is_number else "left", overflow="fold")
        labels = cut_names([line[0] for line in self.lines], widths[0])
        for label, line in zip(labels, self.lines, strict=True):
            table.add_row(label, *map(colour, line[1:]))
        yield table

    @property
    def columns(self) -> list[list[str]]:
        """Return the name and the texts of each column."""
        return [[name, *(line[place] for line in self.lines)] for place, name in enumerate(self.names)]

    @property
    def natural_widths(self) -> list[int]:
        """Return the widths of columns that are as wide as their texts."""
        return [max(map(cell_len, column)) for column in self.columns]

    def find_widths(self, room: int, gap: int) -> list[int]:
        """Return the widths of the columns: as wide as their texts, or, where there is no room, as the longest part."""
        widths = self.natural_widths
        least = [max(cell_len(part) for text in column for part in split_text(text)) for column in self.columns]
        wanted, least[0] = widths[0] + GAP - gap, min(widths[0], SHORT_NAME)  # a name stands apart from numbers
        for place, smallest in enumerate(least):
            widths[place] = smallest if add_widths(widths, gap) > room else widths[place]
        widths[0] = max(least[0], min(wanted, widths[0] + room - add_widths(widths, gap)))  # the rest is for the name
        return widths

    def list_line(self, line: Sequence[str]) -> ConsoleRenderable:
        """Return a line as a list, with the names of the columns."""
        grid = new_grid()
        for name, text in zip(self.names[1:], line[1:], strict=True):
            if name and text:
                grid.add_row(name, colour(text))
        return Group(Styled(line[0], "bold"), grid)


def add_widths(widths: Sequence[int], gap: int) -> int:
    """Return how wide columns are together."""
    return sum(widths) + gap * (len(widths) - 1)


def colour(text: str) -> ConsoleRenderable | str:
    """Return a verdict in its colour, and any other text as it is."""
    return Styled(text, STYLES[text]) if text in STYLES else text


def split_text(text: str) -> list[str]:
    """Return the parts that a text can be broken into: the lower end of an interval keeps its "to", a drawing is one.

    >>> split_text("-0.1 to +0.2"), split_text("   --o--")
    (['-0.1_to', '+0.2'], ['   --o--'])
    """
    return [text] if text.startswith(" ") else text.replace(" to ", "_to ").split(" ")


def cut_names(names: Sequence[str], width: int) -> list[str]:
    """Return names without what they have in common, if they are longer than this; as they are if nothing else tells.

    >>> cut_names(["policy of march 2024 in full", "policy of march 2025 in full", "old"], 14)
    ['...4 in full', '...5 in full', 'old']
    """
    letters = zip(*(name for name in names if len(name) > width), strict=False)
    start = len(list(takewhile(lambda several: len(set(several)) == 1, letters)))
    middle = [messages.cut(name, width) for name in names]
    rest = [name if len(name) <= width else f"...{name[start:]}"[:width] for name in names]
    return next(cut for cut in (middle, rest, list(names)) if len(set(cut)) == len(set(names)))
