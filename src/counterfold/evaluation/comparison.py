"""Comparison: how much more several targets would have earned than the log did, or than one of them."""

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
    """How much more one target would have earned, with an interval, and the verdict on it.

    The verdict is that on the target's own value, or "not answerable" if the log cannot tell what the baseline earned.
    `simultaneous` is the interval that holds together with those of the other targets; None where there is no other,
    or where the log cannot answer.
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

    `comparison["name"]` is the evaluation of a target; `table` has a line for each difference, and `pandas.DataFrame`
    and `polars.DataFrame` take it as it is. `simultaneous` are the intervals that hold all at once, and `decision` is
    what the differences say together: which target to choose, and which may be the best. With `guards`, `guarded` has a
    line for each target: whether it keeps to all of them, and cautions about their rewards are among the findings of
    evaluations. With a baseline, those that speak of harmed segments or of a small log go by differences to that, not
    to the log.
    """

    evaluations: Mapping[str, Evaluation]
    baseline: str | None = None
    guards: Guards | None = None

    def __post_init__(self) -> None:
        judged = dict(self.evaluations)
        if self.baseline is not None:
            other = judged[self.baseline]
            judged = {name: one.judge_against(other, self.baseline) for name, one in judged.items()}
        if self.guards is not None:
            idle = self.guards.list_idle()
            cautions = {name: [*self.guards.list_cautions(name), *idle] for name in judged}
            judged = {name: one.with_cautions(cautions[name]) for name, one in judged.items()}
        object.__setattr__(self, "evaluations", judged)

    def __getitem__(self, target: str) -> Evaluation:
        return self.evaluations[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @cached_property
    def differences(self) -> dict[str, Estimate]:
        """Return how much more each target would have earned, paired row by row."""
        other = None if self.baseline is None else self.evaluations[self.baseline]
        return {name: one.uplift(other) for name, one in self.evaluations.items() if name != self.baseline}

    @property
    def table(self) -> list[Difference]:
        """Return a line for each difference."""
        return [self._describe(name, gap) for name, gap in self.differences.items()]

    def _describe(self, name: str, gap: Estimate) -> Difference:
        ends, together = gap.interval(), self.simultaneous.get(name)
        return Difference(name, gap.value, gap.stderr, ends.low, ends.high, self.judge(name).verdict, together)

    @cached_property
    def field(self) -> Field | None:
        """Return the policies that the log can answer for; None where that leaves nothing to compare."""
        first, known = next(iter(self.evaluations.values())), list(filter(self.is_answerable, self.differences))
        if not known:
            return None
        targets = {name: one.estimate for name, one in self.evaluations.items() if name in {*known, self.baseline}}
        allowed = None if self.guards is None else frozenset(one.target for one in self.guarded if one.passes)
        return Field(first.logged, targets, self.baseline, first.seed, allowed)

    @cached_property
    def guarded(self) -> list[Guarded]:
        """Return for each target but the baseline whether it keeps to all guards."""
        return [] if self.guards is None else [self.guards.judge(name) for name in self.differences]

    @cached_property
    def decision(self) -> Decision | None:
        """Return which target to choose by all differences together; None where the log cannot answer for any."""
        if self.field is None:
            return None
        found = self.field.decide()
        return found if found.choice is None else replace(found, verdict=self.judge(found.choice).verdict)

    @cached_property
    def simultaneous(self) -> dict[str, Bounds]:
        """Return intervals of the differences that hold all at once, if the log can answer for several.

        They are wider than those of each difference alone, the less the more alike targets are.
        """
        several = {} if self.field is None else self.field.widened
        return {name: gap.interval() for name, gap in several.items()} if len(several) > 1 else {}

    def judge(self, target: str) -> Diagnostics:
        """Return what speaks against a difference: the worse of what does against the target and the baseline."""
        names = [target] if self.baseline is None else [target, self.baseline]
        several = [self.evaluations[name].diagnostics for name in names]
        return max(several, key=lambda found: get_args(Verdict).index(found.verdict))

    def advise(self, target: str, *, logged: str = "the log did") -> NextStep:
        """Return what to do about a target, by its difference to the baseline and the worse verdict of both.

        Of several targets, one is shipped only if the interval that holds together with those of the others says so.
        `logged` is what sentences say of the log where that is the baseline: "it would earn more than the log did".
        """
        one, other = self.evaluations[target], None if self.baseline is None else self.evaluations[self.baseline]
        named = logged if self.baseline is None else f"`{messages.show(self.baseline)}` would"
        known = {} if self.field is None else self.field.widened
        gap = known[target] if target in known else one.uplift(other)
        design = one.design if other is None else one.design.join(other.design)
        trial = Trial(gap, one.planned_value, one.logged, one.contents, design)
        step = advise(trial, self.judge(target), named)
        broken = next((guarded for guarded in self.guarded if guarded.target == target and not guarded.passes), None)
        return step if broken is None else heed_guards(step, broken, one.level)

    def is_answerable(self, target: str) -> bool:
        """Say whether the log can tell how much more a target would have earned."""
        other = self.baseline is None or self.evaluations[self.baseline].answerable
        return other and self.evaluations[target].answerable

    def over_time(self, period: str | None = None) -> dict[str, DifferenceOverTime]:
        """Return the difference of each target to the baseline in each period; nothing where the log has no time.

        Without a `period` it is that of the evaluations.
        """
        other = None if self.baseline is None else self.evaluations[self.baseline]
        found = {name: compare_over_time(self.evaluations[name], other, period) for name in self.differences}
        return {name: one for name, one in found.items() if one is not None}

    @cached_property
    def segments(self) -> dict[str, list[Segment]]:
        """Return a line for each segment of every target, with its difference to the baseline there."""
        return {name: judge_segments(self._segment(name), self.judge(name)) for name in self.differences}

    def _segment(self, target: str) -> tuple[SegmentedColumn, ...]:
        """Return the answers for all segments, with differences to the baseline."""
        one = self.evaluations[target]
        return one.segmented if self.baseline is None else one.subtract_segments(self.evaluations[self.baseline])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers, texts, lists and dictionaries."""
        return as_dictionary(self.to_record())

    def to_record(self) -> "ComparisonRecord":
        """Return what JSON answers say about the comparison."""
        over_time = self.over_time()
        steps = {name: self.advise(name) for name in self.differences}
        differences: list[NamedDifferenceRecord] = []
        for name, gap in self.differences.items():
            evaluation = self.evaluations[name]
            ends = self.simultaneous.get(name)
            differences.append(
                {
                    "target": name,
                    "answerable": self.is_answerable(name),
                    **evaluation.difference(gap),
                    "simultaneous": None if ends is None else evaluation.ends(ends),
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
    found: Mapping[str, Mapping[str, Evaluation]], baseline: str | None, guards: Sequence[Guard], decisive: str
) -> Comparison:
    """Return a comparison by the reward to decide by, with guards on others (evaluations by reward and target)."""
    judged = {reward: Comparison(several, baseline).evaluations for reward, several in found.items()}
    return Comparison(judged[decisive], baseline, Guards(tuple(guards), judged, decisive, baseline))


def list_targets(targets: Any) -> Mapping[str, Any]:
    """Return the targets to compare by their names: those of a mapping, or of columns."""
    if isinstance(targets, Mapping) and not has_fixed_shares(targets):
        return require_readable_names(targets)
    names = [targets] if isinstance(targets, str) else targets
    if isinstance(names, Sequence) and all(isinstance(one, str) for one in names) and len(set(names)) == len(names):
        return dict(zip(names, names, strict=True))
    wanted = "a mapping of names to targets, or different names of columns"
    raise ParameterError(f"`targets` must be {wanted}, got {messages.shorten(targets)}.")


def require_readable_names(targets: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return targets whose names people can tell apart, also from the log; refuse others."""
    for name in targets:
        said = str(name).strip()
        if name is None or not said or (said.lower() == LOG and name != LOG):  # of that name more is said
            got = "None" if name is None else repr(str(name))
            raise ParameterError(f"`targets` must have names that people can tell from each other, got {got}.")
    return targets


def add_baseline(targets: Mapping[str, Any], baseline: str | None) -> Mapping[str, Any]:
    """Return targets that were given by their columns or texts, with the baseline if it is not among them.

    >>> add_baseline({"new": "new"}, "old")
    {'new': 'new', 'old': 'old'}
    """
    if not isinstance(baseline, str) or baseline == LOG or baseline in targets:
        return targets
    return {**targets, baseline: baseline}


def resolve_baseline(baseline: str | None, targets: Collection[str]) -> str | None:
    """Return the target to compare with, which must be one of several; None for the log, by its name, too.

    >>> resolve_baseline("log", ["new"]) is None
    True
    """
    if LOG in targets:
        rule = f"other names than `{LOG}`, which is what the log's own policy is called"
        raise ParameterError(f"`targets` must have {rule}, got `{LOG}`. Give that target another name.")
    if baseline is None or baseline == LOG:
        return None
    if baseline not in list(targets):  # which compares, as what is given may have no hash
        known = messages.list_names(targets)
        raise ParameterError(f"`baseline` must be one of the targets, {known}, got {messages.show(str(baseline))}.")
    if len(targets) == 1:
        got = f"{messages.show(baseline)} alone: nothing to compare"
        raise ParameterError(f"`baseline` must be one of several targets, got {got}.")
    return baseline
