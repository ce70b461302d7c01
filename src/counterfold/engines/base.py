"""Engine: reads a log wherever it is, and turns it with its targets and a reward model into evidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from counterfold.diagnostics.base import Diagnostic
from counterfold.estimators.base import Estimator
from counterfold.evidence import Evidence
from counterfold.log import Log
from counterfold.progress import Progress
from counterfold.rows import Rows
from counterfold.tables.scan import LogScan

Source = Log | LogScan
"""A log in memory, or one that is not read yet."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of an engine: evidence on each of these targets, with this reward model.

    `resolve` is called once for every target, with its rows or a sample of them, and returns the estimators that the
    evidence must know. `needs_sample` says whether they depend on those rows.
    """

    targets: Mapping[str, Any]
    reward_model: Any
    resolve: Callable[[str, Rows], Sequence[Estimator]]
    needs_sample: bool
    diagnostics: Sequence[Diagnostic]
    progress: Progress | bool = True


class Engine(ABC):
    """Where and how a log is read; evidence from all engines answers the same questions."""

    keeps_rows: ClassVar[bool] = False
    """Whether all rows are at hand, and not sums over them alone."""

    @classmethod
    @abstractmethod
    def of(cls, source: Source, threads: int | None) -> Self:
        """Return the engine for a log."""

    @classmethod
    @abstractmethod
    def can_read(cls, source: Source) -> bool:
        """Say whether the engine can read such a log."""

    @classmethod
    @abstractmethod
    def is_best_for(cls, source: Source) -> bool:
        """Say whether the engine is to be taken where the user does not choose, unless another one is better."""

    @abstractmethod
    def gather(self, request: Request) -> Iterator[tuple[str, Evidence]]:
        """Yield the evidence on each target, in the order of the targets."""
