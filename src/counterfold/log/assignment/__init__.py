"""Balance: whether the actions of a log were drawn as it says, and which columns are no context; no target is needed.

Given right propensities, nothing that was known before the decision depends on the action. All tests work from sums
over rows, so every engine finds the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np

from counterfold.base import capacity
from counterfold.base.arrays import Floats, Ints
from counterfold.base.hashing import sample_least
from counterfold.base.validation import FIRST
from counterfold.log.assignment.base import PropensityTest, Suspicion, find_worst
from counterfold.log.assignment.columns import AFTER, ColumnSums, ColumnTest, Reason
from counterfold.log.assignment.dependence import DependenceSums, DependenceTest
from counterfold.log.assignment.features import CHANGED_IN_TIME, Features
from counterfold.log.assignment.frequencies import FrequencyTest
from counterfold.log.assignment.levels import LevelSums, LevelTest
from counterfold.log.assignment.loggers import LoggerSuspicion, compare_loggers, sum_loggers
from counterfold.log.assignment.order import OrderSums
from counterfold.log.assignment.sharing import Sharing, SharingSums, SharingTest, find_whole
from counterfold.log.assignment.sharpness import SharpnessTest
from counterfold.log.assignment.weights import WeightTest
from counterfold.log.log import Log

__all__ = [
    "FIRST",
    "Balance",
    "BalanceStream",
    "BalanceSums",
    "Suspicion",
    "balance_log",
    "choose_context",
    "count_first",
    "is_number",
]

ENOUGH, LEAST = 1 << 24, 1 << 15
"""Of long logs a sample is tested, with so many probabilities, or LEAST rows: what it does not find is small."""

NUMBERS = 1 << 16
"""How many numbers are worked on at a time, of rows with an entry for each action and each feature."""

DEPENDS = 0.003
"""Below which joint p-value a column depends on the action, so that it is not taken for context by itself.

