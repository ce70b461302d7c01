"""How values are written in a text that describes a target: names, labels and numbers, in quotes where they must be."""

from collections.abc import Iterator

from counterfold.base import messages
from counterfold.base.errors import ParameterError

QUOTES = "\"'"
OPENERS = ":,+*="
"""Behind these, and at the start, a quote opens; elsewhere it is an apostrophe."""


def split_text(text: str, separator: str) -> list[str]:
    """Return the pieces of a text between separators that are not in quotes, without spaces around them.

    >>> split_text("greedy:'a:b', c", ":")
    ['greedy', "'a:b', c"]
    """
    pieces, start = [], 0
    for place, one, is_quoted in scan_quotes(text):
        if one == separator and not is_quoted:
            pieces.append(text[start:place].strip())
            start = place + 1
    return [*pieces, text[start:].strip()]


def scan_quotes(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield every character with its place, and whether it is in quotes."""
    quote, before = "", ":"
    for place, one in enumerate(text):
        if quote:
            yield place, one, True
            quote = "" if one == quote else quote
        else:
            quote = one if one in QUOTES and before in OPENERS else ""
            yield place, one, bool(quote)
        before = before if one.isspace() else one
    if quote:
        raise ParameterError(f"`target` must close every quote, got `{messages.show(text)}`.")


def read_text(text: str) -> str:
    """Return a text without the quotes around it."""
    is_quoted = len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]
    return text[1:-1] if is_quoted else text


def read_list(text: str) -> list[str]:
    """Return the texts between commas."""
    return [read_text(piece) for piece in split_text(text, ",")]


def read_names(text: str) -> str | list[str]:
    """Return the name of a column, or several that are listed with commas."""
    several = read_list(text)
    return several if len(several) > 1 else several[0]


def read_number(text: str) -> float:
    """Return a number, or say that it is none."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"`target` must have a number there, got `{messages.show(text)}`.") from None
