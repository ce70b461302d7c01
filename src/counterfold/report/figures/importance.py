"""Importance: how much each column of the context matters to what a learned policy does."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from counterfold.policies.learned.policy import Policy
from counterfold.report.figures import _charts as charts
from counterfold.report.figures.base import PolicyFigure
from counterfold.report.html import formats
from counterfold.report.html.blocks import Drawing, Lines, tabulate

if TYPE_CHECKING:
    from counterfold.learning.result import Learned

HINT: charts.Hint = {"name": ("column", charts.TEXT), "share": ("importance", charts.SHARE)}

COLUMNS = {"name": ("Column", formats.words), "share": ("Importance", formats.percent)}


@dataclass(frozen=True)
class Importance(PolicyFigure):
    """A bar for each column that matters, of all numbers that it became."""

    def find_gap(self, result: Any) -> str | None:
        from counterfold.report.policy_parts import find_policy, rank_columns

        ranked = rank_columns(find_policy(result))
        return None if ranked else "no column matters to the policy, or it does not tell which do"

    def draw(self, subject: "Learned | Policy") -> Drawing | None:
        """Return a bar for each column that matters to what a policy does, if it tells."""
        from counterfold.report.policy_parts import find_policy, rank_columns

        ranked = rank_columns(find_policy(subject))
        if not ranked:
            return None
        lines = [{"name": name, "share": share} for name, share in ranked]
        names = charts.tell_apart([name for name, _ in ranked[: charts.MAX_NAMED_LINES]])
        drawn = [{"name": name, "share": share} for name, (_, share) in zip(names, ranked, strict=False)]
        first, share = ranked[0]
        return Drawing(
            title="What the policy looks at",
            reading="The longer the bar, the more the column tells actions apart. A column that is not here changes "
            "nothing.",
            sentence=f"Importance of {len(ranked)} columns; {first} matters most, with {formats.share(share)}.",
            panels=[charts.make_panel(draw_bars(drawn))],
            table=tabulate("Columns", lines, COLUMNS),
        )


def draw_bars(lines: Lines) -> Any:
    """Return a bar for each line (`name`, `share`)."""
    import altair as alt

    across = alt.X("share:Q", title="importance", axis=alt.Axis(format="~%", tickCount=4))
    bars = charts.make_chart(lines).mark_bar(color=charts.TARGET, height={"band": 0.6}, tooltip=True)
    chart = bars.encode(charts.name_axis("name"), across, tooltip=charts.list_hints(HINT))
    return charts.size(chart, charts.ROW_HEIGHT * max(len(lines), 2))
