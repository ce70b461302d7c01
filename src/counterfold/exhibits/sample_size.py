"""Sample size: how narrow the interval of the uplift would be on a log with more rows."""

from dataclasses import dataclass

import numpy as np

from counterfold.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown

TIMES = tuple(float(one) for one in np.geomspace(0.25, 64, 33))
"""How many times as many rows."""


@dataclass(frozen=True)
class SampleSize(Exhibit):
    r"""The width of the interval of the uplift with `times` as many rows like these: it shrinks with their square root.

    `rows_to_tell` is how many rows it takes until an interval around the estimated uplift no longer holds 0; nothing if
    the estimate is 0.
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        low, high = answer.uplift.interval()
        width, count, value = high - low, evidence.row_count, answer.uplift.value
        lines = [{"times": times, "rows": round(times * count), "width": width / times**0.5} for times in TIMES]
        reach = value - low if value > 0 else high - value
        needed = (reach / abs(value)) ** 2 * count if value else None
        return Shown(lines, {"rows": count, "width": width, "rows_to_tell": needed})
