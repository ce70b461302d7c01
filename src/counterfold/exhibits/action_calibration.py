"""Calibration by action: what the reward model predicts where an action was logged, and what it earned."""

from dataclasses import dataclass

from counterfold.evidence.evidence import Evidence
from counterfold.exhibits._calibration import compare_bins, predict_rows
from counterfold.exhibits.base import Answered, Exhibit, Shown

MOST = 1000
"""With more actions than this, none is listed."""


@dataclass(frozen=True)
class ActionCalibration(Exhibit):
    """A line for each action: the mean predicted and observed reward where the target takes it, by weights."""

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = predict_rows(evidence, answer)
        if rows is None or rows.kind == "doses" or len(rows.labels) > MOST:
            return None
        lines = compare_bins(rows, rows.actions, [str(label) for label in rows.labels], answer.estimate.level)
        return Shown(sorted(lines, key=lambda line: -line["rows"]), {})
