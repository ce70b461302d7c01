"""Case: one target, judged by one reward; a report is about one or several of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from counterfold import messages
from counterfold.cached import cached_property
from counterfold.contents import Contents
from counterfold.diagnostics import Diagnostics
from counterfold.estimates import Estimate
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation
from counterfold.exhibits import Shown
from counterfold.learning.result import Learned
from counterfold.report.numbers import find_error, format_number, format_signed
from counterfold.segments.answers import Segment

ROUNDING = 1e-9
"""How small a difference, in relation to what the log earned, is taken for a rounding error."""

MOST_CHAPTERS = 12
"""Of more cases than this, only the first ones are told in full: a page must stay light."""

FINER = 100
"""So many times smaller than that of a value is the smallest error of a difference that values are written to."""

FEW = "few-rewards"
"""The finding that few rewards carry an answer."""

NAME = "new policy"
"""What a target without a name is called."""

LEARNT, ATTEMPT = "learnt policy", "best attempt"
"""What is called so that was learnt: a policy that beats the log, and one that does not."""


def isolate(name: str) -> str:
    """Return a name that does not turn the direction of the sentence around it, whatever its script."""
    return name if name.isascii() else f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def quote(name: str) -> str:
    """Return the name of a target, an action or a column as it stands in sentences."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{isolate(messages.show(name))}\N{RIGHT DOUBLE QUOTATION MARK}"


@dataclass(frozen=True, eq=False)
class Answered:
    """An evaluation of a target, how much more it earns than `baseline`, and what to do: nothing for the baseline.

    `is_known` says whether the log can tell the difference; `compared` are all targets judged by the same reward.
    `segments` tell the difference in each segment.
    """

    evaluation: Evaluation
    baseline: str
    gap: Estimate | None
    step: NextStep | None
    is_known: bool
    compared: Comparison
    segments: Sequence[Segment] = ()

    @property
    def is_to_log(self) -> bool:
        """Say whether the difference is to the log, and not to a policy, which may be called "today" as well."""
        return self.compared.baseline is None

    @property
    def is_same(self) -> bool:
        """Say whether there is no difference but a rounding error, as between equal policies."""
        logged = self.evaluation.logged
        size = ROUNDING * max(abs(logged.value), logged.stderr)
        return self.gap is not None and max(abs(self.gap.value), self.gap.stderr) <= size

    @cached_property
    def error(self) -> float:
        """Return the error to which values and their difference are written: to the same digits, so they add up."""
        own = find_error(self.evaluation.stderr, self.evaluation.interval)
        if self.gap is None or not self.is_known or self.is_same:
            return own
        return max(find_error(self.gap.stderr, self.gap.interval()), own / FINER)

    def write(self, number: float) -> str:
        """Return a value."""
        return format_number(number, self.error)

    def write_interval(self) -> str:
        """Return the interval of the value."""
        low, high = map(self.write, self.evaluation.interval)
        return f"{low} to {high}"

    def write_signed(self, number: float) -> str:
        """Return a difference."""
        return format_signed(number, self.error)

    @property
    def is_undecided(self) -> bool:
        """Say whether there is a difference that may as well be above 0 as below."""
        if self.gap is None or not self.is_known or self.is_same:
            return False
        low, high = self.gap.interval()
        return bool(low <= 0 <= high)

    @cached_property
    def confidence(self) -> float | None:
        """Return how sure it is, by the interval, that the difference is above 0; nothing where few rewards decide.

        An interval of few rewards is too rough for that, unless it is far from 0.
        """
        is_rough = self.is_undecided and any(one.name == FEW for one in self.evaluation.diagnostics.findings)
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
        """Return the target and, if that matters, the reward."""
        return f"{self.name} by {isolate(messages.show(self.reward))}" if self.reward else self.name

    @property
    def verdict(self) -> str:
        """Return the verdict."""
        return self.diagnostics.verdict

    @property
    def badge(self) -> str:
        """Return the verdict, or "undecided" where a sound log cannot tell whether the target earns more or less."""
        is_undecided = self.answered is not None and self.answered.is_undecided
        return "undecided" if is_undecided and self.verdict == "good" else self.verdict

    @property
    def is_answerable(self) -> bool:
        """Say whether what the target would earn may be shown."""
        return self.verdict != "not answerable"

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
    learned: Learned | None = None
    made: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))

    @property
    def title(self) -> str:
        """Return the question that the report answers."""
        if self.learned is not None:
            return "What is the best policy that this log supports?"
        several = list(dict.fromkeys(case.target for case in self.cases))
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
    def chapters(self) -> list[Case]:
        """Return the cases that have a chapter each."""
        return self.cases[:MOST_CHAPTERS]

    def find_key(self, key: str, case: Case) -> str:
        """Return the name by which links lead to a section about a case; nothing where it has no chapter."""
        if len(self.cases) == 1:
            return key
        return f"{key}-{self.chapters.index(case) + 1}" if case in self.chapters else ""


def list_cases(found: Mapping[str, Comparison]) -> list[Case]:
    """Return a case for each target and reward, of comparisons by each reward."""
    first = next(iter(found.values()))
    return [make_case(target, reward, one) for target in first for reward, one in found.items()]


def make_case(target: str, reward: str, found: Comparison) -> Case:
    """Return the case of one target of a comparison."""
    one, gap = found[target], found.differences.get(target)
    baseline = "today" if found.baseline is None else quote(found.baseline)
    step = None if gap is None else found.advise(target, logged="today")
    known = found.is_answerable(target)
    answered = Answered(one, baseline, gap, step, known, found, found.segments.get(target, ()))
    return Case(target, reward, one.diagnostics, one.exhibits, one.contents, answered)


def list_checks(found: Mapping[str, Mapping[str, Diagnostics]], contents: Mapping[str, Contents]) -> list[Case]:
    """Return a case for each target and reward of a log that was only checked."""
    first = next(iter(found.values()))
    return [
        Case(target, reward, one[target], one[target].exhibits, contents.get(reward))
        for target in first
        for reward, one in found.items()
    ]
