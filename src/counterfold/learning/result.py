"""Learned: a policy, what it is worth by rows that it was not learnt from, and what it competed with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from counterfold.base import messages, standard_json
from counterfold.base.display import Reported
from counterfold.base.records import as_dictionary
from counterfold.diagnostics import Verdict
from counterfold.evaluation.next_step import NextStep
from counterfold.evaluation.result import Evaluation
from counterfold.learning.limits import LimitLine
from counterfold.policies.learned.policy import Policy

if TYPE_CHECKING:
    from counterfold.learning.records import LearnedRecord


@dataclass(frozen=True)
class ContenderLine:
    """A policy that competed: a learner, and the share of decisions that it takes from the logger.

    Its interval is as if it had been the only contender. Those of chosen contenders are too good on average;
    `Learned.evaluation` is corrected for that.
    """

    contender: str
    """Its name."""

    value: float
    """What it would have earned per decision, by rows that it was not trained on."""

    gain: float
    """How much more than the log."""

    low: float
    """The lower end of the interval of the gain, as if it had been the only contender."""

    high: float
    """The upper end of the interval."""

    verdict: Verdict
    """good, undecided (a sound log that is too small), caution or not answerable."""

    folds: int
    """In how many folds the rows of all other folds choose it; 0 on a large log, where no fold chooses."""

    chosen: bool
    """Whether all rows choose it; on a large log, the rows that it was trained on."""


@dataclass(frozen=True)
class Simpler:
    """A contender that earns no more than the chosen one beyond noise."""

    contender: str
    """The contender with the largest lower bound."""

    difference: float
    """How much more it earns than the chosen one."""

    stderr: float
    """The standard error of the difference."""


@dataclass(frozen=True, eq=False)
class Learned(Reported):
    """A policy that was learnt from a log, and what it is worth.

    - `policy`: what to do; `policy.predict_proba(context)`, `policy.describe()`, `policy.save("policy.skops")`.
    - `evaluation`: what the policy would have earned, by rows that took no part in learning or choosing it.
    - `attempt`: the same of the best contender, whether or not it was good enough; if it was, that is the `evaluation`.
    - `attempted`: the policy of the best contender; if it was not good enough, an A/B test may show that it is.
    - `beats_log`: whether it earns more than the log did even at the lower end of its interval, if the verdict on the
      `evaluation` is no caution that stands. Otherwise nothing beats the log safely, and the `policy` only imitates it,
      as far as the context tells: keep what you have.
    - `table`: a line for each contender, with the three best constant arms; `chosen` is the name of the chosen one;
      `left_out` says which learners did not apply and why.
    - `simpler`: the contender with the largest lower bound, where a simpler one that earns as much within noise is
      chosen in its place. None if the best one itself is chosen.
    - `limits`: how the best contender keeps to each limit of what it takes.
    - `sample`: from how many rows of a large log it was learnt; all others value it. None if it was learnt from all.
    """

    policy: Policy
    evaluation: Evaluation
    attempt: Evaluation
    attempted: Policy
    beats_log: bool
    chosen: str
    table: list[ContenderLine]
    left_out: Mapping[str, str]
    limits: Sequence[LimitLine] = ()
    sample: int | None = None
    simpler: Simpler | None = None

    @property
    def next_step(self) -> NextStep:
        """Return what to do now."""
        return self.adapt_step(self.attempt.next_step)

    def adapt_step(self, step: NextStep) -> NextStep:
        """Return what to do now, from what to do about the attempt: where it does not beat the log, keep that."""
        if self.beats_log or not self.attempt.answerable:
            return step
        if self.attempt.uplift().value <= 0:
            return NextStep("keep", "Keep what you have; nothing that was learnt looks better.")
        if step.action in {"keep", "log more"}:  # which say so
            return NextStep("keep", step.sentence) if step.action == "keep" else step
        sentence = f"Keep what you have; the best learnt policy is not ready. {step.sentence}"
        return replace(step, sentence=sentence) if step.action == "A/B test" else NextStep("keep", sentence)

    @property
    def fallback(self) -> str:
        """Say what the policy does where nothing beats the log; nothing where something does."""
        if self.beats_log:
            return ""
        is_bound = bool(self.limits) or not self.policy.allowed.all()
        bounds = " and as limits and forbidden actions allow" if is_bound else ""
        explores = ", but for what it explores" if self.policy.explore else ""
        return f"imitates the log, as far as the context tells{bounds}{explores}; it may earn less than the log did"

    @property
    def comparison(self) -> str:
        """Say that a simpler policy does as well as the best one; nothing where the best one was chosen."""
        if self.simpler is None:
            return ""
        name = messages.show(self.chosen)
        other = messages.show(self.simpler.contender)
        gap = f"{self.simpler.difference:+.2g}, standard error {self.simpler.stderr:.2g}"
        return f" {name} does as well as {other} ({gap}), and is simpler."

    @property
    def sentence(self) -> str:
        """Say whether anything beats the log, and by how much; a caution comes first."""
        gap = self.attempt.uplift()
        low, high = gap.interval()
        by = f"{gap.value:+.3g} per decision ({low:+.3g} to {high:+.3g})"
        name = messages.show(self.chosen)
        if self.beats_log:
            doubt = self.attempt.diagnostics.findings[0].problem if self.attempt.verdict == "caution" else None
            beats = f"{name} beats the log: {by}.{self.comparison}"
            return beats if doubt is None else f"Check first: {doubt}. If that is no reason to doubt it, {beats}"
        if not self.attempt.answerable:
            return "Nothing beats the log safely: the log cannot tell what the best learnt policy would earn."
        return f"Nothing beats the log safely: the difference of the best learnt policy, {name}, is {by}."

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "LearnedRecord":
        """Return what JSON answers say about the policy and its contenders."""
        return {
            "beats_log": self.beats_log,
            "chosen": self.chosen,
            "simpler": self.simpler,
            "sentence": self.sentence,
            "sample": self.sample,
            "next_step": self.next_step,
            "policy": {
                "share": self.policy.share,
                "explore": self.policy.explore,
                "actions": [messages.show(str(label)) for label in self.policy.labels],
                "features": list(self.policy.features.names),
                "importance": dict(self.policy.importance),
                "text": self.policy.describe(),
            },
            "contenders": self.table,
            "left_out": dict(self.left_out),
            "limits": list(self.limits),
            "evaluation": self.evaluation.to_record(),
            "attempt": self.attempt.to_record(),
        }

    def to_json(self) -> str:
        """Return the result as standard JSON; a number that is not finite is null."""
        return standard_json.write_answer(self.to_dict())

    def __repr__(self) -> str:
        return f"Learned({messages.clean_sentence(self.sentence)})"
