"""Lengths of time, and how errors and notes show these and times."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten

LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(w|weeks?|d|days?|h|hours?|m|min|minutes?|s|sec|seconds?)\s*", re.IGNORECASE)
SECONDS = {"w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}


def read_length(name: str, value: Any) -> timedelta:
    """Return a length of time, from text such as 7d, 12h or 30min, or as it is.

    >>> read_length("horizon", "1.5 days")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = LENGTH.fullmatch(value) if isinstance(value, str) else None
    length = value if isinstance(value, timedelta) else None
    if match is not None and float(match[1]) < 1e6:
        length = timedelta(seconds=float(match[1]) * SECONDS[match[2][0].lower()])
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
