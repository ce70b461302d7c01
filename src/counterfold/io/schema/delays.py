"""Delay: which decisions are too young for their reward to be in, and which rewards came too late."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Bools
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import shorten
from counterfold.base.notation import read_amount
from counterfold.base.row_counts import Tally
from counterfold.base.validation import WHOLE, Checker
from counterfold.io.schema.batches import Batch
from counterfold.log.times import MISSING, ORDER, WAYS, Clock, Moments, as_column, read_moments

ONE_WAY = "`time` and `reward_time` must be written in one way, all with a zone or all without, and numbers in one unit"
DAYS = " Write dates, or seconds since 1970: other numbers tell the order alone."

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


@dataclass(frozen=True)
class TimeSums:
    """What all rows tell of each column of times: how these are written, and the first and the last of them."""

    tallies: Mapping[str, Tally]
    low: Mapping[str, float]
    high: Mapping[str, float]

    def __add__(self, other: "TimeSums") -> "TimeSums":
        return TimeSums(
            tallies={role: tally + other.tallies[role] for role, tally in self.tallies.items()},
            low={role: min(low, other.low[role]) for role, low in self.low.items()},
            high={role: max(high, other.high[role]) for role, high in self.high.items()},
        )


class Ripeness(NamedTuple):
    """Which decisions are too young, which rewards came too late or not at all, and which times cannot be right."""

    is_young: Bools
    is_late: Bools
    is_unrewarded: Bools
    is_early: Bools
    is_timeless: Bools


@dataclass(frozen=True)
class Delay:
    """The columns with the times of decisions and of rewards, and how long rewards are waited for.

    A decision is too young if the log ended less than `horizon` after it: at `until`, or at the last time in either
    column, which all rows must tell (`end`, in microseconds).
    """

    columns: Mapping[str, str]
    horizon: timedelta
    until: Any = None
    end: int | None = None

    @classmethod
    def of(cls, time: str, reward_time: str | None, horizon: Any, until: Any) -> "Delay":
        """Return the delay with its settings checked."""
        if until is not None:
            read_until(until)
        columns = {"time": time}
        if reward_time is not None:
            columns["reward_time"] = reward_time
        return cls(columns, read_length("horizon", horizon), until)

    def observe(self, batch: Batch) -> TimeSums:
        """Return what some rows tell of the times."""
        table, row_numbers = batch
        moments = {role: self._read(table, role) for role in self.columns}
        return TimeSums(
            tallies={role: one.tally(table.column(self.columns[role]), row_numbers) for role, one in moments.items()},
            low={role: float(np.fmin.reduce(one.values, initial=np.inf)) for role, one in moments.items()},
            high={role: float(np.fmax.reduce(one.values, initial=-np.inf)) for role, one in moments.items()},
        )

    def close(self, sums: TimeSums) -> "Delay":
        """Return the delay with the end of the log, once all its times are known to be good."""
        for role, tally in sums.tallies.items():
            clock = Clock.of_tally(tally)
            clock.require(tally, self._check.called(role), may_miss=role != "time")
            if not clock.has_days:
                numbers = [way.name for way in WAYS[:MISSING]]
                tally.refuse(numbers, f"{self._check.called(role)} must tell days where there is a `horizon`", DAYS)
        # Each way in which times are written, with the role that is written so: a decision's, if both are.
        ways = {way: role for role in reversed(list(self.columns)) for way in sums.tallies[role].counts}
        until = None if self.until is None else read_until(self.until)
        if until is not None:
            ways[WAYS[until.ways[0]].name] = "until"
        ways.pop(WAYS[MISSING].name, None)
        if len(ways) > 1:
            got = ", and ".join(f"`{role}` {way}" for way, role in ways.items())
            raise DataError(f"{ONE_WAY}, got {got}.")
        end = int(max(sums.high.values()) if until is None else until.values[0])
        low = sums.low["time"]
        if low > end - self.width:
            decisions = f"decisions from {show_moment(low)} to {show_moment(sums.high['time'])}"
            got = f"{show_length(self.horizon)}, with {decisions}"
            all_young = f"and an end at {show_moment(end)}: all {sums.tallies['time'].rows} are younger"
            rule = "`until` must be a `horizon` after the first decision"
            if until is None:
                rule = "`horizon` must be shorter than the log"
            raise DataError(f"{rule}, got {got} {all_young}.")
        return replace(self, end=end)

    def judge(self, table: pa.Table, is_missing: Bools, is_zero: Bools) -> Ripeness:
        """Return which rewards of some rows count, once the end of the log is known."""
        decided = self._read(table, "time").values
        is_young = decided > (self.end or 0) - self.width
        if "reward_time" not in self.columns:
            nothing = np.zeros_like(is_young)
            return Ripeness(is_young, nothing, nothing, nothing, nothing)
        rewarded = self._read(table, "reward_time").values
        has_no_time = np.isnan(rewarded)
        return Ripeness(
            is_young=is_young,
            is_late=(rewarded > decided + self.width) & ~is_young,
            is_unrewarded=is_missing & has_no_time & ~is_young,
            is_early=rewarded < decided,
            is_timeless=~is_missing & ~is_zero & has_no_time & ~is_young,
        )

    def refuse_wrong_times(self, tally: Tally) -> None:
        """Refuse rewards that came before their decision, or at no time."""
        if "reward_time" in self.columns:
            came = self._check.called("reward_time")
            early = " Are the two columns the right way round, and of one clock?"
            tally.refuse("early", f"{came} must not be before the decision", early)
            timeless = " Give the time of these rewards, or leave `reward_time` away."
            tally.refuse("timeless", f"{came} must be there where a reward is not 0", timeless)

    def list_notes(self, tally: Tally) -> list[tuple[str, str]]:
        """Return what was done with decisions and rewards, and what that assumes."""
        length = show_length(self.horizon)
        end = show_moment(self.end or 0)
        young = (
            f"of {tally.rows:,} decisions were younger than {length} when the log ended, at {end}, and were left out"
        )
        notes = {
            "young": (young, f"nothing, if rewards come within {length}; otherwise give a longer `horizon`"),
            "late": (
                f"rewards came later than {length} after their decision and count as 0",
                "nothing, if the value is to be what comes within the horizon; otherwise give a longer one",
            ),
            "unrewarded": (
                f"decisions had no reward within {length} and count as 0",
                "make sure that the log holds all rewards that came",
            ),
        }
        return [
            (f"{tally.count(name):,} {done}", remedy) for name, (done, remedy) in notes.items() if tally.count(name)
        ]

    @property
    def width(self) -> int:
        """Return the horizon in microseconds."""
        return self.horizon // timedelta(microseconds=1)

    @property
    def _check(self) -> Checker:
        return WHOLE.name_columns(self.columns)

    def _read(self, table: pa.Table, role: str) -> Moments:
        return read_moments(role, table.column(self.columns[role]), self._check)


def read_until(value: Any) -> Moments:
    """Return the one time at which a log ended: text, a date or a number."""
    moments = read_moments("until", as_column([value]), WHOLE)
    if moments.ways[0] >= ORDER:
        example = "a date or time such as 2024-01-31T12:30:00, or a number such as `time` has"
        raise ParameterError(f"`until` must be {example}, got {shorten(value)}.")
    return moments


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
