"""Robustness: how far what an answer rests on may be wrong before its conclusion changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from counterfold.exhibits import Shown
from counterfold.intervals.base import Bounds


@dataclass(frozen=True)
class Carrier:
    """A part of the log without which the conclusion fails."""

    part: str
    """What it is: `group` or `day`."""

    name: str
    """The day, or a row of the group by which to find it."""

    rows: int
    """How many rows it has."""

    difference: float | None
    """The difference between SNIPS and the log without it; null if no weight is left then."""


@dataclass(frozen=True)
class Robustness:
    """How wrong the data may be before the conclusion fails: the difference to the log is no longer told from 0."""

    is_told: bool
    """Whether the interval of the difference excludes 0 now."""

    propensity_factor: float | None
    """The smallest factor that makes the conclusion fail; null if there is none to fail, or if no factor tried does.

    The odds p / (1 - p) of all logged actions, or the densities of logged doses, are off by this factor, each in its
    worst direction.
    """

    factor_of: Literal["odds", "densities"] | None
    """What is off by the factor: `odds`, or `densities` on a log of doses; null if no row has a weight."""

    largest_factor: float | None
    """The largest factor that was tried."""

    unsupported_share: float | None
    """The share of unsupported decisions that must earn the worst reward of the log to make the conclusion fail.

    Null if even all of them do not, or if the log supports all actions.
    """

    snips: float | None
    """The value by SNIPS of all rows."""

    without_row: float | None
    """The value by SNIPS without the most influential row."""

    without_group: float | None
    """The value by SNIPS without the most influential group; null where there are no groups."""

    without_day: float | None
    """The value by SNIPS without the most influential day; null where the log has no days."""

    hangs_on: tuple[Carrier, ...]
    """A group and a day without which the conclusion fails, if there are such.

    Without it, the interval of the difference includes 0, if it moves by as much as the difference of SNIPS does.
    """

    @classmethod
    def of(cls, exhibits: Mapping[str, Shown], uplift: Bounds) -> "Robustness":
        """Return what the exhibits of an answer say of it, and of the interval of its difference to the log."""
        factors, rows = find(exhibits, "sensitivity"), find(exhibits, "influence")
        support = find(exhibits, "worst-support")
        parts = {name: find(exhibits, place) for name, place in PARTS.items()}
        is_told = bool(uplift.low > 0 or uplift.high < 0)
        return cls(
            is_told=is_told,
            propensity_factor=factors.facts.get("factor") if is_told else None,
            factor_of=factors.facts.get("of"),
            largest_factor=first(factors, "factor", -1),
            unsupported_share=support.facts.get("share"),
            snips=rows.facts.get("snips"),
            without_row=first(rows, "without"),
            without_group=first(parts["group"], "without"),
            without_day=first(parts["day"], "without"),
            hangs_on=tuple(one for part, shown in parts.items() for one in find_carrier(part, shown, uplift)),
        )


PARTS = {"group": "groups", "day": "days"}
"""What a log may be without as a whole, and the exhibit that shows the answer without each."""


def find_carrier(part: str, shown: Shown, uplift: Bounds) -> list[Carrier]:
    """Return the group, or day, without which a conclusion that can be drawn now could not be, if there is one."""
    if not shown.lines or uplift.low <= 0 <= uplift.high:
        return []
    end, line = (uplift.low, shown.facts["lowest"]) if uplift.low > 0 else (uplift.high, shown.facts["highest"])
    left = line["difference"]
    if left is not None and end * (end + left - shown.facts["difference"]) > 0:
        return []
    others = "" if shown.facts["is_exact"] else " and those that share its hash"
    name = line["day"] if part == "day" else f"that of row {line['row']}{others}"
    return [Carrier(part, name, line["rows"], left)]


def find(exhibits: Mapping[str, Shown], name: str) -> Shown:
    """Return an exhibit, or an empty one where there is none."""
    return exhibits.get(name, Shown([], {}))


def first(shown: Shown, field: str, place: int = 0) -> Any:
    """Return a field of the first line of an exhibit, or of another one; nothing where there are no lines."""
    return shown.lines[place][field] if shown.lines else None
