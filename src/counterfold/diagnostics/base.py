"""Diagnostic: looks at the evidence for one target, and says what is wrong and what to do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from counterfold.base import messages
from counterfold.base.arrays import Ints, count_least
from counterfold.base.display import Reported
from counterfold.base.errors import ParameterError
from counterfold.base.records import as_dictionary
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence, Observer
from counterfold.evidence.history import History, Period
from counterfold.evidence.segments.answers import SegmentedColumn

if TYPE_CHECKING:
    from counterfold.diagnostics.records import DiagnosticsRecord

Severity = Literal["note", "undecided", "caution", "not answerable"]
"""How bad a finding is, the worst last."""

Verdict = Literal["good", "undecided", "caution", "not answerable"]
"""How far a log can answer, the worst last.

A log that leaves a question undecided is sound and too small; a caution may be a wrong answer.
"""

Number = float | int | None

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

LOG_NUMBERS = {
    "rows": "Rows of the log.",
    "bandwidth": "On a log of doses: the bandwidth of the kernel around the target's dose.",
    "reward_low": "The smallest reward.",
    "reward_high": "The largest reward.",
}
"""Numbers about the log that no diagnostic measures, and what each means."""

NO_TIME = "`period` must be for a log whose `time` tells days, got none: name the column of when decisions were made."
ROUNDING = 1e-9
"""How small an error, in relation to the value, is taken for a rounding error."""


@dataclass(frozen=True)
class Finding:
    """Something that a check found."""

    name: str
    """The name of the check, as on the page of diagnostics."""

    severity: Severity
    """How bad it is. A note is no reason for a worse verdict."""

    problem: str
    """What is wrong."""

    remedy: str
    """What to do about it."""


class Measurement(NamedTuple):
    """What a diagnostic measured: `values` by name, a short `text` for people, and what is wrong, if anything is.

    `history` are values over time, for a table. Where it could not be measured, the text says why (`is_known`).
    """

    values: Mapping[str, Number]
    text: str | None
    findings: Sequence[Finding] = ()
    history: History | None = None
    is_known: bool = True


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer to be examined: the estimate, the estimator that gave it, and the validator that chose it, if any.

    `segments` are the answers for the segments of each column that was cut. `uplift` is the difference to the log.
    """

    estimate: Estimate
    estimator: Estimator
    validator: Estimator | None
    segments: Sequence[SegmentedColumn] = ()
    uplift: Estimate | None = None


class Diagnostic(Observer, ABC):
    """A frozen dataclass whose fields are its thresholds; it works from sums, so it is the same on every engine.

    A diagnostic is one file in this folder, and its name is the file's. It may `observe` rows, a few at a time, and
    finds the sum over all rows in `evidence.observed`; or ask for the estimates of `witnesses`.
    """

    label: ClassVar[str]
    """What the terminal calls what is measured."""

    measures: ClassVar[Mapping[str, str]]
    """The numbers that are measured, in JSON and as attributes of `Diagnostics`: their names, with descriptions."""

    is_always_shown: ClassVar[bool] = False
    """Whether the terminal shows what is measured even if nothing is wrong; of others it says that they passed."""

    needs_answer: ClassVar[bool] = False
    """Whether it examines an answer, and not the log and the target alone."""

    examines_log: ClassVar[bool] = False
    """Whether what it measures depends on the log alone. If so, all targets of a log share one measurement."""

    def witnesses(self, rows: Rows) -> Sequence[Estimator]:
        """Return estimators whose estimates are needed, besides the candidates."""
        return []

    @abstractmethod
    def measure(self, evidence: Evidence, answer: Answer | None) -> Measurement | None:
        """Return what is measured, or nothing where it does not apply."""

    def make_finding(self, severity: Severity, problem: str, remedy: str) -> Finding:
        """Return a finding of this diagnostic."""
        return Finding(self.name, severity, messages.clean_sentence(problem), messages.clean_sentence(remedy))


@dataclass(frozen=True)
class Largest:
    """The largest of some numbers, of which two can be added.

    >>> Largest(2.0) + Largest(3.0)
    Largest(value=3.0)
    """

    value: float

    def __add__(self, other: "Largest") -> "Largest":
        return self if self.value >= other.value else other


@dataclass(frozen=True, eq=False)
class Least:
    """The `most` least of some different numbers in ascending order, and how many rows have each; two can be added.

    >>> both = Least.of(np.array([3, 1]), 2) + Least.of(np.array([2, 1]), 2)
    >>> both.numbers, both.counts
    (array([1, 2]), array([2, 1]))
    """

    numbers: NDArray[Any]
    counts: Ints
    most: int

    @classmethod
    def of(cls, numbers: NDArray[Any], most: int) -> "Least":
        """Return the least of some numbers, one per row."""
        return cls(*count_least(numbers, most), most)

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: "Least") -> "Least":
        numbers, places = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts])).astype(np.intp)
        return Least(numbers[: self.most], counts[: self.most], self.most)


def measure_log(evidence: Evidence, several: Sequence[Diagnostic]) -> dict[str, Measurement | None]:
    """Return what diagnostics measure that examine the log alone, by their names."""
    return {one.name: one.measure(evidence, None) for one in several if one.examines_log}


