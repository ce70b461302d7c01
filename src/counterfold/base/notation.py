r"""How options are written: the small languages in which a text says more than a name, and what takes them apart.

| language | used for | read by |
| --- | --- | --- |
| `NAME:FIELD=VALUE:...` | estimators, selectors, reward models, learners, formats | `split_text`, `read_setting` |
| `NAME:VALUE:FIELD=VALUE:...`, `MODULE:OBJECT` | targets | `split_text`, `read_setting` |
| `NUMBER * NAME + NUMBER * NAME + ...` | mixtures of targets, limits of what actions cost | `read_term` |
| `LEFT <= RIGHT`, `LEFT >= RIGHT` | guards, limits | `read_relation` |
| SQL, before DuckDB reads it | guards, rewards | `has_relation`, `count_nested_parentheses` |
| `COLUMN:NUMBER` | segments | `read_cut` |
| `NUMBER UNIT` | lengths of time, precision of propensities | `read_amount` |
| `NAME, NAME, ...` | columns of a target, lists on the command line | `read_list`, `split_commas` |

`docs/options.md` has them for users, with an example of each that the tests run. Three rules hold for all of them:

- **A number** is written in one way: digits, a point or none, an exponent or none (`NUMBER`).
- **Quotes**, single or double, hold what would be read otherwise: `:`, `+`, `*`, `,` or `=` in a name. A quote opens at
  the start and behind one of these characters; elsewhere it is an apostrophe. Limits and guards have no quotes: a `+`
  ends the name of an action in a limit, and what stands on the left of a guard is SQL, which DuckDB reads.
- **Nothing is evaluated**, nothing recurses, and reading takes time in proportion to the length of a text.

What the parts mean is decided where they are used: whether a name is a column, a label or a class. Python's own parser
is of no use here. A label may hold spaces and hyphens, and `greedy:score:columns=a,b` and `+2%` are no Python: whatever
turned them into Python would already have parsed them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from counterfold.base import messages
from counterfold.base.errors import ParameterError

NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
"""A number without a sign, as a part of patterns."""

TERM = re.compile(rf"(?:(?P<factor>{NUMBER})(?:\s*/\s*(?P<divisor>{NUMBER}))?\s*\*\s*)?(?P<name>.*\S)", re.DOTALL)
"""A number or a fraction before a name, or a name alone."""

FACTOR_STARTED = re.compile(r"[\d.,%/\s]+\*")
"""What begins like a term with a factor, right or wrong, such as `10%*`."""

RIGHT = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<number>{NUMBER})\s*(?P<percent>%?)"
    rf"|\(\s*(?P<enclosed_sign>[+-]?)(?P<enclosed>{NUMBER})\s*\)"
)
"""The right side of a relation: a number with or without a sign and a percent sign, or one in parentheses."""

AMOUNT = re.compile(rf"\s*({NUMBER})\s*([^\W\d_]+)\s*")
"""A number and a unit of letters."""

SQL_PARTS = re.compile(r"""'[^']*'|"[^"]*"|[()<>=]|\bcase\b|\bend\b""", re.IGNORECASE)
"""What decides where an expression in SQL compares: texts, parentheses, cases and the characters of relations."""

QUOTES = "\"'"
OPENERS = ":,+*="
"""Behind these, and at the start, a quote opens; elsewhere it is an apostrophe."""


# Quotes, and pieces between separators.


def split_text(text: str, separator: str, option: str) -> list[str]:
    """Return the pieces of a text between separators that are not in quotes, without spaces around them.

    >>> split_text("greedy:'a:b', c", ":", "target")
    ['greedy', "'a:b', c"]
    """
    pieces = []
    start = 0
    for place, character, is_quoted in scan_quotes(text, option):
        if character == separator and not is_quoted:
            pieces.append(text[start:place].strip())
            start = place + 1
    return [*pieces, text[start:].strip()]


def scan_quotes(text: str, option: str) -> Iterator[tuple[int, str, bool]]:
    """Yield every character with its place, and whether it is in quotes."""
    quote = ""
    before = ":"
    for place, character in enumerate(text):
        if quote:
            yield place, character, True
            if character == quote:
                quote = ""
        else:
            quote = character if character in QUOTES and before in OPENERS else ""
            yield place, character, bool(quote)
        if not character.isspace():
            before = character
    if quote:
        raise ParameterError(f"`{option}` must close every quote, got `{messages.show(text)}`.")


def unquote(text: str) -> str:
    """Return a text without the quotes around it."""
    is_quoted = len(text) > 1 and text[0] in QUOTES and text[-1] == text[0]
    return text[1:-1] if is_quoted else text


def read_list(text: str) -> list[str]:
    """Return the texts between commas, without their quotes."""
    return [unquote(piece) for piece in split_text(text, ",", "columns")]


def read_names(text: str) -> str | list[str]:
    """Return a name, or several that are listed with commas."""
    names = read_list(text)
    return names if len(names) > 1 else names[0]


def split_commas(texts: Iterable[str] | None) -> list[str]:
    """Return the values of an option of the command line that is repeated, or given once with commas.

    >>> split_commas(["ips, dr", "snips"])
    ['ips', 'dr', 'snips']
    """
    return [item.strip() for text in texts or () for item in text.split(",") if item.strip()]


# Names and their settings.


class Setting(NamedTuple):
    """A text FIELD=VALUE; without an equals sign it is all field, and there is no value."""

    field: str
    value: str | None


