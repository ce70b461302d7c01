"""Answer: what the log earned and what targets would have earned, on one scale."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.evaluation import Comparison, Evaluation
from counterfold.report.numbers import format_gap, format_logged, format_value
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import Picture, stack_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Answer(Picture):
    """The log and every target: the value of each with its interval."""

    kinds = (Comparison, Evaluation)

    def find_height(self, result: Evaluation | Comparison) -> float:
        return stack_lines([*list_targets(result), "log"])

    def draw(self, result: Evaluation | Comparison, ax: "Axes") -> None:
        targets = list_targets(result)
        known = {name: one for name, one in targets.items() if one.answerable}
        first = next(iter(targets.values()))
        logged = drawing.Reach(first.logged.interval()[0], first.logged.value, first.logged.interval()[1])
        reaches = [drawing.Reach(one.interval.low, one.value, one.interval.high) for one in known.values()]
        drawing.tidy(ax, "reward per decision", grid="x")
        drawing.name_lines(ax, ["the log", *targets])
        ax.set_xlim(
            *drawing.find_view([logged.value, *(one.value for one in reaches)], [*logged, *sum(reaches, ())], 20)
        )
        places = [place for place, name in enumerate(targets, start=1) if name in known]
        ax.axvline(logged.value, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
        drawing.draw_reaches(ax, [0], [logged], drawing.LOG, "log")
        drawing.draw_reaches(ax, places, reaches, drawing.TARGET, "target")
        drawing.write_beside(ax, 0, format_logged(first))
        for place, one in enumerate(targets.values(), start=1):
            told = format_value(one)[0] if one.answerable else "withheld"
            drawing.write_beside(ax, place, told, drawing.TARGET if one.answerable else drawing.WARNING)
        drawing.set_titles(ax, *(describe(first) if len(targets) == 1 else describe_several(first)))


def list_targets(result: Evaluation | Comparison) -> dict[str, Evaluation]:
    """Return the evaluation of every target."""
    return dict(result.evaluations) if isinstance(result, Comparison) else {"the target": result}


def describe(result: Evaluation) -> tuple[str, str]:
    """Return the title of one answer, and what stands below it."""
    gap, (value, interval) = result.uplift(), format_gap(result.uplift(), result.logged)
    low, high = gap.interval()
    more = "more than the log" if gap.value > 0 else "less than the log"
    told = f"{value.lstrip('+-')} {more}" if low > 0 or high < 0 else f"not clearly {more}"
    title = f"The target would earn {format_value(result)[0]} per decision, {told}"
    return title, f"{100 * result.level:g} % interval of the difference: {interval}; verdict: {result.verdict}"


def describe_several(first: Evaluation) -> tuple[str, str]:
    """Return the title of several answers, and what stands below it."""
    note = (
        f"values with their {100 * first.level:g} % intervals; differences are known better, see the picture `compare`"
    )
    return "What the log earned, and what each target would have earned", note
