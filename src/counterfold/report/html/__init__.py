"""A report as one HTML file: what an answer comes to, what it rests on, and what speaks against it.

`sections/` are what is read, one file each in the order of a decision, and `templates/` how it looks. The pictures are
those of `report/figures/`. Numbers come from evaluations and their exhibits: nothing is computed here but texts.
"""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from counterfold.base import validation
from counterfold.base.atomic_files import write_whole
from counterfold.base.progress import bar
from counterfold.diagnostics import Diagnostics
from counterfold.evaluation.comparison import Comparison
from counterfold.evaluation.result import Evaluation
from counterfold.report.html.case_list import list_cases, list_checks
from counterfold.report.html.cases import ATTEMPT, LEARNT, NAME, Case, Report
from counterfold.report.html.writing import require_writable

if TYPE_CHECKING:
    from counterfold.learning.result import Learned

__all__ = [
    "NAME",
    "Report",
    "list_cases",
    "list_checks",
    "list_learned",
    "require_writable",
    "write_check",
    "write_comparisons",
    "write_evaluation",
    "write_learned",
    "write_report",
    "write_rewards",
]

FilePath = str | PathLike[str]


def write_report(report: Report, path: FilePath) -> None:
    """Write a report as one file."""
    place = require_writable(path)
    validation.true_or_false(rows=report.shows_rows)
    from counterfold.report.html.page import render

    with bar("Writing the report") as move:
        page = render(report, move)
    write_whole("report", place, page.encode())


def write_evaluation(result: Evaluation, path: FilePath, *, rows: bool) -> None:
    """Write a report of one evaluation."""
    write_comparisons({"": Comparison({NAME: result})}, result.to_dict(), path, rows=rows)


def write_rewards(found: Mapping[str, Evaluation], answer: Mapping[str, Any], path: FilePath, *, rows: bool) -> None:
    """Write a report of evaluations of one target by several rewards."""
    by_reward = {reward: Comparison({NAME: result}) for reward, result in found.items()}
    write_comparisons(by_reward, answer, path, rows=rows)


def write_comparisons(
    found: Mapping[str, Comparison], answer: Mapping[str, Any], path: FilePath, *, rows: bool
) -> None:
    """Write a report of comparisons, by each reward."""
    require_writable(path)
    cases = list_cases(found)
    first = cases[0].answered
    settings = "" if first is None else describe_call(first.evaluation)
    several = next(iter(found.values()))
    names = f"cf.compare(log, {[*several]}" if len(several) > 1 else "cf.evaluate(log, target"
    baseline = "" if several.baseline is None else f", baseline={several.baseline!r}"
    write_report(Report(cases, answer, f"{names}{baseline}{settings})", shows_rows=rows), path)


def list_learned(found: "Learned") -> list[Case]:
    """Return the case of what was learnt: the policy that beats the log, or the best attempt that does not."""
    return list_cases({"": Comparison({LEARNT if found.beats_log else ATTEMPT: found.attempt})})


def write_learned(found: "Learned", path: FilePath, *, rows: bool) -> None:
    """Write a report of a policy that was learnt."""
    call = f"cf.learn(log{describe_settings(found.attempt)})"
    write_report(Report(list_learned(found), found.to_dict(), call, rows, learned=found), path)


def describe_settings(result: Evaluation) -> str:
    """Return the arguments that all answers have."""
    return f", seed={result.seed}, level={result.level:g}, interval={result.method!r}"


def describe_call(result: Evaluation) -> str:
    """Return the arguments with which an evaluation can be repeated."""
    return f", selector={result.selector!r}{describe_settings(result)}"


def write_check(found: Diagnostics, path: FilePath, *, rows: bool) -> None:
    """Write a report of a log that was only checked."""
    cases = list_checks({"": {NAME: found}}, {})
    write_report(Report(cases, found.to_dict(), "cf.check(log, target)", shows_rows=rows), path)