def split_head(text: str) -> tuple[str, str]:
    """Return what stands before the first colon of NAME:REST, and what stands behind it."""
    head, _, rest = text.partition(":")
    return head, rest


def read_setting(text: str) -> Setting:
    """Return the field and the value of a text FIELD=VALUE.

    >>> read_setting("temperature = 0.5")
    Setting(field='temperature', value='0.5')
    """
    field, equals, value = text.partition("=")
    return Setting(field.strip(), value.strip() if equals else None)


def read_number(field: str, text: str) -> float:
    """Return the number that a text is."""
    try:
        return float(text)
    except ValueError:
        raise refuse_number(field, text) from None


def refuse_number(field: str, text: str) -> ParameterError:
    """Return the error about a field that needs a number."""
    return ParameterError(f"`{field}` must be a number, got {messages.shorten(text)}.")


# Sums and relations.


class Term(NamedTuple):
    """A part of a sum: a name, and what it is multiplied by, if anything."""

    factor: float | None
    name: str


def read_term(text: str) -> Term:
    """Return the term that a piece of a sum is; no text has no name.

    >>> read_term("0.9*greedy:score"), read_term("1/4 * red"), read_term("big blue")
    (Term(factor=0.9, name='greedy:score'), Term(factor=0.25, name='red'), Term(factor=None, name='big blue'))
    """
    match = TERM.fullmatch(text.strip())
    if match is None:
        return Term(None, "")
    if match["factor"] is None:
        return Term(None, match["name"])
    divisor = float(match["divisor"] or 1)
    return Term(float(match["factor"]) / divisor if divisor else float("inf"), match["name"])


def starts_with_factor(text: str) -> bool:
    """Say whether a piece of a sum has a factor, right or wrong."""
    return read_term(text).factor is not None or FACTOR_STARTED.match(text) is not None


@dataclass(frozen=True)
class Relation:
    """What a text limits (`left`), on which side (`<=` or `>=`), and by which number.

    `sign` is "+", "-" or nothing, and `number` has none. The number may be a percentage, or be in parentheses.
    """

    left: str
    side: str
    sign: str
    number: str
    is_percentage: bool
    is_enclosed: bool

    @property
    def amount(self) -> float:
        """Return the number with its sign; 2 % is 0.02."""
        return float(self.sign + self.number) / (100 if self.is_percentage else 1)


def read_relation(text: str) -> Relation | None:
    """Return the last relation of a text, if a number stands on its right; nothing otherwise.

    >>> read_relation("latency <= +2%").amount, read_relation("latency <= much")
    (0.02, None)
    """
    place = max(text.rfind("<="), text.rfind(">="))
    if place < 0:
        return None
    left = text[:place].strip()
    match = RIGHT.fullmatch(text[place + 2 :].strip())
    if not left or match is None:
        return None
    side = text[place : place + 2]
    if match["enclosed"] is not None:
        return Relation(left, side, match["enclosed_sign"], match["enclosed"], is_percentage=False, is_enclosed=True)
    return Relation(left, side, match["sign"], match["number"], bool(match["percent"]), is_enclosed=False)


def has_relation(expression: str) -> bool:
    """Say whether an expression in SQL compares, other than in parentheses, in `case ... end` or in a text.

    >>> has_relation("(cost > 1)::int"), has_relation("cost > 1")
    (False, True)
    """
    # What is open, and whether it compares: the outermost level comes first, and the innermost one last.
    open_levels: list[tuple[str, bool]] = [("", False)]
    for match in SQL_PARTS.finditer(expression):
        part = match[0].lower()
        opener = {")": "(", "end": "case"}.get(part)
        if part in ("(", "case"):
            open_levels.append((part, False))
        elif part in ("<", ">", "="):
            open_levels[-1] = (open_levels[-1][0], True)
        elif opener == open_levels[-1][0]:
            open_levels.pop()
    # What is never closed encloses nothing.
    return any(compares for _, compares in open_levels)


def count_nested_parentheses(expression: str) -> int:
    """Return how many parentheses are open at most at any place of an expression in SQL, but for those in texts.

    >>> count_nested_parentheses("((a) + (b)) * '((('")
    2
    """
    deepest = 0
    depth = 0
    for match in SQL_PARTS.finditer(expression):
        if match[0] == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] == ")":
            depth -= 1
    return deepest


# Numbers with a unit, and columns that are cut.


class Amount(NamedTuple):
    """A number as it is written, and its unit in small letters."""

    number: str
    unit: str


def read_amount(text: str) -> Amount | None:
    """Return the number and the unit of a text, or nothing.

    >>> read_amount("7d"), read_amount("1000 draws"), read_amount("soon")
    (Amount(number='7', unit='d'), Amount(number='1000', unit='draws'), None)
    """
    match = AMOUNT.fullmatch(text)
    return None if match is None else Amount(match[1], match[2].lower())


def read_cut(text: str) -> tuple[str, float | None]:
    """Return the column of a text COLUMN or COLUMN:NUMBER, and the number.

    The number is whole, but a float: `int` refuses texts of thousands of digits.

    >>> read_cut("age:5"), read_cut("a:b")
    (('age', 5.0), ('a:b', None))
    """
    column, _, number = text.rpartition(":")
    if not column or not number.isdecimal():
        return text, None
    return column, float(number)
