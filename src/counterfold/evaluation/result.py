"""Evaluation: the answer, with everything needed to defend it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from counterfold.base import messages, standard_json, validation
from counterfold.base.cached import cached_property
from counterfold.base.display import Reported
from counterfold.base.records import as_dictionary
from counterfold.diagnostics import Diagnostics, Finding, Verdict
from counterfold.diagnostics.harmed_segment import HarmedSegment
from counterfold.diagnostics.small_log import SmallLog
from counterfold.estimators.base import Estimator
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.design import Design
from counterfold.evaluation.next_step import NextStep, Trial, advise
from counterfold.evaluation.robustness import Robustness
from counterfold.evidence.history import Period
from counterfold.evidence.segments.answers import VERDICTS, Segment, SegmentedColumn, subtract_answers
from counterfold.exhibits import Shown
from counterfold.intervals.base import Bounds, Interval
from counterfold.log.contents import Contents
from counterfold.selectors.base import Selector

if TYPE_CHECKING:
    from counterfold.evaluation.records import AnswerRecord, DifferenceRecord, IntervalRecord
    from counterfold.evidence.records import SegmentsRecord


@dataclass(frozen=True)
class Candidate:
    """An estimator that competed."""

    name: str
    """Its name, with its parameters."""

    value: float
    """Its estimate of what the target would have earned."""

    stderr: float
    """The standard error of the estimate, as if the reward model were fixed."""

    score: float
    """The score by which the selector ranks it, the lower the better."""

    chosen: bool
    """Whether it has the largest share."""

    share: float
    """Its share in the answer: 1 if it alone was chosen, less where the selector mixes several."""


@dataclass(frozen=True, eq=False)
class Evaluation(Reported):
    """What the target would have earned per decision: `value` and `interval` by the estimator named `selected`.

    `stderr` and `interval` include the noise of fitting a reward model, if one was fitted, and of choosing.
    `table` has a line for every candidate, its error as if the reward model were fixed; `pandas.DataFrame(table)` and
    `polars.DataFrame(table)` take it as it is. `left_out` says which estimators did not apply and why. `contents` is
    what the log holds: `contents.context` are the columns of its context, and `contents.left_out` says which others
    might have been and why they are not. `exhibits` are the tables behind the pictures of a report, such as
    `exhibits["weights"].lines`. `estimate` keeps the contributions of the rows, so that differences have a
    paired error: `uplift` is the one to `logged`, the mean reward of the log, or to another target. `design` says how
    the log assigned actions, and whether the target is the policy that logged. Where the `verdict`
    is "not answerable", the numbers are there, but they are not to be relied on: `answerable` is False, JSON says so,
    and neither `repr` nor the terminal shows them, unless `--all` asks for all candidates.
    """

    estimate: Estimate
    level: float
    selected: str
    estimator: Estimator
    selector: Selector
    table: list[Candidate]
    left_out: dict[str, str]
    diagnostics: Diagnostics
    seed: int
    logged: Estimate
    method: Interval
    contents: Contents
    exhibits: Mapping[str, Shown] = field(default_factory=dict)
    segmented: tuple[SegmentedColumn, ...] = ()
    design: Design = field(default_factory=Design)

    @property
    def value(self) -> float:
        """Return the estimated value of the target, within the possible rewards if these are known."""
        return self.keep_possible(self.estimate.value)

    @cached_property
    def interval(self) -> Bounds:
        """Return the interval of the value, at the `level` and by the `method` that were asked for."""
        return Bounds(*map(self.keep_possible, self.estimate.interval()))

    @property
    def stderr(self) -> float:
        """Return the standard error of the value."""
        return self.estimate.stderr

    @property
    def planned_value(self) -> float:
        """Return the value that differences are made of, which is shrunk less: A/B tests are planned by it."""
        return self.keep_possible(self.estimate.in_differences.value)

    @property
    def verdict(self) -> Verdict:
        """Return "good", "undecided", "caution" or "not answerable", by the worst finding of the diagnostics."""
        return self.diagnostics.verdict

    @property
    def answerable(self) -> bool:
        """Say whether the log can answer at all; otherwise `value` and `interval` are not to be relied on."""
        return self.verdict != "not answerable"

    @property
    def next_step(self) -> NextStep:
        """Return what to do now: a word such as "ship" or "A/B test", and a sentence."""
        trial = Trial(self.uplift(), self.planned_value, self.logged, self.contents, self.design)
        return advise(trial, self.diagnostics)

    @property
    def robustness(self) -> Robustness:
        """Return how wrong the data may be before the difference to the log is no longer told from 0."""
        return Robustness.of(self.exhibits, self.uplift().interval())

    def count_rows(self, width: float) -> int:
        """Return how many rows like these an interval of the difference to the log needs that is so wide.

        It shrinks with the square root of the rows.
        """
        validation.above(0, width=width)
        low, high = self.uplift().interval()
        return max(1, math.ceil(self.contents.rewards.count * ((high - low) / width) ** 2))

    def uplift(self, other: "Evaluation | None" = None) -> Estimate:
        """Return how much more than the log, or than another target on the same log, the target would have earned.

        The error is paired row by row, so it may be much smaller than those of both values; the difference of two
        equal targets is exactly 0. Its interval has the level and method of this evaluation, unless told otherwise.
        The default selector shrinks a value towards what the log earned, for a small squared error, and a difference
        less. So this may differ a little from `value` less `logged.value`.
        """
        if other is not None:
            validation.an_object(Evaluation, "an evaluation of another target on the same log", other=other)
        return self.estimate - (self.logged if other is None else other.estimate)

    def subtract_segments(self, other: "Evaluation") -> tuple[SegmentedColumn, ...]:
        """Return the answers for all segments, with differences to another target on the same log."""
        whole, pairs = self.uplift(other), zip(self.segmented, other.segmented, strict=True)
        return tuple(subtract_answers(mine, theirs, whole) for mine, theirs in pairs)

    def judge_against(self, baseline: "Evaluation", name: str) -> "Evaluation":
        """Return the same, with findings on differences to a baseline instead of the log.

        These are harmed segments, and whether the log is too small.
        """
        small = SmallLog()
        level = self.diagnostics.measures["reward_level"] or 0.0
        size = small.compare(self.uplift(baseline), level, f"`{messages.show(name)}`")
        found = self.diagnostics.with_measured(small, size)
        if self.segmented:
            harm = HarmedSegment()
            found = found.with_measured(harm, harm.find_harm(self.subtract_segments(baseline), name))
        return replace(self, diagnostics=found)

    def with_cautions(self, cautions: Sequence[Finding]) -> "Evaluation":
        """Return the same, with cautions about something else that the decision depends on."""
        return replace(self, diagnostics=self.diagnostics.with_cautions(cautions)) if cautions else self

    def by(self, period: str | None) -> "Evaluation":
        """Return the same, with a table over time by some period, such as "week"; by default the log's size decides."""
        return replace(self, diagnostics=self.diagnostics.by(period))

    def over_time(self, period: str | None = None) -> list[Period]:
        """Return a line for each hour, day, week, month, quarter or year: the value there, and what the log earned.

        The value is that of DR, or of SNIPS where nothing is predicted. Without a `period` it is the shortest of which
        there are at most 31, with enough rows each. The table is empty where the log has no time.
        """
        return self.diagnostics.over_time(period)

    @property
    def segments(self) -> list[Segment]:
        """Return a line for each segment of every column in `by`: the value there and its difference to the log.

        No verdict on a segment is better than that on the whole. The table is empty where no column was named.
        """
        return judge_segments(self.segmented, self.diagnostics)

    def keep_possible(self, number: float) -> float:
        """Return a value within the possible rewards, from which rounding errors may have moved it."""
        low, high = self.estimate.unseen.limits
        return min(max(number, low), high)

    def ends(self, bounds: Bounds) -> "IntervalRecord":
        """Return what JSON answers say about an interval of the level and method of this evaluation."""
        return {"level": self.level, "low": bounds.low, "high": bounds.high, "method": repr(self.method)}

    def difference(self, gap: Estimate) -> "DifferenceRecord":
        """Return what JSON answers say about a difference to another value."""
        return {"value": gap.value, "stderr": gap.stderr, "interval": self.ends(gap.interval())}

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "AnswerRecord":
        """Return what JSON answers say about the evaluation."""
        return {
            "value": self.value,
            "stderr": self.stderr,
            "interval": self.ends(self.interval),
            "logged": self.logged.value,
            "uplift": self.difference(self.uplift()),
            "selected": self.selected,
            "selector": repr(self.selector),
            "seed": self.seed,
            "verdict": self.verdict,
            "answerable": self.answerable,
            "next_step": self.next_step,
            "robustness": self.robustness,
            "diagnostics": self.diagnostics.to_record(),
            "left_out": self.left_out,
            "context": {
                "taken": list(self.contents.context),
                "left_out": dict(self.contents.left_out),
                "encoded": dict(self.contents.encoded),
            },
            "table": self.table,
            "segments": describe_segments(self.segmented, self.segments),
        }

    def to_json(self) -> str:
        """Return the answer as standard JSON; a number that is not finite is null."""
        return standard_json.write_answer(self.to_dict())

    def __repr__(self) -> str:
        if not self.answerable:
            return f"Evaluation({self.verdict}: {self.diagnostics.reasons[0]})"
        interval = f"{100 * self.level:g} % interval {self.interval.low:.4g} to {self.interval.high:.4g}"
        by = messages.clean_sentence(f"by {self.selected}, {self.verdict}")
        return f"Evaluation({self.value:.4g}, {interval}, {by})"


