"""Compare: how much more targets would have earned than the log or a baseline; or one target, in several rewards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterfold.base import messages
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.report.differences import list_differences, name_interval
from counterfold.report.numbers import format_gap
from counterfold.report.plots import _drawing as drawing
from counterfold.report.plots.base import Picture, stack_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Compare(Picture):
    """A line for each difference with its paired interval; those of several rewards are in percent of the log's."""

    kinds = (RewardEvaluations, Comparison)

    def find_height(self, result: Comparison | RewardEvaluations) -> float:
        return stack_lines(list_gaps(result))

    def draw(self, result: Comparison | RewardEvaluations, ax: "Axes") -> None:
        gaps, scales = list_gaps(result), list_scales(result)
        known = {name: scale_gap(gap, scales[name]) for name, gap in gaps.items() if scales[name] > 0}
        is_reward = isinstance(result, RewardEvaluations)
        drawing.tidy(
            ax, "difference, in percent of what the log earned" if is_reward else "difference per decision", grid="x"
        )
        drawing.name_lines(ax, list(gaps))
        everything = [end for reach in known.values() for end in reach]
        ax.set_xlim(*drawing.find_view([0.0, *(one.value for one in known.values())], everything, 20))
        ax.axvline(0, color=drawing.LOG, linewidth=1, linestyle=drawing.DASHED, zorder=1)
        for place, name in enumerate(gaps):
            if name in known:
                drawing.draw_reaches(ax, [place], [known[name]], choose_colour(known[name]), "difference")
                told = (
                    f"{known[name].value:+.2g} %"
                    if is_reward
                    else format_gap(gaps[name], result.evaluations[name].logged)[0]
                )
                drawing.write_beside(ax, place, told, choose_colour(known[name]))
            else:
                why = "the log earned 0" if scales[name] == 0 else "withheld: the log cannot answer"
                drawing.write_at(ax, why, (0, place), (8, 0), drawing.WARNING, ("axes fraction", "data"))
        drawing.set_titles(ax, *describe(result, list(known.values())))


def list_gaps(result: Comparison | RewardEvaluations) -> dict[str, Estimate]:
    """Return how much more is earned, by target or reward."""
    if isinstance(result, Comparison):
        return list_differences(result)
    return {name: one.uplift() for name, one in result.evaluations.items()}


def list_scales(result: Comparison | RewardEvaluations) -> Mapping[str, float]:
    """Return what each difference is divided by: 0 where that is not possible, -1 where it is withheld."""
    if isinstance(result, Comparison):
        return {name: 1.0 if result.is_answerable(name) else -1.0 for name in result.evaluations}
    return {name: abs(one.logged.value) / 100 if one.answerable else -1.0 for name, one in result.evaluations.items()}


def scale_gap(gap: Estimate, scale: float) -> drawing.Reach:
    """Return a difference and its interval, divided by some number."""
    low, high = gap.interval()
    return drawing.Reach(low / scale, gap.value / scale, high / scale)


def choose_colour(one: drawing.Reach) -> str:
    """Return the colour of more, of less, and of what may be either."""
    return drawing.TARGET if one.low > 0 else drawing.WARNING if one.high < 0 else drawing.LOG


def describe(result: Comparison | RewardEvaluations, known: list[drawing.Reach]) -> tuple[str, str]:
    """Return the title, and what stands below it."""
    more, less = sum(one.low > 0 for one in known), sum(one.high < 0 for one in known)
    rest = len(list_gaps(result)) - more - less
    first: Evaluation = next(iter(result.evaluations.values()))
    what = "more: blue, less: orange, cannot be told: grey"
    alone, paired = f"{100 * first.level:g} % interval", f"paired row by row; {what}"
    note = f"{alone if isinstance(result, RewardEvaluations) else name_interval(result)}, {paired}"
    if isinstance(result, RewardEvaluations):
        return f"The target earns more in {more} of {more + less + rest} rewards, and less in {less or 'none'}", note
    other = "the log" if result.baseline is None else messages.show(result.baseline)
    return f"{more} of {more + less + rest} targets earn more than {drawing.write(other)}, {less or 'none'} less", note
