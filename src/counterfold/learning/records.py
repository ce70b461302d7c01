"""What JSON answers hold about learnt policies."""

from typing_extensions import TypedDict

from counterfold.base.records import Answer, Records
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.records import ClosedAnswerRecord
from counterfold.learning.limits import LimitLine
from counterfold.learning.result import ContenderLine, Simpler


class PolicyRecord(TypedDict):
    """How a learnt policy decides."""

    share: float
    """The share of decisions that it takes itself, from 0 to 1; the logger takes the others."""

    explore: float
    """The share of decisions that it makes at random."""

    actions: list[str]
    """The actions, in the order of its probabilities."""

    features: list[str]
    """The columns of the context that it looks at."""

    importance: dict[str, float]
    """How much each of the columns of numbers matters that they became. The shares add up to 1, or are all 0."""

    text: str
    """A readable description of the policy."""


class LearnedRecord(TypedDict):
    """A policy that was learnt from a log, and what it is worth."""

    beats_log: bool
    """Whether the policy earns more than the log did even at the lower end of its interval."""

    chosen: str
    """The chosen contender: the best one, or a simpler one that earns as much within noise."""

    simpler: Simpler | None
    """The best contender, if a simpler one is preferred to it; null if the best one is chosen."""

    sentence: str
    """Whether anything beats the log, in a sentence."""

    sample: int | None
    """How many rows of a large log the policy was trained on; all others evaluate it. Null if it was trained on all."""

    next_step: NextStep
    """What to do now."""

    policy: PolicyRecord
    """How the policy decides. Where nothing beats the log, it imitates the log, and may earn less."""

    contenders: list[ContenderLine]
    """The policies that competed."""

    left_out: dict[str, str]
    """Learners that did not apply, and why."""

    limits: list[LimitLine]
    """How the best contender keeps to each limit of what it may take."""

    evaluation: ClosedAnswerRecord
    """What the policy would have earned, by rows that took no part in learning or choosing it.

    The interval includes the uncertainty of training it anew on all rows, and its upper end what these are worth
    besides.
    """

    attempt: ClosedAnswerRecord
    """The same for the best contender, whether or not it was good enough."""


RECORDS = Records(
    parts={"policy": PolicyRecord, "contender": ContenderLine, "simpler": Simpler, "limit": LimitLine},
    answers={"learned": Answer("What `Learned.to_json` returns.", [LearnedRecord])},
)
