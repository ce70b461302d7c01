"""Comparison: how much more several targets would have earned than the log or than one of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from counterfold.base import messages, standard_json
from counterfold.base.cached import cached_property
from counterfold.base.display import Reported
from counterfold.base.errors import ParameterError
from counterfold.base.records import as_dictionary
from counterfold.diagnostics import Diagnostics, Verdict
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.decision import LOG, Decision, Field
from counterfold.evaluation.guard import Guard
from counterfold.evaluation.guards import Guarded, Guards, heed_guards
from counterfold.evaluation.next_step import NextStep, Trial, advise
from counterfold.evaluation.over_time import DifferenceOverTime, compare_over_time
from counterfold.evaluation.result import Evaluation, describe_segments, judge_segments
from counterfold.evidence.segments.answers import Segment, SegmentedColumn
from counterfold.intervals.base import Bounds
from counterfold.policies.given import has_fixed_shares

if TYPE_CHECKING:
    from counterfold.evaluation.records import ComparisonRecord, NamedAnswerRecord, NamedDifferenceRecord


@dataclass(frozen=True)
class Difference:
    """How much more one target would have earned than the baseline, with an interval, and the verdict on it.

    The verdict is the worse one of the target and the baseline. `simultaneous` is the interval that covers together
    with those of the other targets; None if there is no other, or if the log cannot answer.
    """

    target: str
    value: float
    stderr: float
    low: float
    high: float
    verdict: str
    simultaneous: Bounds | None = None

    def __str__(self) -> str:
        name = messages.show(self.target)
        if self.verdict == "not answerable":
            return f"{name} {self.verdict}"
        return f"{name} {self.value:+.4g}, from {self.low:+.4g} to {self.high:+.4g}, {self.verdict}"


@dataclass(frozen=True, eq=False)
class Comparison(Reported):
    """Evaluations of several targets on one log, and their differences to `baseline`, or to the log if that is None.

    - `comparison["name"]` is the evaluation of a target. With a baseline, its findings on harmed segments and on a
      small log are about the difference to the baseline, not to the log.
    - `table` has a line for each difference; `pandas.DataFrame` and `polars.DataFrame` accept it.
    - `simultaneous` are the intervals that cover all differences at once.
    - `decision` is which target to choose by all differences together, and which targets may be the best.
    - `guarded` has a line for each target if there are `guards`: whether it keeps to all of them. The findings of
      evaluations then include cautions about the rewards of guards.
    """

    evaluations: Mapping[str, Evaluation]
    baseline: str | None = None
    guards: Guards | None = None

    def __post_init__(self) -> None:
        evaluations = dict(self.evaluations)
        if self.baseline is not None:
            baseline = evaluations[self.baseline]
            evaluations = {
                name: evaluation.judge_against(baseline, self.baseline) for name, evaluation in evaluations.items()
            }
        if self.guards is not None:
            idle = self.guards.list_idle()
            evaluations = {
                name: evaluation.with_cautions([*self.guards.list_cautions(name), *idle])
                for name, evaluation in evaluations.items()
            }
        object.__setattr__(self, "evaluations", evaluations)

    def __getitem__(self, target: str) -> Evaluation:
        return self.evaluations[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @cached_property
    def differences(self) -> dict[str, Estimate]:
        """Return how much more each target would have earned, paired row by row."""
        baseline = self._baseline_evaluation
        return {
            name: evaluation.uplift(baseline) for name, evaluation in self.evaluations.items() if name != self.baseline
        }

    @property
    def _baseline_evaluation(self) -> Evaluation | None:
        """Return the evaluation of the baseline; None if that is the log."""
        return None if self.baseline is None else self.evaluations[self.baseline]

    @property
    def table(self) -> list[Difference]:
        """Return a line for each difference."""
        return [self._describe(name, gap) for name, gap in self.differences.items()]

    def _describe(self, name: str, gap: Estimate) -> Difference:
        """Return the line of a difference."""
        bounds = gap.interval()
        return Difference(
            target=name,
            value=gap.value,
            stderr=gap.stderr,
            low=bounds.low,
            high=bounds.high,
            verdict=self.judge(name).verdict,
            simultaneous=self.simultaneous.get(name),
        )

    @cached_property
    def field(self) -> Field | None:
        """Return the policies that the log can answer for; None if it cannot answer for any difference."""
        answerable = [name for name in self.differences if self.is_answerable(name)]
        if not answerable:
            return None
        compared = {*answerable, self.baseline}
        allowed = None
        if self.guards is not None:
            allowed = frozenset(guarded.target for guarded in self.guarded if guarded.passes)
        # What the log earned and the seed are the same in all evaluations.
        first = next(iter(self.evaluations.values()))
        return Field(
            logged=first.logged,
            targets={name: one.estimate for name, one in self.evaluations.items() if name in compared},
            baseline=self.baseline,
            seed=first.seed,
            allowed=allowed,
        )

    @cached_property
    def guarded(self) -> list[Guarded]:
        """Return for each target but the baseline whether it keeps to all guards."""
        if self.guards is None:
            return []
        return [self.guards.judge(name) for name in self.differences]

    @cached_property
    def decision(self) -> Decision | None:
        """Return which target to choose by all differences together; None if the log cannot answer for any."""
        if self.field is None:
            return None
        decision = self.field.decide()
        if decision.choice is None:
            return decision
        return replace(decision, verdict=self.judge(decision.choice).verdict)

    @cached_property
    def simultaneous(self) -> dict[str, Bounds]:
        """Return intervals that cover all differences at once, if the log can answer for several.

        They are wider than those of each difference alone. The more alike the targets are, the less wider they are.
        """
        widened = {} if self.field is None else self.field.widened
        if len(widened) < 2:
            return {}
        return {name: gap.interval() for name, gap in widened.items()}

    def judge(self, target: str) -> Diagnostics:
        """Return the diagnostics of the target or of the baseline, whichever have the worse verdict."""
        names = [target] if self.baseline is None else [target, self.baseline]
        diagnostics = [self.evaluations[name].diagnostics for name in names]
        return max(diagnostics, key=lambda judged: get_args(Verdict).index(judged.verdict))

    def advise(self, target: str, *, logged: str = "the log did") -> NextStep:
        """Return what to do about a target, by its difference to the baseline and the worse verdict of both.

        If there are several targets, one is shipped only if its simultaneous interval is above 0. `logged` is what
        sentences say of the log if that is the baseline: "it would earn more than the log did".
        """
        evaluation = self.evaluations[target]
        baseline = self._baseline_evaluation
        baseline_words = logged if self.baseline is None else f"`{messages.show(self.baseline)}` would"
        widened = {} if self.field is None else self.field.widened
        trial = Trial(
            gap=widened[target] if target in widened else evaluation.uplift(baseline),
            value=evaluation.planned_value,
            logged=evaluation.logged,
            contents=evaluation.contents,
            design=evaluation.design if baseline is None else evaluation.design.join(baseline.design),
        )
        step = advise(trial, self.judge(target), baseline_words)
        for guarded in self.guarded:
            if guarded.target == target and not guarded.passes:
                return heed_guards(step, guarded, evaluation.level)
        return step

    def is_answerable(self, target: str) -> bool:
        """Say whether the log can answer how much more a target would have earned than the baseline."""
        if self._baseline_evaluation is not None and not self._baseline_evaluation.answerable:
            return False
        return self.evaluations[target].answerable

    def over_time(self, period: str | None = None) -> dict[str, DifferenceOverTime]:
        """Return the difference of each target to the baseline in each period; nothing if the log has no time.

        Without a `period` it is that of the evaluations.
        """
        differences: dict[str, DifferenceOverTime] = {}
        for name in self.differences:
            difference = compare_over_time(self.evaluations[name], self._baseline_evaluation, period)
            if difference is not None:
                differences[name] = difference
        return differences

    @cached_property
    def segments(self) -> dict[str, list[Segment]]:
        """Return a line for each segment of every target, with its difference to the baseline there."""
        return {name: judge_segments(self._segment(name), self.judge(name)) for name in self.differences}

    def _segment(self, target: str) -> tuple[SegmentedColumn, ...]:
        """Return the answers for all segments, with differences to the baseline."""
        evaluation = self.evaluations[target]
        if self._baseline_evaluation is None:
            return evaluation.segmented
        return evaluation.subtract_segments(self._baseline_evaluation)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "ComparisonRecord":
        """Return the comparison as JSON answers describe it."""
        over_time = self.over_time()
        steps = {name: self.advise(name) for name in self.differences}
        differences: list[NamedDifferenceRecord] = []
        for name, gap in self.differences.items():
            evaluation = self.evaluations[name]
            simultaneous = self.simultaneous.get(name)
            differences.append(
                {
                    "target": name,
                    "answerable": self.is_answerable(name),
                    **evaluation.difference(gap),
                    "simultaneous": None if simultaneous is None else evaluation.ends(simultaneous),
                    "next_step": steps[name],
                    "over_time": over_time.get(name),
                    "segments": describe_segments(evaluation.segmented, self.segments[name]),
                }
            )
        evaluations: list[NamedAnswerRecord] = [
            {"target": name, **evaluation.to_record(), "next_step": steps.get(name)}
            for name, evaluation in self.evaluations.items()
        ]
        return {
            "baseline": self.baseline or LOG,
            "decision": self.decision,
            "guarded": self.guarded,
            "differences": differences,
            "evaluations": evaluations,
        }

    def to_json(self) -> str:
        """Return the comparison as standard JSON; a number that is not finite is null."""
        return standard_json.write_answer(self.to_dict())

    def __repr__(self) -> str:
        return f"Comparison(with {messages.show(self.baseline or 'the log')}: {'; '.join(map(str, self.table))})"


def guard_comparison(
    by_reward: Mapping[str, Mapping[str, Evaluation]], baseline: str | None, guards: Sequence[Guard], decisive: str
) -> Comparison:
    """Return a comparison by the `decisive` reward, with guards on other rewards.

    `by_reward` are the evaluations by reward and target.
    """
    judged = {reward: Comparison(evaluations, baseline).evaluations for reward, evaluations in by_reward.items()}
    return Comparison(
        evaluations=judged[decisive],
        baseline=baseline,
        guards=Guards(rules=tuple(guards), evaluations=judged, decisive=decisive, baseline=baseline),
    )


def list_targets(targets: Any) -> Mapping[str, Any]:
    """Return the targets to compare by their names: those of a mapping, or of columns."""
    if isinstance(targets, Mapping) and not has_fixed_shares(targets):
        return require_readable_names(targets)
    names = [targets] if isinstance(targets, str) else targets
    is_list_of_names = isinstance(names, Sequence) and all(isinstance(name, str) for name in names)
    if is_list_of_names and len(set(names)) == len(names):
        return dict(zip(names, names, strict=True))
    wanted = "a mapping of names to targets, or different names of columns"
    raise ParameterError(f"`targets` must be {wanted}, got {messages.shorten(targets)}.")


def require_readable_names(targets: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the targets if people can tell their names from each other and from the log; refuse others."""
    for name in targets:
        text = str(name).strip()
        # `resolve_baseline` refuses the exact name "log" with a message that says more.
        is_like_log = text.lower() == LOG and name != LOG
        if name is None or not text or is_like_log:
            shown = "None" if name is None else repr(str(name))
            raise ParameterError(f"`targets` must have names that people can tell from each other, got {shown}.")
    return targets


