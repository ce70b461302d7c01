"""What results ask of the report: to be shown in notebooks, drawn, and written as HTML (see `base/display.py`)."""

from functools import singledispatch
from typing import Any

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.learning.result import Learned
from counterfold.report import html
from counterfold.report.html import FilePath
from counterfold.report.notebook import show
from counterfold.report.plotting import plot

__all__ = ["plot", "show", "write_html"]


@singledispatch
def write_html(result: Any, path: FilePath, *, rows: bool) -> None:
    """Write a report of a result as one HTML file, without the rows that carry the answer if `rows` is False."""
    raise ParameterError(f"a report must be of a result, got {messages.shorten(result)}.")


@write_html.register
def _(result: Evaluation, path: FilePath, *, rows: bool) -> None:
    html.write_evaluation(result, path, rows=rows)


@write_html.register
def _(result: RewardEvaluations, path: FilePath, *, rows: bool) -> None:
    html.write_rewards(result.evaluations, result.to_dict(), path, rows=rows)


@write_html.register
def _(result: Comparison, path: FilePath, *, rows: bool) -> None:
    html.write_comparisons({"": result}, result.to_dict(), path, rows=rows)


@write_html.register
def _(result: Learned, path: FilePath, *, rows: bool) -> None:
    html.write_learned(result, path, rows=rows)


@write_html.register
def _(result: Diagnostics, path: FilePath, *, rows: bool) -> None:
    html.write_check(result, path, rows=rows)
