"""Delay: which decisions are too young for their reward to be in, and which rewards came too late."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from counterfold.arrays import Bools, Ints
from counterfold.errors import DataError
from counterfold.tables.moments import KINDS, Moments, read_length, read_moment, read_moments, show_length, show_moment
from counterfold.tables.tally import Tally

ZONES = "`time` and `reward_time` must be written in one way, all with a zone or all without, and numbers in one unit"


@dataclass(frozen=True)
class TimeSums:
    """What all rows tell of the times of a log: the first and the last one of each column, and what is wrong."""

    tally: Tally
    ends: Mapping[str, tuple[int, int]]

    def __add__(self, other: "TimeSums") -> "TimeSums":
        roles = dict.fromkeys([*self.ends, *other.ends])
        both = {role: [one.ends[role] for one in (self, other) if role in one.ends] for role in roles}
        ends = {role: (min(low for low, _ in some), max(high for _, high in some)) for role, some in both.items()}
        return TimeSums(self.tally + other.tally, ends)


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
            read_moment("until", until)
        columns = {"time": time} | ({} if reward_time is None else {"reward_time": reward_time})
        return cls(columns, read_length("horizon", horizon), until)

    def observe(self, table: pa.Table, row_numbers: Ints) -> TimeSums:
        """Return what some rows tell of the times."""
        marks: dict[str, tuple[Bools, pa.ChunkedArray]] = {}
        ends: dict[str, tuple[int, int]] = {}
        for role, name in self.columns.items():
            column = table.column(name)
            found = read_moments(column)
            marks |= {f"{role} {kind}": (rows, column) for kind, rows in found.kinds.items()}
            marks[f"{role} bad"] = found.is_bad, column
            marks[f"{role} absent"] = ~found.is_there, column
            known = found.values[found.is_there & ~found.is_bad]
            ends |= {role: (int(known.min()), int(known.max()))} if len(known) else {}
        return TimeSums(Tally.of(row_numbers, marks), ends)

    def close(self, sums: TimeSums) -> "Delay":
        """Return the delay with the end of the log, once all its times are known to be good."""
        tally = sums.tally
        for role in self.columns:
            tally.refuse(f"{role} bad", f"{self._name(role)} must be {KINDS}")
        way = " Leave these rows out, or write when they were decided."
        tally.refuse("time absent", f"{self._name('time')} must be there in every row", way)
        given = None if self.until is None else read_moment("until", self.until)
        kinds = [name.partition(" ") for name in tally.counts if not name.endswith((" bad", " absent"))]
        several = {kind: role for role, _, kind in reversed(kinds)} | _find_kind(given)
        if len(several) > 1:
            got = ", and ".join(f"`{role}` {kind}" for kind, role in several.items())
            raise DataError(f"{ZONES}, got {got}.")
        end = max(high for _, high in sums.ends.values()) if given is None else int(given.values[0])
        low, high = sums.ends["time"]
        if low > end - self.width:
            got = f"{show_length(self.horizon)}, with decisions from {show_moment(low)} to {show_moment(high)}"
            all_young = f"and an end at {show_moment(end)}: all {tally.rows} are younger"
            raise DataError(f"`horizon` must be shorter than the log, got {got} {all_young}.")
        return replace(self, end=end)

    def judge(self, table: pa.Table, is_missing: Bools, is_zero: Bools) -> Ripeness:
        """Return which rewards of some rows count, once the end of the log is known."""
        decided = self._read(table, "time")
        is_young = decided.values > (self.end or 0) - self.width
        nothing = np.zeros_like(is_young)
        if "reward_time" not in self.columns:
            return Ripeness(is_young, nothing, nothing, nothing, nothing)
        came = self._read(table, "reward_time")
        is_late = came.is_there & (came.values > decided.values + self.width)
        is_unrewarded = is_missing & ~came.is_there
        is_timeless = ~is_missing & ~is_zero & ~came.is_there
        is_early = came.is_there & (came.values < decided.values)
        return Ripeness(is_young, is_late & ~is_young, is_unrewarded & ~is_young, is_early, is_timeless & ~is_young)

    def refuse_wrong_times(self, tally: Tally) -> None:
        """Refuse rewards that came before their decision, or at no time."""
        if "reward_time" in self.columns:
            early = " Are the two columns the right way round, and of one clock?"
            tally.refuse("early", f"{self._name('reward_time')} must not be before the decision", early)
            timeless = " Give the time of these rewards, or leave `reward_time` away."
            tally.refuse("timeless", f"{self._name('reward_time')} must be there where a reward is not 0", timeless)

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

    def _read(self, table: pa.Table, role: str) -> Moments:
        return read_moments(table.column(self.columns[role]))

    def _name(self, role: str) -> str:
        column = self.columns[role]
        return f"`{role}`" if column == role else f"`{role}` (column `{column}`)"


def _find_kind(given: Moments | None) -> dict[str, str]:
    """Return how the end of a log is written, if it is given."""
    return {} if given is None else {kind: "until" for kind, rows in given.kinds.items() if rows[0]}
