"""Figure: one table and one chart of a result, with its caption and its text alternative."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation import Comparison, Evaluation, RewardEvaluations
from counterfold.evidence.figure_tables import FigureTable
from counterfold.report.html.blocks import Drawing
from counterfold.report.html.cases import Case


class Figure(FigureTable):
    """A frozen dataclass in a file of its own; all its numbers are those of the result."""

    shows_answer: ClassVar[bool] = True
    """Whether the chart shows what the target would have earned, which is withheld where the log cannot answer."""

    kinds: ClassVar[tuple[type, ...]] = (Evaluation,)
    """The results of which it can be drawn."""

    table_name: ClassVar[str | None] = None
    """The name of the table that it draws: its own, or that of another figure. Nothing if it draws no table."""

    absence: ClassVar[str] = ""
    """Why that table may be missing."""

    def find_obstacle(self, result: Any) -> str | None:
        """Return why it cannot be drawn of a result, or nothing."""
        if not isinstance(result, self.kinds):
            return explain_other_kind(self, result)
        one_by_one: Collection[Any] = [result]
        if isinstance(result, (Comparison, RewardEvaluations)):
            one_by_one = result.evaluations.values()
        if self.shows_answer and all(one.verdict == "not answerable" for one in one_by_one):
            return f"the log cannot answer, because {find_reason(next(iter(one_by_one)))}"
        return self.find_gap(result)

    def find_gap(self, result: Any) -> str | None:
        """Return what is missing in a result, or nothing."""
        if self.table_name is None or self.table_name in result.exhibits:
            return None
        return self.absence

    @abstractmethod
    def draw(self, subject: Any) -> Drawing | None:
        """Return the charts of some cases, the first one first; nothing where there is nothing to draw."""


class CaseFigure(Figure):
    """A figure of one target, judged by one reward."""

    def draw(self, subject: Any) -> Drawing | None:
        return self.draw_case(subject[0])

    @abstractmethod
    def draw_case(self, case: Case) -> Drawing | None:
        """Return the charts of one case; nothing where there is nothing to draw."""

    def draw_on_page(self, case: Case) -> Drawing | None:
        """Return what the page shows: the charts, or a sentence where that says more."""
        return self.draw_case(case)


class PolicyFigure(Figure):
    """A figure of a learned policy, or of what `cf.learn` returns. It is drawn from that result itself."""

    shows_answer: ClassVar[bool] = False

    draws_policies: ClassVar[bool] = True
    """Whether a policy alone is enough to draw it."""

    def find_obstacle(self, result: Any) -> str | None:
        from counterfold.learning.result import Learned  # evaluations find this file, and need no learning
        from counterfold.policies.learned.policy import Policy

        kinds = (Learned, Policy) if self.draws_policies else (Learned,)
        if not isinstance(result, kinds):
            return "it shows what was learnt, which `cf.learn` returns"
        return self.find_gap(result)


def explain_other_kind(figure: Figure, result: Any) -> str:
    """Return why a figure of an answer cannot be drawn of another kind of result."""
    from counterfold.learning.result import Learned
    from counterfold.policies.learned.policy import Policy

    if isinstance(result, Diagnostics):
        return "it shows an answer, and `check` gives none; `evaluate` does"
    if isinstance(result, Learned):
        return "it shows an answer; draw it of `learned.evaluation`, or of `learned.attempt`"
    if isinstance(result, Policy):
        return "it shows what a policy earns; `cf.evaluate` tells that, and so does `learned.evaluation`"
    if Evaluation not in figure.kinds:
        return "it compares several targets, and there is one; `cf.compare` makes such a comparison"
    shown = "the log and one target" if Diagnostics in figure.kinds else "one answer"
    return f"it shows {shown}; draw it of one of these, such as `found[NAME].plot(...)`"


def find_reason(result: Evaluation | Diagnostics) -> str:
    """Return the first reason for a verdict."""
    diagnostics = result.diagnostics if isinstance(result, Evaluation) else result
    return diagnostics.reasons[0]
