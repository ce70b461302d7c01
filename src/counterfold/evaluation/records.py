"""What JSON answers hold about evaluations and comparisons."""

from typing_extensions import TypedDict

from counterfold.base.records import Answer, Records
from counterfold.diagnostics import Verdict
from counterfold.diagnostics.records import ClosedDiagnosticsRecord
from counterfold.evaluation.decision import Decision, Standing
from counterfold.evaluation.guard import GuardLine
from counterfold.evaluation.guards import Guarded
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.over_time import DifferenceOverTime, PeriodDifference
from counterfold.evaluation.result import Candidate
from counterfold.evaluation.robustness import Carrier, Robustness
from counterfold.evidence.records import SegmentsRecord
from counterfold.log.records import EncodingRecord


class IntervalRecord(TypedDict):
    """An interval."""

    level: float
    """The probability with which it covers the true value."""

    low: float
    """The lower end."""

    high: float
    """The upper end."""

    method: str
    """The method that computed it, with its settings."""


class DifferenceRecord(TypedDict):
    """A difference to the log, or to another target."""

    value: float
    """How much more the target would have earned per decision, negative if less."""

    stderr: float
    """The standard error of the difference, paired row by row."""

    interval: IntervalRecord
    """The interval of the difference."""


class ClosedDifferenceRecord(DifferenceRecord):
    """A difference to the log."""


class ContextRecord(TypedDict):
    """Which columns are context, and which are not."""

    taken: list[str]
    """The columns that were taken as context."""

    left_out: dict[str, str]
    """Other columns, and why they were not taken."""

    encoded: dict[str, EncodingRecord]
    """Columns that were turned into numbers, and how."""


class AnswerRecord(TypedDict):
    """What a target would have earned, with everything to defend it."""

    value: float
    """What the target would have earned per decision. Do not rely on it unless `answerable`."""

    stderr: float
    """The standard error of the value, with the noise of fitting and choosing."""

    interval: IntervalRecord
    """The interval of the value."""

    logged: float
    """What the log earned per decision."""

    uplift: ClosedDifferenceRecord
    """The difference to the log. It is shrunk less than the value, so it may differ from `value` less `logged`."""

    selected: str
    """The estimator that gives the value, or the mixture of several."""

    selector: str
    """The selector that chose it, with its settings."""

    seed: int
    """The seed of everything random."""

    verdict: Verdict
    """good, undecided (a sound log that is too small), caution or not answerable: that of the worst finding."""

    answerable: bool
    """Whether the log can answer; false where the verdict is not answerable."""

    next_step: NextStep | None
    """What to do now. In a comparison, this goes by the difference and all guards, and is null for the baseline."""

    robustness: Robustness
    """How wrong the data may be before the conclusion fails."""

    diagnostics: ClosedDiagnosticsRecord
    """What the checks found."""

    left_out: dict[str, str]
    """Estimators that did not apply, and why."""

    context: ContextRecord
    """The columns of the context."""

    table: list[Candidate]
    """Every candidate, in the order in which they were given."""

    segments: list[SegmentsRecord] | None
    """A table for each column in `by`; null where none was named."""


class ClosedAnswerRecord(AnswerRecord):
    """An evaluation."""


class NamedAnswerRecord(AnswerRecord):
    """The evaluation of a target."""

    target: str
    """The target's name."""


class AnswerOfRewardRecord(AnswerRecord):
    """The evaluation by one of several rewards."""

    reward: str
    """The reward."""


class RewardsRecord(TypedDict):
    """The evaluations of one target by several rewards."""

    rewards: list[AnswerOfRewardRecord]
    """An evaluation by each reward, with its name as `reward`."""


class NamedDifferenceRecord(DifferenceRecord):
    """The difference of a target to the baseline."""

    target: str
    """The target's name."""

    answerable: bool
    """Whether the log can tell the difference."""

    simultaneous: IntervalRecord | None
    """The interval that covers together with those of all other targets that the log can answer for, at the same level.

    Null where there is no other.
    """

    next_step: NextStep
    """What to do about this target, by that interval."""

    over_time: DifferenceOverTime | None
    """Its difference to the baseline in each period; null where the log has no time."""

    segments: list[SegmentsRecord] | None
    """A table for each column in `by`, with differences to the baseline; null where none was named."""


class ComparisonRecord(TypedDict):
    """How much more several targets would have earned than the baseline."""

    baseline: str
    """What targets are compared with: `log`, or the name of a target."""

    decision: Decision | None
    """What all differences together say; null where the log cannot answer for any."""

    guarded: list[Guarded]
    """Whether each target but the baseline keeps to all guards; empty where there are none."""

    differences: list[NamedDifferenceRecord]
    """A difference for each target but the baseline."""

    evaluations: list[NamedAnswerRecord]
    """An evaluation for each target, with its name as `target`."""


RECORDS = Records(
    parts={
        "interval": IntervalRecord,
        "next_step": NextStep,
        "robustness": Robustness,
        "carrier": Carrier,
        "difference": DifferenceRecord,
        "closed_difference": ClosedDifferenceRecord,
        "candidate": Candidate,
        "answer": AnswerRecord,
        "closed_answer": ClosedAnswerRecord,
        "named_answer": NamedAnswerRecord,
        "answer_of_reward": AnswerOfRewardRecord,
        "named_difference": NamedDifferenceRecord,
        "difference_over_time": DifferenceOverTime,
        "period_difference": PeriodDifference,
        "standing": Standing,
        "decision": Decision,
        "guard_line": GuardLine,
        "guarded": Guarded,
    },
    answers={
        "evaluation": Answer("What `Evaluation.to_json` returns.", [ClosedAnswerRecord]),
        "comparison": Answer("What `Comparison.to_json` returns.", [ComparisonRecord]),
        "reward_evaluations": Answer("What `RewardEvaluations.to_json` returns.", [RewardsRecord]),
    },
)
