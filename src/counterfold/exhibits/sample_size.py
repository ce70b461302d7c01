"""Sample size: how narrow the interval of the uplift would be on a log with more rows."""

from dataclasses import dataclass

import numpy as np

from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown

TIMES = tuple(float(one) for one in np.geomspace(0.25, 64, 33))
"""How many times as many rows."""


@dataclass(frozen=True)
class SampleSize(Exhibit):
    """The width of the interval of the uplift with `times` as many rows like these: it shrinks with their square root.

    How many of them would show the uplift is `next_step.times_rows` of an evaluation.
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        low, high = answer.uplift.interval()
        width, count = high - low, evidence.row_count
        lines = [{"times": times, "rows": round(times * count), "width": width / times**0.5} for times in TIMES]
        return Shown(lines, {"rows": count, "width": width})
