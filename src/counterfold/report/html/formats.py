"""Numbers as people read them: each function takes a number, and the error that it is known to if that matters."""

import math

from counterfold.base import messages
from counterfold.report.numbers import format_factor, format_number, format_share, format_signed

NOTHING = "\N{EN DASH}"
"""What stands in a table where there is no number."""

PERCENT = "\N{NO-BREAK SPACE}%"

ALMOST = 0.999
"""A probability that is larger than this, or as near to 0, is not written in full: no approximation is so good."""


def count(number: float, error: float = 0.0) -> str:
    """Return a number of things.

    >>> count(12345.4)
    '12,345'
    """
    return f"{number:,.0f}"


def percent(share: float, error: float = 0.0) -> str:
    """Return a share in percent, to two digits at least; no line breaks before the sign.

    >>> [percent(share).replace(PERCENT, " %") for share in (0.12345, 0.00123, 1.0, 1e-9)]
    ['12.3 %', '0.12 %', '100 %', '< 0.01 %']
    """
    if 0 < abs(share) < 1e-4:
        return f"< 0.01{PERCENT}"
    decimals = 0 if share in (0, 1) or abs(share) >= 9.995 else 1 if abs(share) >= 0.01 else 2
    return f"{100 * share:.{decimals}f}{PERCENT}"


def share(part: float, error: float = 0.0) -> str:
    """Return a share in whole percents, for sentences; no line breaks before the sign."""
    return format_share(part).replace(" %", PERCENT)


def probability(chance: float, error: float = 0.0) -> str:
    """Return a probability that was approximated.

    >>> [probability(chance).replace(PERCENT, " %") for chance in (0.99999, 0.5)]
    ['> 99.9 %', '50.0 %']
    """
    if chance > ALMOST:
        return f"> {percent(ALMOST)}"
    return f"< 0.1{PERCENT}" if chance < 1 - ALMOST else percent(chance)


def setting(number: float, error: float = 0.0) -> str:
    """Return a number whose error is unknown, to three or four digits.

    >>> setting(0.0123456), setting(1234567.0), setting(3.0)
    ('0.01235', '1,234,567', '3')
    """
    if not math.isfinite(number):
        return str(number)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e12 else f"{number:.4g}"


def factor(number: float, error: float = 0.0) -> str:
    """Return a factor that is a little above 1."""
    return format_factor(number)


def text(value: object, error: float = 0.0) -> str:
    """Return a text from data, safe to show and not too long."""
    return messages.show(value)


def words(value: object, error: float = 0.0) -> str:
    """Return a text of the report's own as it is."""
    return str(value)


def value(number: float, error: float = 0.0) -> str:
    """Return a number to two digits of its error."""
    return format_number(number, error)


def signed(number: float, error: float = 0.0) -> str:
    """Return a difference to two digits of its error, with its sign."""
    return format_signed(number, error)
