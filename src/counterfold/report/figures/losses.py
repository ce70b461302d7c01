"""Losses: how far each candidate was from the validator on the rows that it did not see."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfold.evidence.evidence import Evidence
from counterfold.evidence.figure_tables import Answered, Line, Shown
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import CaseFigure
from counterfold.report.figures.candidates import shorten_name
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate
from counterfold.report.html.cases import Case

COLUMNS = {
    "full_name": ("Candidate", formats.text),
    "loss": ("Loss", formats.setting),
    "stderr": ("Std. error", formats.setting),
    "score": ("Score", formats.setting),
    "share": ("Share in the answer", formats.percent),
}


@dataclass(frozen=True)
class Losses(CaseFigure):
    """A line for each candidate that was cross-validated, the lowest score first.

    `loss` is the mean over the splits, `stderr` its standard error; the `score` decides.
    """

    table_name: ClassVar[str | None] = "losses"
    absence: ClassVar[str] = 'candidates were not cross-validated; `selector="ocv"` does that'

    def show(self, evidence: Evidence, answer: Answered) -> Shown | None:
        selection = answer.selection
        if selection.losses is None:
            return None
        losses = selection.losses
        splits = losses.shape[1]
        errors = losses.std(axis=1, ddof=1) / np.sqrt(splits) if splits > 1 else np.zeros(len(losses))
        columns = zip(
            answer.estimators,
            losses.mean(axis=1).tolist(),
            errors.tolist(),
            selection.scores.tolist(),
            selection.shares.tolist(),
            strict=True,
        )
        lines = [
            {"name": name, "loss": loss, "stderr": stderr, "score": score, "share": share}
            for name, loss, stderr, score, share in columns
        ]
        return Shown(sorted(lines, key=lambda line: line["score"]), {"splits": splits})

    def draw_case(self, case: Case) -> Drawing | None:
        shown = case.exhibits.get(self.name)
        if shown is None or not case.is_answerable:
            return None
        names = charts.tell_apart([shorten_name(line["name"]) for line in shown.lines])
        lines = [describe(name, line) for name, line in zip(names, shown.lines, strict=True)]
        # The axis is logarithmic: a candidate that is the validator has no loss, and no place on it.
        drawn = [line for line in lines if line["loss"] > 0][: charts.MAX_NAMED_LINES]
        panels = []
        if drawn:
            colour = charts.colour_by(["chosen", "others"], [charts.TARGET, charts.OTHER])
            title = "squared distance to the validator (logarithmic)"
            chart = charts.draw_intervals(drawn, title, colour, is_log=True)
            panels = [charts.make_panel(charts.size(chart, charts.LOW_ROW_HEIGHT * len(drawn)))]
        splits = shown.facts["splits"]
        return Drawing(
            title="Validation losses",
            reading=f"On {splits} random splits each candidate was compared with a trusted estimator on rows that it "
            "did not see; the lowest loss plus its standard error was chosen. Overlapping bars mean that chance may "
            "have decided.",
            sentence=f"Mean squared distance to the validator of {len(drawn)} candidates over {splits} splits.",
            panels=panels,
            table=tabulate("Validation losses", lines, COLUMNS),
        )


def describe(name: str, line: Line) -> Line:
    """Return a candidate with the ends of its bar; the lower one is above 0, as the axis is logarithmic."""
    loss = line["loss"]
    return {
        **line,
        "name": name,
        "full_name": line["name"],
        "value": loss,
        "low": max(loss - line["stderr"], loss / 10),
        "high": loss + line["stderr"],
        "who": "chosen" if line["share"] else "others",
    }
