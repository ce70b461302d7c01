"""Section: a question that the report answers, with blocks."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from counterfold.learning.result import Learned
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


class LearnedSection(Section):
    """A section that only the report of a learnt policy has."""

    is_common: ClassVar[bool] = True

    def applies(self, report: Report) -> bool:
        return report.learned is not None

    def build(self, report: Report, case: Case) -> Sequence[Block | None]:
        return [] if report.learned is None else self.show(report.learned, case)

    @abstractmethod
    def show(self, found: Learned, case: Case) -> Sequence[Block | None]:
        """Return what it shows of what was learnt; the case is about that."""