OWN = {"harmed-segment", "outcome-segments", "small-log"}
"""What is said of segments themselves, or of the whole alone, and is no reason to doubt all of them."""


def judge_segments(columns: Sequence[SegmentedColumn], diagnostics: Diagnostics) -> list[Segment]:
    """Return a line for each segment; no verdict on one is better than that on the whole."""
    lines = [line for column in columns for line in column.table]
    against = (one for one in diagnostics.findings if one.severity != "note" and one.name not in OWN)
    worst = next(against, None)
    # A log that is only too small is no reason: each segment has a verdict of its own on that.
    if worst is None or worst.severity == "note" or worst.severity == "undecided":  # noqa: PLR1714 (mypy reads these)
        return lines
    at_best, reason = worst.severity, f"of the whole log: {worst.problem}"
    return [
        line
        if VERDICTS.index(line.verdict) >= VERDICTS.index(at_best)
        else replace(line, verdict=at_best, reason=reason)
        for line in lines
    ]


def describe_segments(columns: Sequence[SegmentedColumn], lines: Sequence[Segment]) -> "list[SegmentsRecord] | None":
    """Return what JSON answers say about segments, column by column; None where no column was named."""
    if not columns:
        return None
    records: list[SegmentsRecord] = []
    for column in columns:
        table = [line for line in lines if line.column == column.name]
        records.append({"column": column.name, "note": column.note, "table": table})
    return records
