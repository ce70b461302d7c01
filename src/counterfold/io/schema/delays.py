"""Delay: which decisions are too young for their reward to be in, and which rewards came too late."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.base.arrays import Bools
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import shorten
from counterfold.base.row_counts import Tally
from counterfold.base.validation import WHOLE, Checker
from counterfold.io.schema.batches import Batch
from counterfold.io.schema.lengths import read_length, show_length, show_moment
from counterfold.log.times import MISSING, ORDER, WAYS, Clock, Moments, as_column, read_moments

ONE_WAY = "`time` and `reward_time` must be written in one way, all with a zone or all without, and numbers in one unit"
DAYS = " Write dates, or seconds since 1970: other numbers tell the order alone."


@dataclass(frozen=True)
class TimeSums:
    """What all rows tell of each column of times: how these are written, and the first and the last of them."""

    tallies: Mapping[str, Tally]
    low: Mapping[str, float]
    high: Mapping[str, float]

    def __add__(self, other: "TimeSums") -> "TimeSums":
        tallies = {role: tally + other.tallies[role] for role, tally in self.tallies.items()}
        low = {role: min(one, other.low[role]) for role, one in self.low.items()}
        high = {role: max(one, other.high[role]) for role, one in self.high.items()}
        return TimeSums(tallies, low, high)


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
        columns = {"time": time} | ({} if reward_time is None else {"reward_time": reward_time})
        return cls(columns, read_length("horizon", horizon), until)

    def observe(self, batch: Batch) -> TimeSums:
        """Return what some rows tell of the times."""
        table, row_numbers = batch
        found = {role: self._read(table, role) for role in self.columns}
        tallies = {role: one.tally(table.column(self.columns[role]), row_numbers) for role, one in found.items()}
        low = {role: float(np.fmin.reduce(one.values, initial=np.inf)) for role, one in found.items()}
        high = {role: float(np.fmax.reduce(one.values, initial=-np.inf)) for role, one in found.items()}
        return TimeSums(tallies, low, high)

    def close(self, sums: TimeSums) -> "Delay":
        """Return the delay with the end of the log, once all its times are known to be good."""
        for role, tally in sums.tallies.items():
            clock = Clock.of_tally(tally)
            clock.require(tally, self._check.called(role), may_miss=role != "time")
            if not clock.has_days:
                numbers = [way.name for way in WAYS[:MISSING]]
                tally.refuse(numbers, f"{self._check.called(role)} must tell days where there is a `horizon`", DAYS)
        ways = {way: role for role in reversed(list(self.columns)) for way in sums.tallies[role].counts}
        given = None if self.until is None else read_until(self.until)
        ways |= {} if given is None else {WAYS[given.ways[0]].name: "until"}
        ways.pop(WAYS[MISSING].name, None)
        if len(ways) > 1:
            got = ", and ".join(f"`{role}` {way}" for way, role in ways.items())
            raise DataError(f"{ONE_WAY}, got {got}.")
        end = int(max(sums.high.values()) if given is None else given.values[0])
        low, high, rows = sums.low["time"], sums.high["time"], sums.tallies["time"].rows
        if low > end - self.width:
            got = f"{show_length(self.horizon)}, with decisions from {show_moment(low)} to {show_moment(high)}"
            all_young = f"and an end at {show_moment(end)}: all {rows} are younger"
            rule = "`until` must be a `horizon` after the first decision"
            rule = rule if given is not None else "`horizon` must be shorter than the log"
            raise DataError(f"{rule}, got {got} {all_young}.")
        return replace(self, end=end)

    def judge(self, table: pa.Table, is_missing: Bools, is_zero: Bools) -> Ripeness:
        """Return which rewards of some rows count, once the end of the log is known."""
        decided = self._read(table, "time")
        is_young = decided.values > (self.end or 0) - self.width
        nothing = np.zeros_like(is_young)
        if "reward_time" not in self.columns:
            return Ripeness(is_young, nothing, nothing, nothing, nothing)
        came = self._read(table, "reward_time")
        is_absent = np.isnan(came.values)
        is_late, is_early = came.values > decided.values + self.width, came.values < decided.values
        is_unrewarded, is_timeless = is_missing & is_absent, ~is_missing & ~is_zero & is_absent
        return Ripeness(is_young, is_late & ~is_young, is_unrewarded & ~is_young, is_early, is_timeless & ~is_young)

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
        length, end = show_length(self.horizon), show_moment(self.end or 0)
        young = (
            f"of {tally.rows:,} decisions were younger than {length} when the log ended, at {end}, and were left out"
        )
        found = {
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
        several = {name: one for name, one in found.items() if tally.count(name)}
        return [(f"{tally.count(name):,} {done}", remedy) for name, (done, remedy) in several.items()]

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
    found = read_moments("until", as_column([value]), WHOLE)
    if found.ways[0] >= ORDER:
        example = "a date or time such as 2024-01-31T12:30:00, or a number such as `time` has"
        raise ParameterError(f"`until` must be {example}, got {shorten(value)}.")
    return found
