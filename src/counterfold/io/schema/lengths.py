"""Lengths of time, and how errors and notes show these and times."""

from datetime import UTC, datetime, timedelta
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten
from counterfold.base.notation import read_amount

SECONDS = {
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
}
"""How many seconds each unit has, by all its names."""

LARGEST_NUMBER = 1e6
"""No length of time has so many of any unit."""


def read_length(name: str, value: Any) -> timedelta:
    """Return a length of time, from text such as 7d, 12h or 30min, or as it is.

    >>> read_length("horizon", "1.5 days")
    datetime.timedelta(days=1, seconds=43200)
    """
    amount = read_amount(value) if isinstance(value, str) else None
    length = value if isinstance(value, timedelta) else None
    if amount is not None and amount.unit in SECONDS and float(amount.number) < LARGEST_NUMBER:
        length = timedelta(seconds=float(amount.number) * SECONDS[amount.unit])
    if length is None or length <= timedelta(0):
        raise ParameterError(f"`{name}` must be a length of time such as 7d, 12h or 30min, got {shorten(value)}.")
    return length


def show_moment(microseconds: float) -> str:
    """Return a time as errors and notes show it.

    >>> show_moment(1706697000000000)
    '2024-01-31 10:30:00'
    """
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(microseconds))).strftime("%Y-%m-%d %H:%M:%S")


def show_length(length: timedelta) -> str:
    """Return a length of time in the largest unit that it is a whole number of.

    >>> show_length(timedelta(days=7)), show_length(timedelta(hours=36))
    ('7 days', '36 hours')
    """
    seconds = length.total_seconds()
    for name, unit in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % unit == 0:
            return f"{seconds / unit:.0f} {name}{'' if seconds == unit else 's'}"
    return f"{seconds:g} seconds"
