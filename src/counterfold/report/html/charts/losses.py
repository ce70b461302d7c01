"""Losses: how far each candidate was from the validator, where candidates were cross-validated."""

from counterfold.report.html import formats
from counterfold.report.html.blocks import Figure, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.html.charts import base
from counterfold.report.html.charts.candidates import shorten_name

LOSSES_COLUMNS = {
    "full_name": ("Candidate", formats.text),
    "loss": ("Loss", formats.setting),
    "stderr": ("Std. error", formats.setting),
    "score": ("Score", formats.setting),
    "share": ("Share in the answer", formats.percent),
}


def draw_losses(case: Case) -> Figure | None:
    """Return the mean loss of each candidate with its standard error, the chosen one first."""
    shown = case.exhibits.get("losses")
    if shown is None or not case.is_answerable:
        return None
    names = base.tell_apart([shorten_name(line["name"]) for line in shown.lines])
    lines = [
        {
            **line,
            "name": name,
            "full_name": line["name"],
            "value": line["loss"],
            "low": max(line["loss"] - line["stderr"], line["loss"] / 10),
            "high": line["loss"] + line["stderr"],
            "who": "chosen" if line["share"] else "others",
        }
        for line, name in zip(shown.lines, names, strict=True)
    ]
    first = [line for line in lines if line["loss"] > 0][: base.MOST]
    colour = base.by_who(["chosen", "others"], [base.TARGET, base.OTHER])
    pictured = base.draw_intervals(first, "squared distance to the validator (logarithmic)", colour, is_log=True)
    splits = shown.facts["splits"]
    return Figure(
        "Validation losses",
        f"On {splits} random splits each candidate was compared with a trusted estimator on rows that it did not see; "
        "the lowest loss plus its standard error was chosen. Overlapping bars mean that chance may have decided.",
        f"Mean squared distance to the validator of {len(first)} candidates over {splits} splits.",
        [base.make_panel(base.size(pictured, 24 * len(first)))] if first else [],
        tabulate("Validation losses", lines, LOSSES_COLUMNS),
    )
