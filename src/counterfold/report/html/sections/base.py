"""Section: a question that the report answers, with blocks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from counterfold.report.html.blocks import Block
from counterfold.report.html.cases import Case, Report

WITHHELD = "Numbers are withheld here, because this log cannot answer for this policy: they would look like an answer."


class Section(ABC):
    """A frozen dataclass in a file of its own."""

    order: ClassVar[int]
    """Where it stands among all sections; those of a page are numbered without gaps."""

    title: ClassVar[str]

    is_common: ClassVar[bool] = False
    """Whether it is about all cases at once, and not about each."""

    @property
    def key(self) -> str:
        """Return the name by which links lead to it."""
        return f"section-{type(self).__module__.rpartition('.')[2].replace('_', '-')}"

    def applies(self, report: Report) -> bool:
        """Say whether a report has it."""
        return True

    @abstractmethod
    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        """Return what it shows of a case, which is the first one if it is about all; None is left out."""
