"""Calibration: what the reward model predicts for rows that it was not fitted on, and what they earned."""

from dataclasses import dataclass

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence
from counterfold.exhibits._calibration import compare_bins, predict_rows
from counterfold.exhibits.base import Answered, Exhibit, Shown

BINS = 10
"""How many lines there are."""


@dataclass(frozen=True)
class Calibration(Exhibit):
    r"""A line for each tenth of what the target does, by the predicted reward of the logged action.

    Rows count by their weights: the model has to be right where the target goes, and is fitted to be so. The facts tell
    how far it is off there, $\sum_i w_i (r_i - \hat q_i) / \sum_i w_i$ (`correction`, with its standard error), and how
    much of the rewards' variance it explains (`explained`).
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        rows = predict_rows(evidence, answer)
        if rows is None:
            return None
        q, level = rows.q_logged, answer.estimate.level
        order = np.argsort(q, kind="stable")
        passed = rows.masses[order].cumsum()
        ends = np.searchsorted(passed, passed[-1] * np.linspace(0, 1, BINS + 1)[1:-1], "right")
        edges = np.unique(q[order][np.minimum(ends, len(q) - 1)])
        places = np.searchsorted(edges, q, "right")
        lines = compare_bins(rows, places, [f"{place + 1}" for place in range(len(edges) + 1)], level)
        return Shown(lines, describe_fit(rows))


def describe_fit(rows: Rows) -> dict[str, float | None]:
    """Return how far the model is off on what the target does, and how much of the variance it explains."""
    masses, total = rows.masses, float(rows.masses.sum())
    around = float(masses @ np.square(rows.rewards - rows.weighted_reward))
    explained = 1 - float(masses @ np.square(rows.residuals)) / around if around else None
    correction = float(masses @ rows.residuals) / total
    stderr = float(np.linalg.norm(masses * (rows.residuals - correction))) / total
    return {"correction": correction, "stderr": stderr, "explained": explained}
