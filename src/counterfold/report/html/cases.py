"""Case: one target, judged by one reward; a report is about one or several of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from counterfold.base import messages
from counterfold.base.cached import cached_property
from counterfold.diagnostics import Diagnostics
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.decision import Standing
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation
from counterfold.evidence.figure_tables import Shown
from counterfold.evidence.segments.answers import Segment
from counterfold.log.contents import Contents
from counterfold.report.choice import find_choice
from counterfold.report.differences import name_interval
from counterfold.report.numbers import find_error, format_number, format_signed, is_same

if TYPE_CHECKING:
    from counterfold.learning.result import Learned

MOST_TOLD = 5
"""Of more targets than this, only the first ones are told one by one, and not only in tables."""

MOST_CHAPTERS = 12
"""Of more cases than this, as of several rewards, only the first ones are told in full: a page must stay light."""

TODAY = "today"
"""What the log's own policy is called, unless there is a baseline or a target of that name."""

FINER = 100
"""So many times smaller than that of a value is the smallest error of a difference that values are written to."""

FEW = "few-rewards"
"""The finding that few rewards carry an answer."""

NAME = "new policy"
"""What a target without a name is called."""

LEARNT, ATTEMPT = "learnt policy", "best attempt"
"""What is called so that was learnt: a policy that beats the log, and one that does not."""


LONGEST_TITLE = 200
"""The characters of a target's name in a title."""


def isolate(name: str) -> str:
    """Return a name that does not turn the direction of the sentence around it, whatever its script."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def quote(name: str) -> str:
    """Return the name of a target, an action or a column as it stands in sentences."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{isolate(messages.show(name))}\N{RIGHT DOUBLE QUOTATION MARK}"


@dataclass(frozen=True, eq=False)
class Answered:
    """An evaluation of a target, how much more it earns than `baseline`, and what to do: nothing for the baseline.

    `logged` is what the log's own policy is called. Of several targets, the interval of the difference (`gap`) holds
    for all at once. `judged` is what speaks against the difference. `is_known` says whether the log can tell it;
    `compared` are all targets judged by the same reward. `segments` tell the difference in each segment.
    """

    evaluation: Evaluation
    baseline: str
    logged: str
    gap: Estimate | None
    judged: Diagnostics
    step: NextStep | None
    is_known: bool
    compared: Comparison
    segments: Sequence[Segment] = ()

    @property
    def is_to_log(self) -> bool:
        """Say whether the difference is to the log, and not to a policy."""
        return self.compared.baseline is None

    @property
    def is_same(self) -> bool:
        """Say whether there is no difference but a rounding error, as between equal policies."""
        return self.gap is not None and is_same(self.gap, self.evaluation.logged)

    @property
    def earned(self) -> str:
        """Return what is said of the log's own policy."""
        return f"{self.logged} {'earns' if self.logged == TODAY else 'earned'}"

    @property
    def interval_name(self) -> str:
        """Return what the interval of the difference is called."""
        return name_interval(self.compared).replace(" %", "\N{NO-BREAK SPACE}%")

    @property
    def origin(self) -> Evaluation | None:
        """Return the evaluation of the baseline, where that is another target which the log can answer for."""
        name = self.compared.baseline
        other = None if name is None or self.gap is None else self.compared[name]
        return other if other is not None and other.answerable else None

    @cached_property
    def error(self) -> float:
        """Return the error to which values and their difference are written: to the same digits."""
        own = find_error(self.evaluation.stderr, self.evaluation.interval)
        if self.gap is None or not self.is_known or self.is_same:
            return own
        return max(find_error(self.gap.stderr, self.gap.interval()), own / FINER)

    def write(self, number: float) -> str:
        """Return a value."""
        return format_number(number, self.error)

    def write_signed(self, number: float) -> str:
        """Return a difference."""
        return format_signed(number, self.error)

    @property
    def holds_zero(self) -> bool:
        """Say whether there is a difference that may as well be above 0 as below."""
        if self.gap is None or not self.is_known or self.is_same:
            return False
        low, high = self.gap.interval()
        return bool(low <= 0 <= high)

    @cached_property
    def confidence(self) -> float | None:
        """Return how sure it is, by the interval, that the difference is above 0; nothing where few rewards decide.

        An interval of few rewards is too rough for that, unless it is far from 0. Of several targets, it would not say
        what their intervals do, which hold for all at once.
        """
        if self.compared.simultaneous:
            return None
        is_rough = self.holds_zero and any(one.name == FEW for one in self.evaluation.diagnostics.findings)
        if self.gap is None or not self.is_known or self.is_same or is_rough or not self.gap.stderr > 0:
            return None
        return self.gap.find_confidence()


