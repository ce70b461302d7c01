"""Answer: what the log earned and what the targets would have earned, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfold.evaluation import Comparison, Evaluation
from counterfold.report.figures import _charts as charts
from counterfold.report.figures._policies import find_height, name_withheld, spell_out, tell_rest
from counterfold.report.figures.base import Figure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.numbers import find_error

COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Reward per decision", formats.value),
    "low": ("From", formats.value),
    "high": ("To", formats.value),
}


@dataclass(frozen=True)
class Answer(Figure):
    """The log and every target that it can answer for: the value of each with its interval."""

    kinds: ClassVar[tuple[type, ...]] = (Comparison, Evaluation)

    def draw(self, subject: Sequence[Case]) -> Drawing | None:
        """Return the values of all targets, judged by the same reward."""
        shown = [(case.target, case.shown_answer.evaluation) for case in subject if case.shown_answer is not None]
        if not shown:
            return None
        evaluations = [evaluation for _, evaluation in shown]
        logged = evaluations[0].logged
        names = charts.tell_apart([subject[0].logged, *(target for target, _ in shown)])
        lines = [describe(names[0], "log", logged.value, *logged.interval())]
        for name, evaluation in zip(names[1:], evaluations, strict=True):
            lines.append(describe(name, "new", evaluation.value, *evaluation.interval))
        drawn = lines[: charts.MAX_NAMED_LINES]
        error = min(find_error(evaluation.stderr, evaluation.interval) for evaluation in evaluations)
        level = 100 * evaluations[0].level
        baseline = next(case.answered.baseline for case in subject if case.answered)
        return Drawing(
            title="What each policy earns per decision",
            reading=f"The dot is the estimate. In about {level:g} of 100 such reports the bar holds the true value, if "
            "nothing speaks against the answer. Whether bars overlap says little: the picture of differences compares "
            f"each policy with {baseline} on the same decisions.{tell_rest(lines)}",
            sentence=f"Reward per decision with {level:g} % intervals. {spell_out(drawn, formats.value, error)}",
            panels=[charts.make_panel(charts.size(draw_values(drawn), find_height(drawn)))],
            table=tabulate("Reward per decision", lines, COLUMNS, error),
            withheld=name_withheld([case for case in subject if case.shown_answer is None]),
        )


def describe(name: str, who: str, value: float, low: float, high: float) -> dict[str, Any]:
    """Return the dot of the log or of a target, with its interval."""
    return {"name": name, "value": value, "low": low, "high": high, "who": who}


def draw_values(lines: Lines) -> Any:
    """Return the log and the targets below each other."""
    import altair as alt

    scale = alt.Scale(domain=["log", "new"], range=[charts.LOG, charts.TARGET])
    colour = alt.Color("who:N", scale=scale, legend=None)
    return charts.draw_intervals(lines, "reward per decision", colour)
