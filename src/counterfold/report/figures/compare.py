"""Compare: how much more targets would have earned than the log or a baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from counterfold.evaluation import Comparison, RewardEvaluations
from counterfold.report.figures import _charts as charts
from counterfold.report.figures._policies import HEIGHT, find_height, name_withheld, spell_out, tell_rest
from counterfold.report.figures.base import Figure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, tabulate
from counterfold.report.html.cases import Case
from counterfold.report.numbers import find_error

COLUMNS = {
    "name": ("Policy", formats.text),
    "value": ("Difference", formats.signed),
    "low": ("From", formats.signed),
    "high": ("To", formats.signed),
}


@dataclass(frozen=True)
class Compare(Figure):
    """A line for each difference, with an interval that is paired row by row. Several rewards have a chart each."""

    kinds: ClassVar[tuple[type, ...]] = (RewardEvaluations, Comparison)

    def draw(self, subject: Sequence[Case]) -> Drawing | None:
        """Return the differences of all targets that the log can answer for, judged by the same reward."""
        import altair as alt

        answers = [(case.target, case.answered) for case in subject if case.answered is not None]
        known = [
            (target, answered, answered.gap)
            for target, answered in answers
            if answered.is_known and answered.gap is not None and not answered.is_same
        ]
        if not known:
            return None
        first = known[0][1]
        baseline = first.baseline
        lines = []
        for name, (_, _, gap) in zip(charts.tell_apart([target for target, *_ in known]), known, strict=True):
            low, high = gap.interval()
            lines.append({"name": name, "value": gap.value, "low": low, "high": high})
        error = min(find_error(gap.stderr, gap.interval()) for *_, gap in known)
        drawn = lines[: charts.MAX_NAMED_LINES]
        colour = alt.value(charts.TARGET)
        intervals = charts.draw_intervals(drawn, f"difference to {baseline}, per decision", colour)
        chart = alt.layer(charts.draw_rule(0.0), intervals)
        return Drawing(
            title=f"How much more than {baseline}",
            reading="Right of the dashed line is more, left of it is less. If a bar crosses the line, the log cannot "
            f"tell which. Each bar is the {first.interval_name}.{tell_rest(lines)}",
            sentence=f"Difference to {baseline} per decision, {first.interval_name}. "
            f"{spell_out(drawn, formats.signed, error)}",
            panels=[charts.make_panel(charts.size(chart, max(find_height(drawn), 2 * HEIGHT)))],
            table=tabulate(f"Difference to {baseline}", lines, COLUMNS, error),
            withheld=name_withheld([case for case in subject if case.answered is None or not case.answered.is_known]),
        )
