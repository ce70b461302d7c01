"""Plotting: a figure of a result by its name, as a chart of Altair that needs no page around it."""

from collections.abc import Mapping
from functools import singledispatch
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.evidence.figure_tables import build_figures
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.figures.base import Figure
from counterfold.report.html import NAME, list_cases, list_checks
from counterfold.report.html.blocks import Drawing
from counterfold.report.html.cases import Case

if TYPE_CHECKING:
    from altair import VConcatChart

DEFAULTS = {
    Evaluation: ("answer",),
    Comparison: ("compare",),
    RewardEvaluations: ("compare",),
    Diagnostics: ("weights",),
    Learned: ("contenders",),
    Policy: ("tree", "importance"),
}
"""The figure of each kind of result that is drawn if none is named: the first that can be, or the last."""

WIDTH = 560
"""How wide a chart is, in pixels."""

SUBTITLE_LETTERS = 90
"""How many characters a line below a title has."""

COLOURS = {
    "var(--target)": "#0072B2",
    "var(--log)": "#767676",
    "var(--other)": "#009E73",
    "var(--quiet)": "#9A9A9A",
    "var(--ink)": "#333333",
    "var(--warning)": "#D55E00",
    "var(--card)": "#FFFFFF",
    "var(--muted)": "#59636E",
}
"""The colours that the report's page would give, in a theme of a light background."""


def plot(result: Any, name: str | None) -> "VConcatChart":
    """Return a chart of a result; several, such as one for each reward, are below each other."""
    figure = find_figure(result, name)
    try:
        import altair as alt
    except ImportError:
        raise ParameterError("charts need altair: pip install 'counterfold[report]'.") from None
    drawings = {}
    for group, subject in list_groups(result).items():
        drawing = figure.draw(subject)
        if drawing is not None and drawing.panels:
            drawings[group] = drawing
    if not drawings:
        raise ParameterError(f"`{figure.name}` cannot be drawn: this result has nothing to show in it. {offer(result)}")
    specs = [spec for group, drawing in drawings.items() for spec in list_specs(drawing, group)]
    charts = [alt.Chart.from_dict(spec) for spec in specs]
    # Each chart keeps its legend: those of charts below each other would be joined, above all of them.
    joined: VConcatChart = alt.vconcat(*charts).resolve_scale(color="independent", shape="independent")
    joined = joined.properties(description=" ".join(drawing.sentence for drawing in drawings.values()))
    only = next(iter(drawings.values()))
    if len(drawings) == 1 and len(only.panels) > 1:
        joined = joined.properties(title=alt.Title(only.title, anchor="start", fontSize=15, offset=14))
    return joined


def list_specs(drawing: Drawing, group: str) -> list[dict[str, Any]]:
    """Return the charts of a drawing as they stand alone, each with its title; `group` names the reward, if any."""
    specs = []
    for panel in drawing.panels:
        title: dict[str, Any] = {"text": panel.title or messages.show(group) or drawing.title, "anchor": "start"}
        if drawing.withheld:
            title["subtitle"] = wrap(drawing.withheld, SUBTITLE_LETTERS)
        specs.append({**settle(panel.spec), "width": WIDTH, "title": title})
    return specs


def build_all() -> list[Figure]:
    """Return every figure that has a chart."""
    return [figure for figure in build_figures() if isinstance(figure, Figure)]


def find_figure(result: Any, name: str | None) -> Figure:
    """Return the figure of that name; refuse one that there is not, or that cannot be drawn of this result."""
    known = {figure.name: figure for figure in build_all()}
    if name is None:
        usual = DEFAULTS[type(result)]
        name = next((one for one in usual if known[one].find_obstacle(result) is None), usual[-1])
    if not isinstance(name, str) or name not in known:
        hint = messages.suggest(name, known) if isinstance(name, str) else ""
        raise ParameterError(f"`name` must be that of a picture, got {messages.shorten(name)}.{hint} {offer(result)}")
    why = known[name].find_obstacle(result)
    if why is not None:
        raise ParameterError(f"`{name}` cannot be drawn: {why}. {offer(result)}")
    return known[name]


def offer(result: Any) -> str:
    """Return a sentence on what can be drawn of a result."""
    names = [figure.name for figure in build_all() if figure.find_obstacle(result) is None]
    return f"What can be drawn here: {', '.join(names) or 'nothing'}."


@singledispatch
def list_groups(result: Any) -> dict[str, Any]:
    """Return the cases that a result is about, by what is drawn apart; what was learned stands for itself."""
    return {"": list_cases({"": Comparison({NAME: result})})}


@list_groups.register
def _(result: Comparison) -> dict[str, list[Case]]:
    return {"": list_cases({"": result})}


@list_groups.register
def _(result: RewardEvaluations) -> dict[str, list[Case]]:
    return {reward: list_cases({"": Comparison({NAME: one})}) for reward, one in result.items()}


@list_groups.register
def _(result: Learned | Policy) -> dict[str, Any]:
    return {"": result}


@list_groups.register
def _(result: Diagnostics) -> dict[str, list[Case]]:
    return {"": list_checks({"": {NAME: result}}, {})}


def settle(spec: Any) -> Any:
    """Return a chart that needs no page around it: its colours are known, and it does not fit itself into a page."""
    if isinstance(spec, Mapping):
        return {name: settle(part) for name, part in spec.items() if name != "autosize"}
    if isinstance(spec, (list, tuple)):
        return [settle(part) for part in spec]
    return COLOURS.get(spec, spec) if isinstance(spec, str) else spec
