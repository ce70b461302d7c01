"""The cases of a report: one for each target and reward, the targets that matter most first."""

from collections.abc import Mapping

from counterfold.diagnostics import Diagnostics
from counterfold.evaluation.comparison import Comparison
from counterfold.log.contents import Contents
from counterfold.report.differences import list_differences, rank_targets
from counterfold.report.html.cases import TODAY, Answered, Case, quote


def list_cases(found: Mapping[str, Comparison]) -> list[Case]:
    """Return a case for each target and reward, of comparisons by each reward; targets by their rank in the first."""
    ranked = rank_targets(next(iter(found.values())))
    return [make_case(target, reward, one) for target in ranked for reward, one in found.items()]


def make_case(target: str, reward: str, found: Comparison) -> Case:
    """Return the case of one target of a comparison."""
    one, gap, logged = found[target], list_differences(found).get(target), name_log(found)
    step = None if gap is None else found.advise(target, logged=logged if logged == TODAY else f"{logged} did")
    answered = Answered(
        one,
        baseline=logged if found.baseline is None else quote(found.baseline),
        logged=logged,
        gap=gap,
        judged=found.judge(target),
        step=step,
        is_known=found.is_answerable(target),
        compared=found,
        segments=found.segments.get(target, ()),
    )
    return Case(target, reward, one.diagnostics, one.exhibits, one.contents, answered)


def name_log(found: Comparison) -> str:
    """Return what the log's own policy is called: that of a baseline, or of a target called so, may be today's, too."""
    is_taken = found.baseline is not None or any(name.casefold() == TODAY for name in found)
    return "the log" if is_taken else TODAY


def list_checks(found: Mapping[str, Mapping[str, Diagnostics]], contents: Mapping[str, Contents]) -> list[Case]:
    """Return a case for each target and reward of a log that was only checked."""
    first = next(iter(found.values()))
    return [
        Case(target, reward, one[target], one[target].exhibits, contents.get(reward))
        for target in first
        for reward, one in found.items()
    ]