def sort_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings with the worst first."""
    return tuple(sorted(findings, key=lambda finding: -SEVERITIES.index(finding.severity)))


@dataclass(frozen=True)
class Diagnostics(Reported):
    """What all diagnostics found for one target; each number that one measures is an attribute, and None if unknown.

    There are `effective_rows`, `expected_rows`, `largest_weight`, `largest_share`, `mean_weight`, `mean_weight_p`,
    `unsupported_rows`, `unsupported_mass`, `unexplored_rows`, `groups`, `design_effect`, `design_effect_p`,
    `effective_rewards`, `top_row_share`, `top_five_share`, `value_without_top_row`, `outlying_rewards`,
    `repeated_share`, `row_copies`, `repeated_excess`, `propensities_p`, `context_p`, `periods`, `drift_p`, `drift`,
    `difference_drift_p`, `difference_drift`, `logged_drift_p`, `late_rows`, `row_order_p`, `row_order`, `silent_rows`,
    `harmed_segments`, `outcome_segments`, `learnt_share`, `disagreement`, `model_shift`, `capped_rewards`,
    `clipped_rows`, `next_reward_p`, `next_reward_share`, `own_reward_share`, `changed_actions_p`,
    `changed_actions_share`, `repeated_context_rows`, `informed_target_p`, `explained_share`, `room_left`,
    `reward_level`, `possible_loss` and `possible_gain`, explained in the diagnostics' own files; besides, `rows`, the
    range of the rewards (`reward_low`, `reward_high`) and, on a log of doses, the `bandwidth` of weights.
    `texts` say what was measured, by what it is called, and `unknown` are those that only say why it could not be.
    `findings` say what is wrong, the worst first; the `verdict` is
    the worst of them, and `reasons` are their problems in words. `history` is what `over_time` makes tables of, if the
    log has a time. `exhibits` are tables for pictures that need no answer.
    """

    measures: Mapping[str, Number]
    texts: Mapping[str, str] = field(repr=False)
    findings: tuple[Finding, ...]
    history: History | None = field(default=None, repr=False, compare=False)
    exhibits: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    unknown: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        several: Sequence[Diagnostic],
        answer: Answer | None = None,
        of_log: Mapping[str, Measurement | None] | None = None,
    ) -> "Diagnostics":
        """Return what several diagnostics find; those that need an answer wait for one.

        `of_log` are the measurements of those that examine the log alone, if they are known.
        """
        if of_log is None:
            of_log = measure_log(evidence, several)
        rewards = evidence.contents.rewards
        log_numbers = (evidence.row_count, evidence.rows.bandwidth, rewards.low, rewards.high)
        measures: dict[str, Number] = dict(zip(LOG_NUMBERS, log_numbers, strict=True))
        texts: dict[str, str] = {}
        findings: list[Finding] = []
        history: History | None = None
        unknown: list[str] = []
        for one in several:
            measures |= dict.fromkeys(one.measures)
            if one.examines_log:
                found = of_log[one.name]
            else:
                found = None if one.needs_answer and answer is None else one.measure(evidence, answer)
            if found is not None:
                measures |= found.values
                texts |= {one.label: found.text} if found.text else {}
                findings += found.findings
                history = found.history or history
                unknown += [] if found.is_known else [one.label]
        return cls(measures, texts, sort_findings(findings), history, unknown=tuple(unknown))

    def with_measured(self, one: Diagnostic, found: Measurement) -> "Diagnostics":
        """Return the same, with what a diagnostic measured now instead of what it had measured before."""
        others = [finding for finding in self.findings if finding.name != one.name]
        texts = {**self.texts, **({one.label: found.text} if found.text else {})}
        measures = {**self.measures, **found.values}
        return replace(self, measures=measures, texts=texts, findings=sort_findings([*others, *found.findings]))

    def with_cautions(self, cautions: Sequence[Finding]) -> "Diagnostics":
        """Return the same, with cautions about something else that the answer depends on."""
        return replace(self, findings=sort_findings([*self.findings, *cautions]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict}: {messages.clean_sentence(self.reasons[0])})"

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("measures", {}):  # copies are made before there are any
            return self.measures[name]
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.measures]

    def __hash__(self) -> int:
        return hash((*self.measures.items(), *self.findings))

    @property
    def verdict(self) -> Verdict:
        """Return "good", "undecided", "caution" or "not answerable": the worst finding decides, notes do not."""
        worst = self.findings[0].severity if self.findings else "note"
        return "good" if worst == "note" else worst

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return what speaks against the answer, or that nothing does."""
        against = tuple(finding.problem for finding in self.findings if finding.severity != "note")
        effective = self.measures.get("effective_rows")
        worth = (
            ""
            if effective is None
            else f"the log tells as much as {effective:,.0f} decisions of the target would, and "
        )
        return against or (f"{worth}nothing {'serious ' if self.findings else ''}speaks against it",)

    def by(self, period: str | None) -> "Diagnostics":
        """Return the same, with a table over time by some period, such as "week"; by default the log's size decides."""
        if self.history is None and period is not None:
            raise ParameterError(NO_TIME)
        return self if self.history is None else replace(self, history=self.history.by(period))

    def over_time(self, period: str | None = None) -> list[Period]:
        """Return the value in each hour, day, week, month, quarter or year; nothing where the log has no time."""
        found = self if period is None else self.by(period)
        return [] if found.history is None else found.history.table

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "DiagnosticsRecord":
        """Return what JSON answers say about the checks."""
        record: DiagnosticsRecord = {
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "findings": list(self.findings),
            "over_time": None if self.history is None else self.history.to_record(),
        }
        # The type does not name the measures: each diagnostic declares its own.
        return cast("DiagnosticsRecord", {**self.measures, **record})
