"""The report that commands write: its options, whether it can be written, and what goes into it."""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.base import messages
from counterfold.base.errors import ParameterError
from counterfold.cli.options import LogOptions, make_option
from counterfold.cli.printing import say
from counterfold.io.schema.column_roles import ROLES

if TYPE_CHECKING:
    from counterfold.diagnostics import Diagnostics
    from counterfold.evaluation.assembly import Results
    from counterfold.evaluation.comparison import Comparison
    from counterfold.learning.result import Learned
    from counterfold.report.html.cases import Case

REPORT = "Write a report with pictures, too: one HTML file that needs no network."
ROWS = "Leave out of the report the rows that carry the answer."

Describe = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class ReportOptions:
    """Where the report goes, if one is wanted; whether it can be written is known before anything is read."""

    report: Annotated[str | None, make_option("FILE", REPORT)] = None
    no_rows: Annotated[bool, typer.Option("--no-rows", help=ROWS)] = False

    def __post_init__(self) -> None:
        if self.report is not None:
            from counterfold.report.html import require_writable

            require_writable(self.report)

    def spare(self, log: str | None) -> None:
        """Refuse to write over the log."""
        if self.report is None or log is None or not Path(self.report).exists():
            return
        with suppress(OSError):  # what cannot be read is told when the log is
            if Path(self.report).samefile(log):
                raise ParameterError("`report` must be another file than the log, got the log itself.")

    def write_answers(
        self,
        found: "Mapping[str, Comparison]",
        describe: Describe,
        log: LogOptions | None = None,
        truth: float | None = None,
    ) -> None:
        """Write the report of evaluations by each reward, with what JSON says of them, if one is wanted."""
        if self.report is not None:
            from counterfold.report.html import list_cases

            self.write(list_cases(hide_only_reward(found)), describe(), log, truth)

    def write_learned(self, found: "Learned", describe: Describe, log: LogOptions) -> None:
        """Write the report of a policy that was learnt, if one is wanted."""
        if self.report is not None:
            from counterfold.report.html import list_learned

            self.write(list_learned(found), describe(), log, learned=found)

    def write_checks(self, found: "Mapping[str, Results[Diagnostics]]", describe: Describe, log: LogOptions) -> None:
        """Write the report of a log that was only checked, if one is wanted."""
        if self.report is not None:
            from counterfold.report.html import list_checks

            several = hide_only_reward(found)
            contents = {reward: one.contents for reward, one in several.items()}
            cases = list_checks({reward: one.targets for reward, one in several.items()}, contents)
            self.write(cases, describe(), log)

    def write(
        self,
        cases: "list[Case]",
        answer: dict[str, Any],
        log: LogOptions | None,
        truth: float | None = None,
        learned: "Learned | None" = None,
    ) -> None:
        """Write the report of some cases."""
        from counterfold.report.html import Report, write_report

        origin = ("", {}) if log is None else (name_source(log), list_roles(log))
        write_report(Report(cases, answer, show_command(), not self.no_rows, truth, *origin, learned), str(self.report))
        say(f"The report is in {messages.show(str(self.report))}.")


def name_source(log: LogOptions) -> str:
    """Return where a log is, without its folder and without passwords."""
    if log.sql is not None:
        return "a query"
    from counterfold.io.sources import show_uri

    source = str(log.columns.source)
    return messages.show(show_uri(source)) if "://" in source else messages.show(Path(source).name or source)


def list_roles(log: LogOptions) -> dict[str, str]:
    """Return the columns that the command names, by what they hold."""
    given = {role: vars(log.columns)[role] for role in ROLES}
    named = {role: several if isinstance(several, list) else [several] for role, several in given.items() if several}
    return {role: ", ".join(map(messages.show, names)) for role, names in {**named, "target": [*log.targets]}.items()}


def hide_only_reward(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the same without the name of the reward, if there is but one."""
    return {"": next(iter(found.values()))} if len(found) == 1 else found


def show_command() -> str:
    """Return the command as it was typed, without passwords in addresses."""
    import shlex

    from counterfold.io.sources import show_uri

    shown = []
    for word in sys.argv[1:]:
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        shown.append(f"{option}{equals}{show_uri(value)}" if "://" in value else word)
    return shlex.join(["counterfold", *shown])
