"""Robustness: how far what an answer rests on may be wrong before its conclusion changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfold.exhibits import Shown


@dataclass(frozen=True)
class Robustness:
    """How wrong the data may be before the difference to the log is no longer told from 0.

    `is_told` says whether it is now. `propensity_factor` is the least factor by which all propensities must be wrong,
    each in its worst way; None if there is nothing to change, or if `largest_factor`, the largest one that was tried,
    does not. `unsupported_share` is the share of what the log could never do that must earn the worst reward of the
    log; None if even all of it does not change the conclusion, or if everything was tried. `without_row` and
    `without_day` are what SNIPS, which is `snips` of all rows, says without the row or the day that matters most; None
    where there is none.
    """

    is_told: bool
    propensity_factor: float | None
    largest_factor: float | None
    unsupported_share: float | None
    snips: float | None
    without_row: float | None
    without_day: float | None

    @classmethod
    def of(cls, exhibits: Mapping[str, Shown], *, is_told: bool) -> "Robustness":
        """Return what the exhibits of an answer say of it."""
        factors, rows = find(exhibits, "sensitivity"), find(exhibits, "influence")
        days, support = find(exhibits, "days"), find(exhibits, "worst-support")
        return cls(
            is_told,
            factors.facts.get("factor"),
            first(factors, "factor", -1),
            support.facts.get("share"),
            rows.facts.get("snips"),
            first(rows, "without"),
            first(days, "without"),
        )


def find(exhibits: Mapping[str, Shown], name: str) -> Shown:
    """Return an exhibit, or an empty one where there is none."""
    return exhibits.get(name, Shown([], {}))


def first(shown: Shown, field: str, place: int = 0) -> Any:
    """Return a field of the first line of an exhibit, or of another one; nothing where there are no lines."""
    return shown.lines[place][field] if shown.lines else None
