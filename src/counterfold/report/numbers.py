"""Numbers as text: as many digits as their errors allow."""

import math

from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.result import Evaluation
from counterfold.intervals.base import Bounds

MOST_DECIMALS, MOST_DIGITS = 9, 12
"""A number that would need more decimals, or more digits before the point, is written with an exponent."""


ROUNDING = 1e-9
"""How near to 1 a sum of probabilities is taken for 1."""

WITHHELD = "withheld"
"""What takes the place of a number that the log cannot answer for."""

LARGE = 10_000
"""From here on, thousands are separated."""

LEAST = 1e-9
"""How small a difference, in relation to what the log earned, is taken for a rounding error."""


def format_number(number: float, stderr: float) -> str:
    """Return a number to two digits of its error: 0.902 for an error of 0.058, 1,001,279 for one of 18."""
    if stderr <= 0 or not (math.isfinite(stderr) and math.isfinite(number)):
        return f"{number:.6g}"
    decimals = 1 - math.floor(math.log10(stderr))
    if decimals <= MOST_DECIMALS and abs(number) < 10**MOST_DIGITS:
        return f"{number:z{',' if abs(number) >= LARGE else ''}.{max(decimals, 0)}f}"  # z: there is no -0.000
    first = math.floor(math.log10(abs(number))) if number else 0
    return f"{number:.{max(first + decimals + 1, 1)}g}"


def format_signed(number: float, stderr: float) -> str:
    """Return a difference with its sign."""
    text = format_number(number, stderr)
    return text if text.startswith("-") or math.isnan(number) else f"+{text}"


def format_value(result: Evaluation) -> tuple[str, str]:
    """Return a value and its interval."""
    error = find_error(result.stderr, result.interval)
    value, low, high = (format_number(number, error) for number in (result.value, *result.interval))
    return value, f"{low} to {high}"


def is_rounding_error(difference: float, error: float, logged: float) -> bool:
    """Say whether there is no difference to what the log earned, as between equal policies."""
    return max(abs(difference), error) <= LEAST * abs(logged)


def is_same(gap: Estimate, logged: Estimate) -> bool:
    """Say whether a difference and its interval are nothing but a rounding error."""
    error = find_error(gap.stderr, gap.interval())
    return is_rounding_error(gap.value, error, max(abs(logged.value), logged.stderr))


def format_gap(gap: Estimate, logged: Estimate) -> tuple[str, str]:
    """Return a difference and its interval, with their signs; one that is a rounding error is 0."""
    if is_same(gap, logged):
        return "0", "0 to 0"
    interval = gap.interval()
    error = find_error(gap.stderr, interval)
    value, low, high = (format_signed(number, error) for number in (gap.value, *interval))
    return value, f"{low} to {high}"


def note_less_shrunk(result: Evaluation) -> str:
    """Return why the difference is not that of the value and what the log earned, where readers can see that.

    The value is shrunk towards the log, so that its squared error is small. The difference is shrunk less, so that it
    is not biased towards 0.
    """
    gap = result.uplift()
    error = find_error(gap.stderr, gap.interval())
    simple = result.value - result.logged.value
    if is_same(gap, result.logged) or format_signed(gap.value, error) == format_signed(simple, error):
        return ""
    return "; estimated by itself, as the value is shrunk towards the log"


def format_logged(result: Evaluation) -> str:
    """Return what the log earned."""
    return format_number(result.logged.value, result.logged.stderr)


def find_error(stderr: float, interval: Bounds) -> float:
    """Return the error that numbers are shown to: that of the interval if it is wider, as where there is no reward."""
    return max(stderr, (interval.high - interval.low) / 6)


def format_share(part: float) -> str:
    """Return a share in whole percents, for sentences.

    >>> [format_share(part) for part in (0.1234, 0.0, 0.002, 0.999)]
    ['12 %', '0 %', 'under 1 %', 'over 99 %']
    """
    if 0 < part < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < part < 1 - ROUNDING else f"{100 * part:.0f} %"


def format_factor(number: float) -> str:
    """Return a factor that is a little above 1, to two digits of what it is above.

    >>> format_factor(1.0041), format_factor(1.26), format_factor(3.4), format_factor(1.00000001)
    ('1.0041', '1.26', '3.4', '1.00010')
    """
    above = max(number - 1, 1e-4)
    return f"{1 + above:.{max(1, 1 - math.floor(math.log10(above)))}f}"


def describe_wrong(factor: float, of: str | None) -> str:
    """Return how wrong all that was logged is if it is so by a factor, and what its odds make of one half then.

    >>> describe_wrong(1.4, "odds")
    'wrong by a factor of 1.40, each in its worst way (50 % may be 42 % to 58 %)'
    >>> describe_wrong(1.01, "odds")
    'wrong by a factor of 1.010, each in its worst way (50 % may be 49.8 % to 50.2 %)'
    >>> describe_wrong(1.4, "densities")
    'wrong by a factor of 1.40, each in its worst way'
    """
    told = f"wrong by a factor of {format_factor(factor)}, each in its worst way"
    if of != "odds":
        return told
    above = max(100 * factor / (1 + factor) - 50, 1e-3)
    digits = max(0, -math.floor(math.log10(above)))
    return f"{told} (50 % may be {50 - above:.{digits}f} % to {50 + above:.{digits}f} %)"
