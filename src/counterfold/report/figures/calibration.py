"""Calibration: what the reward model predicts for rows that it was not fitted on, and what they earned."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures._calibration import compare_bins, draw_diagonal, predict_rows
from counterfold.report.figures.base import CaseFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate
from counterfold.report.html.cases import Case

BINS = 10
"""How many lines there are."""

COLUMNS = {
    "name": ("Group", formats.text),
    "rows": ("Rows", formats.count),
    "predicted": ("Predicted", formats.setting),
    "observed": ("Observed", formats.setting),
    "low": ("From", formats.setting),
    "high": ("To", formats.setting),
}


@dataclass(frozen=True)
class Calibration(CaseFigure):
    r"""A line for each tenth of what the target does, by the predicted reward of the logged action.

    Rows count by their weights: the model has to be right where the target goes, and is fitted to be so. The facts tell
    how far it is off there, $\sum_i w_i (r_i - \hat q_i) / \sum_i w_i$ (`correction`, with its standard error), and how
    much of the rewards' variance it explains (`explained`).
    """

    shows_answer: ClassVar[bool] = False
    table_name: ClassVar[str | None] = "calibration"
    absence: ClassVar[str] = "there is no reward model"

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = predict_rows(evidence, answer)
        if rows is None:
            return None
        q = rows.q_logged
        order = np.argsort(q, kind="stable")
        passed = rows.masses[order].cumsum()
        ends = np.searchsorted(passed, passed[-1] * np.linspace(0, 1, BINS + 1)[1:-1], "right")
        edges = np.unique(q[order][np.minimum(ends, len(q) - 1)])
        places = np.searchsorted(edges, q, "right")
        names = [f"{place + 1}" for place in range(len(edges) + 1)]
        lines = compare_bins(rows, places, names, answer.estimate.level)
        return Shown(lines, describe_fit(rows))

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None:
            return None
        chart = draw_diagonal(shown.lines, "predicted reward", "observed reward")
        return Drawing(
            title="Reward model: predicted and observed",
            reading=f"Each dot is about a tenth of what {case.called} does, predicted by a model that has not seen "
            "these rows. On the dashed line the predictions are right on average; the bar is the noise of what was "
            "observed.",
            sentence=f"Observed against predicted rewards in {len(shown.lines)} groups of rows.",
            panels=[charts.make_panel(chart)],
            table=tabulate("Calibration of the reward model", shown.lines, COLUMNS),
        )


def describe_fit(rows: Rows) -> dict[str, float | None]:
    """Return how far the model is off on what the target does, and how much of the variance it explains."""
    masses = rows.masses
    total = float(masses.sum())
    around = float(masses @ np.square(rows.rewards - rows.weighted_reward))
    explained = 1 - float(masses @ np.square(rows.residuals)) / around if around else None
    correction = float(masses @ rows.residuals) / total
    stderr = float(np.linalg.norm(masses * (rows.residuals - correction))) / total
    return {"correction": correction, "stderr": stderr, "explained": explained}