def add_baseline(targets: Mapping[str, Any], baseline: str | None) -> Mapping[str, Any]:
    """Return targets that were named by their columns or texts, with the baseline if it is not among them.

    >>> add_baseline({"new": "new"}, "old")
    {'new': 'new', 'old': 'old'}
    """
    if not isinstance(baseline, str) or baseline == LOG or baseline in targets:
        return targets
    return {**targets, baseline: baseline}


def resolve_baseline(baseline: str | None, targets: Collection[str]) -> str | None:
    """Return the name of the target to compare with, which must be one of several; None for the log.

    >>> resolve_baseline("log", ["new"]) is None
    True
    """
    if LOG in targets:
        rule = f"other names than `{LOG}`, which is what the log's own policy is called"
        raise ParameterError(f"`targets` must have {rule}, got `{LOG}`. Give that target another name.")
    if baseline is None or baseline == LOG:
        return None
    if baseline not in list(targets):  # a list compares with ==, as the value of a user may have no hash
        names = messages.list_names(targets)
        raise ParameterError(f"`baseline` must be one of the targets, {names}, got {messages.show(str(baseline))}.")
    if len(targets) == 1:
        alone = f"{messages.show(baseline)} alone: nothing to compare"
        raise ParameterError(f"`baseline` must be one of several targets, got {alone}.")
    return baseline