It is below the p-value from which on `outcome-context` warns, so no column is left out without a caution, and the
columns of a log without mistakes are hardly ever left out.
"""


@dataclass(frozen=True, eq=False)
class BalanceSums:
    """The sums of some rows; those of others can be added."""

    columns: ColumnSums
    levels: LevelSums
    order: OrderSums
    tested: tuple[Any, ...]
    loggers: DependenceSums | None = None
    sharing: SharingSums | None = None

    def __add__(self, other: "BalanceSums") -> "BalanceSums":
        tested = tuple(map(add, self.tested, other.tested))
        loggers = None if self.loggers is None or other.loggers is None else self.loggers + other.loggers
        return BalanceSums(
            columns=self.columns + other.columns,
            levels=self.levels + other.levels,
            order=self.order + other.order,
            tested=tested,
            loggers=loggers,
            sharing=None if self.sharing is None or other.sharing is None else self.sharing + other.sharing,
        )


@dataclass(frozen=True, eq=False)
class Balance:
    """What the tests found: `general` suspicions against the propensities, and p-values of columns of the context.

    Both are None on logs of doses, and where propensities are fitted. `reasons` say which columns are no context,
    whatever the actions were; `others` are the p-values of these. `loggers` tells what loggers differ by, if their rows
    are weighed by all of them. `explained` are columns that the logging policy itself depended on. `sharing` says how
    far rows with the same value of a column were decided together; `design_effect` is that of decisions that were made
    for several rows at once, and all p-values allow for it.
    """

    reasons: Mapping[str, Reason]
    general: Suspicion | None = None
    columns: Mapping[str, float] | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    loggers: LoggerSuspicion | None = None
    explained: frozenset[str] = frozenset()
    sharing: Mapping[str, Sharing] = field(default_factory=dict)
    design_effect: float = 1.0

    @property
    def columns_p(self) -> float | None:
        """Return the least p-value of a column, multiplied by their number (Bonferroni)."""
        return min(1.0, len(self.columns) * min(self.columns.values())) if self.columns else None

    def find_dependent(self, alarm: float) -> list[str]:
        """Return the columns that depend on the action, the worst first, at a joint error rate."""
        known = self.columns or {}
        return [name for name in sorted(known, key=lambda one: known[one]) if len(known) * known[name] < alarm]

    def is_dependent_throughout(self, alarm: float) -> bool:
        """Say whether most columns depend on the action: rather than outcomes, the propensities are wrong then."""
        return 2 * len(self.find_dependent(alarm)) > len(self.columns or ())

    def leave_out(self) -> dict[str, str]:
        """Return the columns that must not be taken for context by themselves, and why.

        What the logging policy depended on was known before the decision, so it stays.
        """
        known = {name: reason.what for name, reason in self.reasons.items()}
        several = self.columns or {}
        for name in self.find_dependent(DEPENDS):
            if name not in self.explained:
                joint_p = len(several) * several[name]
                known[name] = f"it depends on the action (p = {joint_p:.1g}), {AFTER}"
        return known


@dataclass(frozen=True, eq=False)
class BalanceStream:
    """Sums up rows of a log a few at a time, and tests the sums; the order of rows matters unless it `has_time`."""

    features: Features
    columns: ColumnTest
    levels: LevelTest
    sharing: SharingTest
    tests: tuple[PropensityTest[Any], ...]
    share: float
    has_time: bool

    @classmethod
    def of(cls, first: Log, row_count: int | None) -> Self:
        """Return the stream for a log of so many rows that begins with these; `count_first` of them are looked at."""
        few = count_first(count_probabilities(first))
        features = Features.of(first.context[:few], None if first.time is None else first.time.values[:few])
        enough = max(LEAST, ENOUGH // max(count_probabilities(first), 64))
        share = min(1.0, enough / row_count) if row_count else 1.0
        has_given = first.dose is None and first.fitted is None
        tests = list_tests(first, features, few) if has_given else ()
        columns, levels = ColumnTest.of(first, few), LevelTest.of(first, few)
        sharing = SharingTest.of(first, few, is_tested=has_given)
        return cls(
            features=features,
            columns=columns,
            levels=levels,
            sharing=sharing,
            tests=tests,
            share=share,
            has_time=first.time is not None,
        )

    def sums(self, log: Log) -> BalanceSums | None:
        """Return the sums of rows of a log, which may be a part of a longer one; none if it has none of the sample.

        Rows of a group may have been decided together, so only the first of each counts; all must be there then.
        """
        numbers: Ints = np.arange(len(log)) if log.row_numbers is None else log.row_numbers
        width = count_probabilities(log) + self.features.count
        step = max(capacity.count_rows(width, 64), NUMBERS // width, *(one.fewest_rows for one in self.tests))
        tested = list_independent(log)
        if self.share < 1 and log.group is None:
            tested = sample_least(numbers, len(numbers), self.share)
        tested = np.intersect1d(tested, log.list_evenly_kept()) if log.kept is not None else tested
        places = (tested[start : start + step] for start in range(0, len(tested), step))
        several = [self._sum_rows(log, place, numbers[place]) for place in places]
        return reduce(add, several) if several else None

    def _sum_rows(self, log: Log, place: Ints, row_numbers: Ints) -> BalanceSums:
        places = row_numbers if log.time is None else log.time.values[place]
        features, probs = self.features.build(log.context[place], places), normalise(log, place)
        tested = tuple(one.sum_rows(log, place, features, probs) for one in self.tests)
        columns, loggers = self.columns.sum_rows(log, place, row_numbers), sum_loggers(log, place, features)
        return BalanceSums(
            columns=columns,
            levels=self.levels.sum_rows(log, place),
            order=OrderSums.of(log, place),
            tested=tested,
            loggers=loggers,
            sharing=self.sharing.sum_rows(log, place, probs),
        )

    def solve(self, sums: BalanceSums | None) -> Balance:
        """Return what the sums of all rows say."""
        if sums is None:
            return Balance({})
        names, reasons = self.columns.names, self.columns.explain(sums.columns)
        reasons |= self.levels.explain(sums.levels, has_two_rewards=sums.columns.has_two_rewards)
        if not self.tests:
            return Balance(reasons)
        sharing = self.sharing.test(sums.sharing)
        design_effect = find_whole(sharing)
        found = [test.test(tested, design_effect) for test, tested in zip(self.tests, sums.tested, strict=True)]
        is_sorted = sums.order.is_sorted and not self.has_time
        several = [one for some in found for one in some.general if not (one.needs_time and is_sorted)]
        general = find_worst([one.name_time(CHANGED_IN_TIME) if self.has_time else one for one in several])
        [(p, is_explained)] = [(one.columns, one.explained) for one in found if one.columns is not None]
        known = join_columns(self.columns.sources, p)
        places = () if is_explained is None else np.flatnonzero(is_explained).tolist()
        explained = frozenset(self.columns.sources[place] for place in places)
        columns = {name: one for name, one in known.items() if name not in reasons}
        loggers = compare_loggers(sums.loggers, names, is_sorted=is_sorted)
        others = {name: known[name] for name in reasons}
        return Balance(
            reasons=reasons,
            general=general,
            columns=columns,
            others=others,
            loggers=loggers,
            explained=explained,
            sharing=sharing,
            design_effect=design_effect,
        )


def join_columns(sources: Sequence[str], p: Floats) -> dict[str, float]:
    """Return the p-value of each column of a table: the least of those it was encoded by, times their number."""
    several: dict[str, list[float]] = {}
    for source, one in zip(sources, p.tolist(), strict=True):
        several.setdefault(source, []).append(one)
    return {source: min(1.0, len(some) * min(some)) for source, some in several.items()}


def count_first(probabilities: int) -> int:
    """Return how many of the first rows tell what the columns hold, fewer where each has very many probabilities."""
    return capacity.count_rows(probabilities, FIRST)


def list_tests(first: Log, features: Features, few: int) -> tuple[PropensityTest[Any], ...]:
    """Return the tests that apply to a log with such first rows."""
    if first.logging_probs is None:
        independent = list_independent(first)
        return (WeightTest.of(first, independent[independent < few]),)
    likely = normalise(first, slice(few))
    known = DependenceTest.of(likely, features.count), FrequencyTest.of(first)
    return (*known, SharpnessTest()) if first.precision is None else known


def list_independent(log: Log) -> Ints:
    """Return the places of rows that were decided independently of each other: the first one of each group."""
    return np.arange(len(log)) if log.group is None else np.sort(np.unique(log.group, return_index=True)[1])


def count_probabilities(log: Log) -> int:
    """Return how many probabilities, or marks of what is available, each row of a log holds."""
    return len(log.actions) if log.logging_probs is not None or log.available is not None else 0


def normalise(log: Log, place: Ints | slice) -> Floats:
    """Return the probabilities of all actions in some rows, if they are known; those in files may not sum to 1."""
    if log.drawn_probs is None:
        return np.empty((0, 0))
    probs = log.drawn_probs[place]
    return np.asarray(probs / probs.sum(axis=1, keepdims=True))


def choose_context(log: Log, *, keep_all: bool = False) -> tuple[Log, Balance]:
    """Return a log without the columns of its context that nobody named and that are none, and what the tests said.

    `keep_all` says that a target looks at all numbers of the context, so that none of these is left out.
    """
    balance = balance_log(log)
    if log.named_context:
        return log, balance
    reasons = balance.leave_out()
    kept = [name for name in reasons if keep_all and is_number(log, name)]
    log = log.leave_out({name: why for name, why in reasons.items() if name not in kept})
    return log.refit(kept) if kept else log, balance


def is_number(log: Log, name: str) -> bool:
    """Say whether a column of the context holds numbers, so that targets look at it."""
    return name not in log.encodings or log.encodings[name].is_number


def balance_log(log: Log) -> Balance:
    """Return what the tests say of a log in memory.

    >>> reward = np.array([3.0, 1.0, 4.0, 1.0, 5.0] * 4)
    >>> log = Log(context=2 * reward[:, None], action=[0, 1] * 10, reward=reward, propensity=np.full(20, 0.5))
    >>> balance_log(log).reasons["0"].what
    'it is a copy of the reward'
    """
    stream = BalanceStream.of(log, len(log))
    return stream.solve(stream.sums(log))
