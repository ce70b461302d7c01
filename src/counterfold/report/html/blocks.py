"""Blocks: what a section of the report is made of; each has a template of its own."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from counterfold.diagnostics.base import Finding
from counterfold.report.html import formats

Lines = Sequence[Mapping[str, Any]]
Spec = Mapping[str, Any]
"""A chart in the language of Vega-Lite."""


class Block:
    """Something that a section shows."""

    template: ClassVar[str]
    """The file that says how it looks."""


@dataclass(frozen=True)
class Prose(Block):
    """A paragraph, in a style of the page."""

    words: str
    style: str = "prose"
    template = "prose.html"


class Fact(NamedTuple):
    """A number that stands out, what it is, and a remark."""

    label: str
    number: str
    remark: str = ""


@dataclass(frozen=True)
class Facts(Block):
    """Numbers that stand out, beside each other."""

    several: Sequence[Fact]
    template = "facts.html"


class Column(NamedTuple):
    """A column of a table: its name, whether it has numbers, which are set to the right, and its cells."""

    label: str
    is_number: bool


class Cell(NamedTuple):
    """What a cell shows, and what it is sorted by."""

    words: str
    key: str


@dataclass(frozen=True)
class Table(Block):
    """Numbers that can be sorted by each column."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    template = "table.html"


@dataclass(frozen=True)
class Folded(Block):
    """A table that is closed until it is asked for."""

    table: Table
    template = "folded.html"


@dataclass(frozen=True)
class Panel:
    """One chart of a drawing, which may have several; it has room for `columns` of texts, however narrow the page."""

    title: str
    spec: Spec
    columns: int = 0


@dataclass(frozen=True)
class Drawing(Block):
    """What a figure shows of one result.

    - `title`: what the charts show.
    - `reading`: how to read them. Where nothing is worth a chart there are no panels, and `reading` says so.
    - `sentence`: the text alternative, for readers who cannot see the charts.
    - `panels`: the charts.
    - `table`: the numbers in the charts.
    - `withheld`: what the charts leave out because the log cannot answer; a chart without a page around it says so.
    """

    title: str
    reading: str
    sentence: str
    panels: Sequence[Panel]
    table: Table
    withheld: str = ""
    template = "figure.html"


@dataclass(frozen=True)
class Findings(Block):
    """What is wrong, the worst first."""

    several: Sequence[Finding]
    docs: str
    template = "findings.html"


@dataclass(frozen=True)
class Pairs(Block):
    """Names, and what is known of each."""

    title: str
    several: Sequence[tuple[str, str]]
    template = "pairs.html"


@dataclass(frozen=True)
class Code(Block):
    """A text that is shown as it is."""

    title: str
    words: str
    template = "code.html"


LONGEST = 250
"""How many lines a table has at most: a page of several policies, each with many actions, would be too large."""

Writer = Callable[[Any, float], str]
TEXTS: tuple[Writer, ...] = (formats.text, formats.words)
"""How texts are written, which are set to the left: those from data and those of the report."""


def tabulate(caption: str, lines: Lines, columns: Mapping[str, tuple[str, Writer]], error: float = 0.0) -> Table:
    """Return a table with a column for some fields of the lines: what each is called, and how its values are written.

    >>> table = tabulate("Rows", [{"rows": 1200}], {"rows": ("Rows", formats.count)})
    >>> table.rows
    [[Cell(words='1,200', key='1200')]]
    """
    several = [Column(label, writer not in TEXTS) for label, writer in columns.values()]
    shown = lines[:LONGEST]
    rows = [[fill(line.get(name), writer, error) for name, (_, writer) in columns.items()] for line in shown]
    return Table(caption if len(shown) == len(lines) else f"{caption}: {LONGEST} of {len(lines):,}", several, rows)


def fill(value: Any, writer: Writer, error: float) -> Cell:
    """Return the cell of a value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell(formats.NOTHING, "")
    words = writer(value, error)
    return Cell(words, words if writer in TEXTS else f"{value:.9g}")
