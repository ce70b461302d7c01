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
from counterfold.evidence.figure_tables import Shown
from counterfold.evidence.history import Period
from counterfold.evidence.segments.answers import VERDICTS, Segment, SegmentedColumn, subtract_answers
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

    - `stderr` and `interval` include the noise of fitting a reward model, if one was fitted, and of choosing.
    - `uplift` is the difference to `logged`, the mean reward of the log, or to another target. Its error is paired,
      because `estimate` keeps the contributions of the rows.
    - `table` has a line for every candidate, with its error as if the reward model were fixed;
      `pandas.DataFrame(table)` and `polars.DataFrame(table)` accept it.
    - `left_out` are the estimators that did not apply, with the reasons.
    - `contents` describes the log: `contents.context` are the columns of its context, and `contents.left_out` are
      columns that were left out of it, with the reasons.
    - `exhibits` are the tables behind the figures of a report, such as `exhibits["weights"].lines`.
    - `design` is how the log assigned actions, and whether the target is the policy that logged.
    - `answerable` is False if the `verdict` is "not answerable". The numbers are then there, but they are not to be
      relied on: JSON says so, and neither `repr` nor the terminal shows them, unless `--all` asks for all candidates.
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
        low, high = self.estimate.interval()
        return Bounds(self.keep_possible(low), self.keep_possible(high))

    @property
    def stderr(self) -> float:
        """Return the standard error of the value."""
        return self.estimate.stderr

    @property
    def planned_value(self) -> float:
        """Return the value that differences are computed from, which is shrunk less. A/B tests are planned with it."""
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
        trial = Trial(
            gap=self.uplift(),
            value=self.planned_value,
            logged=self.logged,
            contents=self.contents,
            design=self.design,
        )
        return advise(trial, self.diagnostics)

    @property
    def robustness(self) -> Robustness:
        """Return how wrong the data may be before the interval of the difference to the log includes 0."""
        return Robustness.of(self.exhibits, self.uplift().interval())

    def count_rows(self, width: float) -> int:
        """Return how many rows like these are needed for an interval of this width of the difference to the log.

        The width shrinks with the square root of the number of rows.
        """
        validation.above(0, width=width)
        low, high = self.uplift().interval()
        return max(1, math.ceil(self.contents.rewards.count * ((high - low) / width) ** 2))

    def uplift(self, other: "Evaluation | None" = None) -> Estimate:
        """Return how much more the target would have earned than the log, or than another target on the same log.

        The error is paired row by row, so it may be much smaller than those of both values; the difference of two
        equal targets is exactly 0. Its interval has the level and method of this evaluation. The default selector
        shrinks a value towards what the log earned, for a small squared error, and shrinks a difference less.
        Therefore the difference may deviate a little from `value` minus `logged.value`.
        """
        if other is None:
            return self.estimate - self.logged
        validation.an_object(Evaluation, "an evaluation of another target on the same log", other=other)
        return self.estimate - other.estimate

    def subtract_segments(self, other: "Evaluation") -> tuple[SegmentedColumn, ...]:
        """Return the answers for all segments, with differences to another target on the same log."""
        uplift = self.uplift(other)
        columns = zip(self.segmented, other.segmented, strict=True)
        return tuple(subtract_answers(own_column, other_column, uplift) for own_column, other_column in columns)

    def judge_against(self, baseline: "Evaluation", name: str) -> "Evaluation":
        """Return the same evaluation, with findings on differences to a baseline of this name instead of the log.

        These are the findings on harmed segments, and on whether the log is too small.
        """
        small_log = SmallLog()
        reward_level = self.diagnostics.measures["reward_level"] or 0.0
        size = small_log.compare(self.uplift(baseline), reward_level, f"`{messages.show(name)}`")
        diagnostics = self.diagnostics.with_measured(small_log, size)
        if self.segmented:
            harmed_segment = HarmedSegment()
            harm = harmed_segment.find_harm(self.subtract_segments(baseline), name)
            diagnostics = diagnostics.with_measured(harmed_segment, harm)
        return replace(self, diagnostics=diagnostics)

    def with_cautions(self, cautions: Sequence[Finding]) -> "Evaluation":
        """Return the same evaluation, with cautions about something else that the decision depends on."""
        if not cautions:
            return self
        return replace(self, diagnostics=self.diagnostics.with_cautions(cautions))

    def by(self, period: str | None) -> "Evaluation":
        """Return the same evaluation, with a table over time by this period, such as "week".

        Without a period, the size of the log decides.
        """
        return replace(self, diagnostics=self.diagnostics.by(period))

    def over_time(self, period: str | None = None) -> list[Period]:
        """Return a line for each hour, day, week, month, quarter or year: the value there, and what the log earned.

        The value is estimated by DR, or by SNIPS if there are no predictions. Without a `period`, it is the shortest
        one that gives at most 31 periods with enough rows each. The table is empty if the log has no time.
        """
        return self.diagnostics.over_time(period)

    @property
    def segments(self) -> list[Segment]:
        """Return a line for each segment of every column in `by`: the value there and its difference to the log.

        No verdict on a segment is better than that on the whole log. The table is empty if no column was named.
        """
        return judge_segments(self.segmented, self.diagnostics)

    def keep_possible(self, number: float) -> float:
        """Return a value within the possible rewards, from which rounding errors may have moved it."""
        low, high = self.estimate.unseen.limits
        return min(max(number, low), high)

    def ends(self, bounds: Bounds) -> "IntervalRecord":
        """Return an interval of the level and method of this evaluation as JSON answers describe it."""
        return {"level": self.level, "low": bounds.low, "high": bounds.high, "method": repr(self.method)}

    def difference(self, gap: Estimate) -> "DifferenceRecord":
        """Return a difference to another value as JSON answers describe it."""
        return {"value": gap.value, "stderr": gap.stderr, "interval": self.ends(gap.interval())}

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "AnswerRecord":
        """Return the evaluation as JSON answers describe it."""
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


NOT_ABOUT_SEGMENTS = {"harmed-segment", "outcome-segments", "small-log"}
"""Diagnostics whose findings are about single segments or about the whole log, and cast no doubt on all segments."""


def judge_segments(columns: Sequence[SegmentedColumn], diagnostics: Diagnostics) -> list[Segment]:
    """Return a line for each segment. No verdict on a segment is better than that on the whole log."""
    lines = [line for column in columns for line in column.table]
    worst = None
    for finding in diagnostics.findings:  # the worst first
        if finding.severity != "note" and finding.name not in NOT_ABOUT_SEGMENTS:
            worst = finding
            break
    # A log that is only too small is no reason: each segment has a verdict of its own on that.
    if worst is None or worst.severity == "note" or worst.severity == "undecided":  # noqa: PLR1714 (mypy reads these)
        return lines
    best_verdict = worst.severity
    reason = f"of the whole log: {worst.problem}"
    judged = []
    for line in lines:
        if VERDICTS.index(line.verdict) < VERDICTS.index(best_verdict):
            judged.append(replace(line, verdict=best_verdict, reason=reason))
        else:
            judged.append(line)
    return judged


def describe_segments(columns: Sequence[SegmentedColumn], lines: Sequence[Segment]) -> "list[SegmentsRecord] | None":
    """Return the segments as JSON answers describe them, column by column; None if no column was named."""
    if not columns:
        return None
    records: list[SegmentsRecord] = []
    for column in columns:
        table = [line for line in lines if line.column == column.name]
        records.append({"column": column.name, "note": column.note, "table": table})
    return records
