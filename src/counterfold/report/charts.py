"""Charts: the report's charts as those of Altair, by the names of pictures."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, RewardEvaluations
from counterfold.learning.result import Learned
from counterfold.policies.learned.policy import Policy
from counterfold.report.html import NAME, list_cases, list_checks
from counterfold.report.html.blocks import Figure
from counterfold.report.html.cases import Case
from counterfold.report.plots import find_picture

if TYPE_CHECKING:
    from altair import VConcatChart

WIDTH = 560
"""How wide a chart is, in pixels."""

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
"""What the colours are that the report's page would say."""

Drawer = Callable[[Any], Figure | None]
"""Draws the cases of an answer, or what was learnt."""


def make_chart(result: Any, name: str | None) -> "VConcatChart":
    """Return a chart of a result; several, such as one for each reward, are below each other."""
    try:
        import altair as alt
    except ImportError:
        raise ParameterError("charts need altair: pip install 'counterfold[report]'.") from None
    picture = find_picture(result, name)
    draw = list_drawers()[picture.name]
    found = [(title, draw(cases)) for title, cases in list_groups(result).items()]
    panels = [
        (panel.title or messages.show(title) or figure.title, panel)
        for title, figure in found
        if figure is not None
        for panel in figure.panels
    ]
    if not panels:
        raise ParameterError(f"`{picture.name}` cannot be a chart of this result; `plot` draws it, or says why not.")
    specs = [
        {**settle(panel.spec), "width": WIDTH, "title": {"text": title, "anchor": "start"}} for title, panel in panels
    ]
    return alt.vconcat(*map(alt.Chart.from_dict, specs))


@singledispatch
def list_groups(result: Any) -> dict[str, Any]:
    """Return the cases that a result is about, by what is drawn apart; what was learnt stands for itself."""
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


def list_drawers() -> Mapping[str, Drawer]:
    """Return what draws each chart, by the picture's name."""
    from counterfold.report.html.charts import learnt, policies, segments, tree

    of_several: dict[str, Drawer] = {"answer": policies.draw_values, "compare": policies.draw_differences}
    of_several |= {"contenders": learnt.draw_contenders, "importance": learnt.draw_importance, "tree": tree.draw_tree}
    of_several["segments"] = partial(draw_first, segments.draw_first_column)
    return of_several | {name: partial(draw_first, draw) for name, draw in list_drawers_of_one().items()}


def list_drawers_of_one() -> Mapping[str, Callable[[Case], Figure | None]]:
    """Return what draws each chart of one case, by the picture's name."""
    from counterfold.report.html.charts import (
        calibration,
        candidates,
        influence,
        ladder,
        losses,
        over_time,
        support,
        tuning,
        weights,
        what_if,
    )

    return {
        "candidates": candidates.draw_candidates,
        "ladder": ladder.draw_ladder,
        "tuning": tuning.draw_settings,
        "losses": losses.draw_losses,
        "weights": weights.draw_histogram,
        "concentration": weights.draw_curve,
        "support": support.draw_support,
        "influence": influence.draw_without,
        "calibration": calibration.draw_calibration,
        "action-calibration": calibration.draw_by_action,
        "reliability": calibration.draw_reliability,
        "sensitivity": what_if.draw_factors,
        "sample-size": what_if.draw_sample_size,
        "over-time": over_time.draw_over_time,
    }


def draw_first(draw: Callable[[Case], Figure | None], cases: Sequence[Case]) -> Figure | None:
    """Return a figure of the first case."""
    return draw(cases[0])


def settle(spec: Any) -> Any:
    """Return a chart that needs no page around it: its colours are known, and it does not fit itself into a page."""
    if isinstance(spec, Mapping):
        return {name: settle(part) for name, part in spec.items() if name != "autosize"}
    if isinstance(spec, (list, tuple)):
        return [settle(part) for part in spec]
    return COLOURS.get(spec, spec) if isinstance(spec, str) else spec
