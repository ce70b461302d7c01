"""Markup: HTML built of elements whose text is always escaped; its styles are inline, and fit light and dark pages."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from counterfold.base import messages
from counterfold.intervals.base import Bounds

TARGET, LOG = "#0072B2", "#808080"
"""The colours of the target and of the log, as in all pictures."""

VERDICTS = {
    "good": "#00704F",
    "undecided": "#2F5D8C",
    "caution": "#B34700",
    "not answerable": "#B00020",
    "note": "#5F6368",
}
"""The colours behind white texts of verdicts and severities."""

MUTED = "opacity:.72"
CELL = "text-align:left;padding:2px 14px 2px 0;border:0;vertical-align:top;background:none"

SHORT = 24
"""Texts of a table are in one line if they have at most so many characters."""

WIDTH, LINE, NAMES, NUMBERS = 460, 22, 120, 80
"""The width of a picture, and the height of its lines; the room for names at the left and for numbers at the right."""


class Markup(str):
    """HTML that is safe to show as it is."""

    __slots__ = ()


class Interval(NamedTuple):
    """A line of a picture: a value and its interval, and the value as text; nothing if it is withheld."""

    name: str
    value: float | None
    ends: Bounds | None
    shown: str
    colour: str


def tag(name: str, *content: str, style: str = "") -> Markup:
    """Return an element; content that is no markup is escaped.

    >>> tag("b", "1 < 2")
    '<b>1 &lt; 2</b>'
    """
    opened = f'<{name} style="{style}">' if style else f"<{name}>"
    return Markup(f"{opened}{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Return pieces one after the other; those that are no markup are escaped, and made safe to show."""
    return Markup("".join(one if isinstance(one, Markup) else escape(messages.clean(one)) for one in content))


def card(*content: str) -> Markup:
    """Return a frame around all that is shown of a result."""
    frame = "border:1px solid rgba(128,128,128,.4);border-radius:8px;padding:12px 16px;max-width:720px;line-height:1.5"
    return tag("div", *content, style=frame)


def badge(verdict: str) -> Markup:
    """Return a verdict as a coloured mark."""
    look = "color:#fff;border-radius:999px;padding:2px 10px;font-size:85%;font-weight:600;white-space:nowrap"
    return tag("span", verdict, style=f"background:{VERDICTS[verdict]};{look}")


def line(*content: str) -> Markup:
    """Return a line of text."""
    return tag("div", *content, style="margin:3px 0")


def fold(summary: str, *content: str) -> Markup:
    """Return something that opens when it is clicked on."""
    return tag("details", tag("summary", summary, style=f"cursor:pointer;{MUTED}"), *content, style="margin-top:6px")


def make_table(names: Sequence[str], lines: Sequence[Sequence[str]]) -> Markup:
    """Return a table."""
    head = tag("tr", *(tag("th", name, style=f"{CELL};{MUTED};font-weight:600") for name in names))
    body = (
        tag(
            "tr",
            *(tag("td", cell, style=CELL if len(cell) > SHORT else f"{CELL};white-space:nowrap") for cell in cells),
            style="background:none",
        )
        for cells in lines
    )
    return tag(
        "table",
        tag("thead", head),
        tag("tbody", *body),
        style="border-collapse:collapse;margin:6px 0;border:0;font-size:inherit",
    )


def draw_intervals(lines: Sequence[Interval], mark: float, title: str) -> Markup:
    """Return a picture of values and their intervals on one scale, with a dashed line at `mark`."""
    known = [end for one in lines if one.value is not None for end in (one.value, *(one.ends or ()))]
    finite = [end for end in (*known, mark) if math.isfinite(end)]
    low, high = min(finite), max(finite)
    left, right, height = NAMES + 8, WIDTH - NUMBERS - 8, LINE * len(lines)

    def find_place(number: float) -> str:
        share = 0.5 if high == low else (min(max(number, low), high) / 2 - low / 2) / (high / 2 - low / 2)
        return f"{left + share * (right - left):.1f}"

    at = find_place(mark)
    dashes = f'<line x1="{at}" x2="{at}" y1="0" y2="{height}" stroke="{LOG}" stroke-dasharray="3 3"/>'
    drawn = "".join(_draw_line(one, place, find_place) for place, one in enumerate(lines))
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return Markup(f'<svg {size} role="img" aria-label="{escape(title)}" style="max-width:100%">{dashes}{drawn}</svg>')


def _draw_line(one: Interval, place: int, find_place: Callable[[float], str]) -> str:
    """Return one line of a picture."""
    y = LINE * place + LINE / 2
    name = join(messages.cut(messages.show(one.name), 18))
    text = f'y="{y + 4}" font-size="12" fill="currentColor"'
    drawn = f'<text x="{NAMES}" text-anchor="end" {text}>{name}</text>'
    drawn += f'<text x="{WIDTH - NUMBERS}" {text}>{join(one.shown)}</text>'
    if one.value is None:
        return drawn
    low, high = map(find_place, one.ends or (one.value, one.value))
    stroke = f'stroke="{one.colour}" stroke-width="3" stroke-linecap="round"'
    drawn += f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" {stroke}/>'
    return drawn + f'<circle cx="{find_place(one.value)}" cy="{y}" r="4.5" fill="{one.colour}"/>'
