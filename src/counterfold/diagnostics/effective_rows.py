"""As how many equally weighted rows the log is informative."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfold.diagnostics.base import Answer, Diagnostic, Measured
from counterfold.evidence import Evidence
from counterfold.rows import Rows


@dataclass(frozen=True)
class EffectiveRows(Diagnostic):
    r"""Warn where the log is worth only a `few` rows for the target, and refuse where it is worth `too_few`.

    $$n_{\text{eff}} = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}$$

    Kish (1965), "Survey sampling".
    """

    few: float = 100.0
    too_few: float = 10.0
    label: ClassVar[str] = "effective rows"
    numbers: ClassVar[tuple[str, ...]] = ("effective_rows",)

    def observe(self, rows: Rows) -> float:
        return float(np.square(rows.weights).sum())

    def measure(self, evidence: Evidence, answer: Answer | None) -> Measured:
        del answer
        total = evidence.total_weight
        rows = total**2 / evidence.observed[self.name] if total else 0.0
        text = f"{rows:.1f} of {evidence.count} ({rows / evidence.count:.1%})"
        if rows >= self.few:
            return Measured({"effective_rows": rows}, text)
        problem = f"the log is worth only {rows:.3g} rows for this target"
        remedy = "log more rows, explore more of what the target prefers, or ask about a target nearer to the log"
        if rows == 0:
            bandwidth = evidence.rows.bandwidth
            problem = "the target never takes a logged action"
            if bandwidth is not None:
                problem = f"no logged dose is within {bandwidth:.3g} of the target's"
            remedy = "check that the target names actions as the log does, or log some of what it would do"
        finding = self.find("not answerable" if rows < self.too_few else "caution", problem, remedy)
        return Measured({"effective_rows": rows}, text, [finding])
