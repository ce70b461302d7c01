"""What JSON answers hold about experiments."""

from typing import Any, Literal

from typing_extensions import TypedDict

from counterfold.base.records import Answer, Records
from counterfold_lab.learning.results import Gain, Holding
from counterfold_lab.paper.reproduction import Cost
from counterfold_lab.paper.results import Line
from counterfold_lab.selection.results import Alarm, CheckAlarms, Coverage, Score


class SynthRecord(TypedDict):
    """A log whose truth is known."""

    path: str
    """Where the log was written."""

    files: int
    """The number of its files."""

    rows: int
    """Its rows."""

    bytes: int
    """Its size."""

    truth: dict[str, float]
    """The true value of each target."""

    settings: dict[str, Any]
    """The settings of the problem."""


class FigureRecord(TypedDict):
    """A figure of the paper."""

    figure: str
    """The figure."""

    lines: list[Line]
    """A line for each method on each dataset."""

    files: list[str]
    """The files that were written."""


class CostsRecord(TypedDict):
    """What choosing an estimator costs."""

    table: list[Cost]
    """A line for each method on each dataset."""

    files: list[str]
    """The files that were written."""


class SelectionRecord(TypedDict):
    """The benchmark of selection."""

    benchmark: Literal["selection"]
    """The benchmark."""

    part: str
    """The part of the problems."""

    scores: list[Score]
    """The errors of each method."""

    coverage: list[Coverage]
    """How often intervals cover the true value."""

    verdicts: list[Alarm]
    """How well verdicts warn of large errors."""

    checks: list[CheckAlarms]
    """How often checks raise an alarm."""

    files: list[str]
    """The files that were written."""


class LearningRecord(TypedDict):
    """The benchmark of learning."""

    benchmark: Literal["learning"]
    """The benchmark."""

    part: str
    """The part of the problems."""

    gains: list[Gain]
    """The gain of each method."""

    coverage: list[Holding]
    """How often intervals cover the true value."""

    files: list[str]
    """The files that were written."""


RECORDS = Records(
    parts={
        "figure_line": Line,
        "cost": Cost,
        "score": Score,
        "coverage": Coverage,
        "alarm": Alarm,
        "check_alarm": CheckAlarms,
        "gain": Gain,
        "holding": Holding,
    },
    answers={
        "synth": Answer("What `counterfold synth --json` prints.", [SynthRecord], has_questions=False),
        "figure": Answer("What `counterfold paper figureN --json` prints.", [FigureRecord], has_questions=False),
        "costs": Answer("What `counterfold paper table --json` prints.", [CostsRecord], has_questions=False),
        "selection": Answer(
            "What `counterfold bench selection --json` prints.", [SelectionRecord], has_questions=False
        ),
        "learning": Answer("What `counterfold bench learning --json` prints.", [LearningRecord], has_questions=False),
    },
)
