"""Comparison: how much more several targets would have earned than the log did, or than one of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, get_args

from counterfold import messages, standard_json
from counterfold.diagnostics import Diagnostics, Verdict
from counterfold.display import Plotted
from counterfold.errors import ParameterError
from counterfold.estimates import Estimate
from counterfold.evaluation.next_step import NextStep, Trial, advise
from counterfold.evaluation.result import Evaluation, describe_segments, judge_segments
from counterfold.segment_answers import Segment, SegmentedColumn, subtract_answers
from counterfold.targets import has_fixed_shares


@dataclass(frozen=True)
class Difference:
    """How much more one target would have earned, with an interval, and the verdict on it.

    The verdict is that on the target's own value, or "not answerable" if the log cannot tell what the baseline earned.
    """

    target: str
    value: float
    stderr: float
    low: float
    high: float
    verdict: str

    def __str__(self) -> str:
        name = messages.show(self.target)
        if self.verdict == "not answerable":
            return f"{name} {self.verdict}"
        return f"{name} {self.value:+.4g}, from {self.low:+.4g} to {self.high:+.4g}, {self.verdict}"


@dataclass(frozen=True, eq=False)
class Comparison(Plotted):
    """Evaluations of several targets on one log, and their differences to `baseline`, or to the log if that is None.

    `comparison["name"]` is the evaluation of a target; `table` has a line for each difference, and `pandas.DataFrame`
    and `polars.DataFrame` take it as it is.
    """

    evaluations: Mapping[str, Evaluation]
    baseline: str | None = None

    def __getitem__(self, target: str) -> Evaluation:
        return self.evaluations[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def differences(self) -> dict[str, Estimate]:
        """Return how much more each target would have earned, paired row by row."""
        other = None if self.baseline is None else self.evaluations[self.baseline]
        return {name: one.uplift(other) for name, one in self.evaluations.items() if name != self.baseline}

    @property
    def table(self) -> list[Difference]:
        """Return a line for each difference."""
        return [self._describe(name, gap) for name, gap in self.differences.items()]

    def _describe(self, name: str, gap: Estimate) -> Difference:
        ends = gap.interval()
        return Difference(name, gap.value, gap.stderr, ends.low, ends.high, self.judge(name).verdict)

    def judge(self, target: str) -> Diagnostics:
        """Return what speaks against a difference: the worse of what does against the target and the baseline."""
        names = [target] if self.baseline is None else [target, self.baseline]
        several = [self.evaluations[name].diagnostics for name in names]
        return max(several, key=lambda found: get_args(Verdict).index(found.verdict))

    def advise(self, target: str, *, logged: str = "the log did") -> NextStep:
        """Return what to do about a target, by its difference to the baseline and the worse verdict of both.

        `logged` is what sentences say of the log where that is the baseline: "it would earn more than the log did".
        """
        one, other = self.evaluations[target], None if self.baseline is None else self.evaluations[self.baseline]
        named = logged if self.baseline is None else f"`{messages.show(self.baseline)}` would"
        return advise(Trial(one.uplift(other), one.value, one.logged, one.contents), self.judge(target), named)

    def is_answerable(self, target: str) -> bool:
        """Say whether the log can tell how much more a target would have earned."""
        other = self.baseline is None or self.evaluations[self.baseline].answerable
        return other and self.evaluations[target].answerable

    @property
    def segments(self) -> dict[str, list[Segment]]:
        """Return a line for each segment of every target, with its difference to the baseline there."""
        return {name: judge_segments(self._segment(name), self.judge(name)) for name in self.differences}

    def _segment(self, target: str) -> tuple[SegmentedColumn, ...]:
        """Return the answers for all segments, with differences to the baseline."""
        one, other = self.evaluations[target], None if self.baseline is None else self.evaluations[self.baseline]
        if other is None:
            return one.segmented
        whole, pairs = one.uplift(other), zip(one.segmented, other.segmented, strict=True)
        return tuple(subtract_answers(mine, theirs, whole) for mine, theirs in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers, texts, lists and dictionaries."""
        differences = [
            {
                "target": name,
                "answerable": self.is_answerable(name),
                **self.evaluations[name].difference(gap),
                "next_step": asdict(self.advise(name)),
                "segments": describe_segments(self.evaluations[name].segmented, self.segments[name]),
            }
            for name, gap in self.differences.items()
        ]
        evaluations = [{"target": name, **one.to_dict()} for name, one in self.evaluations.items()]
        return {"baseline": self.baseline or "log", "differences": differences, "evaluations": evaluations}

    def to_json(self) -> str:
        """Return the comparison as standard JSON; a number that is not finite is null."""
        return standard_json.write(self.to_dict())

    def to_html(self, path: str | PathLike[str], *, rows: bool = True) -> None:
        """Write a report as one HTML file, without the rows that carry the answers if `rows` is False."""
        from counterfold.report import html

        html.write_comparisons({"": self}, self.to_dict(), path, rows=rows)

    def __repr__(self) -> str:
        return f"Comparison(with {messages.show(self.baseline or 'the log')}: {'; '.join(map(str, self.table))})"


def list_targets(targets: Any) -> Mapping[str, Any]:
    """Return the targets to compare by their names: those of a mapping, or of columns."""
    if isinstance(targets, Mapping) and not has_fixed_shares(targets):
        return targets
    names = [targets] if isinstance(targets, str) else targets
    if isinstance(names, Sequence) and all(isinstance(one, str) for one in names) and len(set(names)) == len(names):
        return dict(zip(names, names, strict=True))
    wanted = "a mapping of names to targets, or different names of columns"
    raise ParameterError(f"`targets` must be {wanted}, got {messages.shorten(targets)}.")


def require_baseline(baseline: str | None, targets: Collection[str]) -> None:
    """Require that the target to compare with is one of several."""
    if baseline is not None and baseline not in targets:
        known = messages.list_names(targets)
        raise ParameterError(f"`baseline` must be one of the targets, {known}, got {messages.show(baseline)}.")
    if {*targets} == {baseline}:
        got = f"{messages.show(baseline)} alone: nothing to compare"
        raise ParameterError(f"`baseline` must be one of several targets, got {got}.")
