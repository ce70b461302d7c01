"""What the commands print with `--json`."""

from typing_extensions import TypedDict

from counterfold.base.records import Answer, Records
from counterfold.diagnostics.records import DiagnosticsRecord
from counterfold.evaluation.records import AnswerRecord, ComparisonRecord, NamedAnswerRecord
from counterfold.learning.records import LearnedRecord
from counterfold.log.records import LogRecord
from counterfold.report.methods import Method


class EvaluateRecord(TypedDict):
    """One reward."""

    log: LogRecord
    """What the log holds."""

    evaluations: list[NamedAnswerRecord]
    """An evaluation for each target, with its name as `target`."""


class EvaluateOfRewardRecord(EvaluateRecord):
    """What `evaluate` reports for one of several rewards."""

    reward: str
    """The reward."""


class EvaluateRewardsRecord(TypedDict):
    """Several rewards."""

    rewards: list[EvaluateOfRewardRecord]
    """The same for each reward, with its name as `reward`."""


class CompareRecord(ComparisonRecord):
    """One reward."""

    log: LogRecord
    """What the log holds."""


class CompareOfRewardRecord(CompareRecord):
    """What `compare` reports for one of several rewards."""

    reward: str
    """The reward."""


class CompareRewardsRecord(TypedDict):
    """Several rewards."""

    rewards: list[CompareOfRewardRecord]
    """The same for each reward, with its name as `reward`."""


class NamedDiagnosticsRecord(DiagnosticsRecord):
    """The checks of a target."""

    target: str
    """The target's name."""


class CheckRecord(TypedDict):
    """One reward."""

    log: LogRecord
    """What the log holds."""

    diagnostics: list[NamedDiagnosticsRecord]
    """What the checks found for each target, with its name as `target`."""


class CheckOfRewardRecord(CheckRecord):
    """What `check` reports for one of several rewards."""

    reward: str
    """The reward."""


class CheckRewardsRecord(TypedDict):
    """Several rewards."""

    rewards: list[CheckOfRewardRecord]
    """The same for each reward, with its name as `reward`."""


class LearnRecord(LearnedRecord):
    """A policy that was learnt, and where it was written."""

    log: LogRecord
    """What the log holds."""

    out: str | None
    """The file that the policy was written to; null if nothing beats the log, as nothing is written then."""

    attempt_out: str | None
    """The file that the best attempt was written to, whether or not it beats the log; null if not asked for."""


class DemoRecord(AnswerRecord):
    """An evaluation on embedded data."""

    truth: float
    """The true value of the policy."""


class MethodsRecord(TypedDict):
    """All methods."""

    methods: list[Method]
    """Every method."""


def describe_command(name: str) -> str:
    """Return the description of the answer of a command that may have several rewards."""
    return f"What `counterfold {name} --json` prints; with several rewards, all but the version is under `rewards`."


RECORDS = Records(
    parts={
        "named_diagnostics": NamedDiagnosticsRecord,
        "evaluate_of_reward": EvaluateOfRewardRecord,
        "compare_of_reward": CompareOfRewardRecord,
        "check_of_reward": CheckOfRewardRecord,
        "method": Method,
    },
    answers={
        "evaluate": Answer(describe_command("evaluate"), [EvaluateRecord, EvaluateRewardsRecord]),
        "compare": Answer(describe_command("compare"), [CompareRecord, CompareRewardsRecord]),
        "check": Answer(describe_command("check"), [CheckRecord, CheckRewardsRecord]),
        "learn": Answer("What `counterfold learn --json` prints.", [LearnRecord]),
        "demo": Answer("What `counterfold demo --json` prints.", [DemoRecord]),
        "methods": Answer("What `counterfold methods --json` prints.", [MethodsRecord], has_questions=False),
    },
)
