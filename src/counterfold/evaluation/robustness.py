"""Robustness: how far what an answer rests on may be wrong before its conclusion changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from counterfold.evidence.figure_tables import Shown
from counterfold.intervals.base import Bounds


@dataclass(frozen=True)
class Carrier:
    """A `part` of the log, a group or a day, without which a conclusion could not be drawn.

    `difference` is that of SNIPS to the log without it; None if no weight is left then.
    """

    part: str
    name: str
    rows: int
    difference: float | None


@dataclass(frozen=True)
class Robustness:
    """How wrong the data may be before the difference to the log is no longer told from 0.

    `is_told` says whether it is now. `propensity_factor` is the least factor by which the odds p / (1 - p) of all
    logged actions must be wrong, or on a log of doses all densities (`factor_of`), each in its worst way; None if
    there is nothing to change, or if `largest_factor`, the largest one that was tried, does not. `unsupported_share`
    is the share of what the log could never do that must earn the worst reward of the log; None if even all of it does
    not change the conclusion, or if everything was tried. `without_row`, `without_group` and `without_day` are what
    SNIPS, which is `snips` of all rows, says without the row, the group or the day that matters most; None where there
    is none. `hangs_on` has a group and a day if the interval of the difference, moved by as much as that of SNIPS
    moves without it, would hold 0.
    """

    is_told: bool
    propensity_factor: float | None
    factor_of: Literal["odds", "densities"] | None
    largest_factor: float | None
    unsupported_share: float | None
    snips: float | None
    without_row: float | None
    without_group: float | None
    without_day: float | None
    hangs_on: tuple[Carrier, ...]

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
