"""The tasks of the benchmark: one problem each, for development or held back."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from counterfold.experiments.paper.datasets import NAMES
from counterfold.experiments.paper.figures import FIGURES
from counterfold.experiments.selection.bandits import FAMILIES

Part = Literal["development", "held", "all"]

PAPER = "paper"
KNOWN = (*FAMILIES, PAPER)
"""The families of problems: those of `bandits`, and the paper's datasets at all temperatures of its figure 3."""

PAPER_FIGURE = "figure3"
PROBLEMS_PER_PAPER_RUN = 10
"""How many problems of another family a run of the paper's 90 conditions counts as."""


class SelectionTask(NamedTuple):
    """A problem: its family, its number there and, for the paper's, which of the 90 conditions of that run."""

    family: str
    number: int
    dataset: str = ""
    logging_beta: float = 0.0
    target_beta: float = 0.0

    def __str__(self) -> str:
        return "|".join(map(str, tuple(self)))

    @property
    def condition(self) -> str:
        """Return what tells problems of one number apart."""
        return f"{self.dataset} {self.logging_beta:g} {self.target_beta:g}" if self.dataset else ""


def part_of(number: int) -> Part:
    """Return whether a problem may be looked at while methods are made, as every third may, or is held back.

    >>> [part_of(number) for number in range(4)]
    ['development', 'held', 'held', 'development']
    """
    return "held" if number % 3 else "development"


def list_tasks(families: Sequence[str], problems: int, part: Part) -> list[SelectionTask]:
    """Return those of the first `problems` of each family that belong to a part, and at least one per family.

    >>> [task.number for task in list_tasks(["binary"], 6, "held")]
    [1, 2, 4, 5]
    """
    conditions = [(name, *betas) for name in NAMES for betas in FIGURES[PAPER_FIGURE].betas]
    found = []
    for family in families:
        count = problems if family != PAPER else max(1, round(problems / PROBLEMS_PER_PAPER_RUN))
        numbers = [number for number in range(count) if part in {"all", part_of(number)}] or [1]  # the first held one
        for number in numbers:
            found += [SelectionTask(family, number, *one) for one in (conditions if family == PAPER else [()])]
    return found
