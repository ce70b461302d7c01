"""Losses: how far each candidate was from the validator on the rows that it did not see."""

from dataclasses import dataclass

import numpy as np

from counterfold.evidence.evidence import Evidence
from counterfold.exhibits.base import Answered, Exhibit, Shown


@dataclass(frozen=True)
class Losses(Exhibit):
    """A line for each candidate that was cross-validated, the lowest score first.

    `loss` is the mean over the splits, `stderr` its standard error; the `score` decides.
    """

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        selection = answer.selection
        if selection.losses is None:
            return None
        losses, splits = selection.losses, selection.losses.shape[1]
        errors = losses.std(axis=1, ddof=1) / np.sqrt(splits) if splits > 1 else np.zeros(len(losses))
        columns = (losses.mean(axis=1), errors, selection.scores, selection.shares)
        lines = [
            {"name": name, "loss": loss, "stderr": stderr, "score": score, "share": share}
            for name, loss, stderr, score, share in zip(
                answer.estimators, *(one.tolist() for one in columns), strict=True
            )
        ]
        return Shown(sorted(lines, key=lambda line: line["score"]), {"splits": splits})
