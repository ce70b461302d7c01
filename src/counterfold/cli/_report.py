"""The report that commands write: options, and how it is made."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.cli.options import make_option
from counterfold.errors import ParameterError

if TYPE_CHECKING:
    from counterfold.contents import Contents
    from counterfold.evaluation.comparison import Comparison
    from counterfold.report.html import Report

REPORT = "Write the report to this HTML file, too."
ROWS = "Whether the report shows the rows that carry the answer."


@dataclass(frozen=True)
class ReportOptions:
    """Where the report goes, if one is wanted."""

    report: Annotated[str | None, make_option("FILE", REPORT)] = None
    rows: Annotated[bool, typer.Option("--rows/--no-rows", help=ROWS)] = True

    def __post_init__(self) -> None:
        if self.report is not None:
            from counterfold.report.html.writing import require_writable

            require_writable(self.report)

    def spare(self, log: Any) -> None:
        """Refuse to write over the log."""
        if self.report is not None and isinstance(log, str) and os.path.exists(log) and os.path.exists(self.report):
            if os.path.samefile(log, self.report):
                raise ParameterError("`report` must be another file than the log, got the log itself.")