@dataclass(frozen=True, eq=False)
class Case:
    """What is known of one target, by one reward; without an answer where the log was only checked."""

    target: str
    reward: str
    diagnostics: Diagnostics
    exhibits: Mapping[str, Shown]
    contents: Contents | None = None
    answered: Answered | None = None

    @property
    def name(self) -> str:
        """Return the target as it is named in sentences."""
        return isolate(messages.show(self.target))

    @property
    def called(self) -> str:
        """Return what the target is called within a sentence: one without a name of its own is not quoted."""
        return f"the {self.target}" if self.target in {NAME, LEARNT, ATTEMPT} else quote(self.target)

    @property
    def title(self) -> str:
        """Return the target, hardly cut so that titles differ as names do, and, if that matters, the reward."""
        name = isolate(messages.abbreviate(self.target, LONGEST_TITLE))
        return f"{name} by {isolate(messages.show(self.reward))}" if self.reward else name

    @property
    def verdict(self) -> str:
        """Return the verdict on what the target would earn."""
        return self.diagnostics.verdict

    @property
    def judged(self) -> Diagnostics:
        """Return what speaks against the difference, or against the target where there is none."""
        return self.diagnostics if self.answered is None else self.answered.judged

    @property
    def badge(self) -> str:
        """Return the verdict on the difference."""
        return self.judged.verdict

    @property
    def is_answerable(self) -> bool:
        """Say whether what the target would earn may be shown."""
        return self.verdict != "not answerable"

    @property
    def logged(self) -> str:
        """Return what the log's own policy is called."""
        return TODAY if self.answered is None else self.answered.logged

    @property
    def when(self) -> str:
        """Return when the log's own policy decided."""
        return TODAY if self.logged == TODAY else f"in {self.logged}"

    @property
    def standing(self) -> Standing | None:
        """Return how the target stands among all, if there are several that the log can answer for."""
        chosen = None if self.answered is None else find_choice(self.answered.compared)
        return None if chosen is None else chosen.standings.get(self.target)

    @property
    def size(self) -> str:
        """Return how many decisions the log has and, if it is known, how many groups."""
        rows, groups = self.diagnostics.measures.get("rows"), self.diagnostics.measures.get("groups")
        of = "" if groups is None else f" of {groups:,.0f} groups"
        return "" if rows is None else f"{rows:,.0f} decisions{of}"

    @property
    def period(self) -> str:
        """Return the first and the last day of the log, if they are known."""
        history = self.diagnostics.history
        if history is None:
            return ""
        days = history.by_day.numbers.astype("datetime64[D]")
        return f"{days.min()} to {days.max()}"

    @property
    def shown_answer(self) -> Answered | None:
        """Return the answer if there is one that may be shown."""
        return self.answered if self.is_answerable else None


@dataclass(frozen=True, eq=False)
class Report:
    """All cases, the answer for machines, how it was asked for, whether rows are shown, and when it was made.

    `truth` is the value of the target where it is known, as in the demo. `source` is where the log is, and `roles` are
    the columns that were named for it, by what they hold; both are empty where only the answer is known. `learned` is
    what was learnt, where the only case is about that.
    """

    cases: list[Case]
    answer: Mapping[str, Any]
    call: str
    shows_rows: bool = True
    truth: float | None = None
    source: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    learned: "Learned | None" = None
    made: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    @property
    def title(self) -> str:
        """Return the question that the report answers."""
        if self.learned is not None:
            return "What is the best policy that this log supports?"
        several = self.targets
        name = f"the {NAME}" if several == [NAME] else " and ".join(quote(one) for one in several)
        who = name if len(several) < 3 else f"{len(several)} policies"
        return f"What would {who} earn?" if self.first.answered else f"Can this log answer for {who}?"

    @property
    def subtitle(self) -> str:
        """Return what is known of the log: the reward, the file, how many decisions, and when they were made."""
        reward = f"reward {quote(self.roles['reward'])}" if "reward" in self.roles else ""
        source = f"from {isolate(self.source)}" if self.source else ""
        return ", ".join(filter(None, [reward, source, self.first.size, self.first.period]))

    @property
    def first(self) -> Case:
        """Return the first case."""
        return self.cases[0]

    @property
    def targets(self) -> list[str]:
        """Return the targets, the first in rank first."""
        return list(dict.fromkeys(case.target for case in self.cases))

    @property
    def leading(self) -> list[Case]:
        """Return the cases that come first: those of the first target, or all of a log that was only checked."""
        return [case for case in self.cases if case.target == self.first.target or self.first.answered is None]

    @property
    def told(self) -> list[Case]:
        """Return the cases that are told one by one."""
        few = self.targets if self.first.answered is None else self.targets[:MOST_TOLD]
        return [case for case in self.cases if case.target in few]

    @property
    def chapters(self) -> list[Case]:
        """Return the cases that have a chapter each."""
        return self.told[:MOST_CHAPTERS]

    def find_key(self, key: str, case: Case) -> str:
        """Return the name by which links lead to a section about a case; nothing where it has no chapter."""
        if len(self.cases) == 1:
            return key
        return f"{key}-{self.chapters.index(case) + 1}" if case in self.chapters else ""
