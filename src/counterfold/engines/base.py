"""Engine: reads a log wherever it is, and turns it with its targets and a reward model into evidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from counterfold.arrays import Ints
from counterfold.checks import Checker
from counterfold.diagnostics.base import Diagnostic
from counterfold.estimators.base import Estimator
from counterfold.evidence import Evidence
from counterfold.log import Log
from counterfold.models import Column
from counterfold.pool import Pool
from counterfold.progress import Progress
from counterfold.rows import Rows
from counterfold.tables.scan import LogScan
from counterfold.target import Target, as_target

if TYPE_CHECKING:
    import pyarrow as pa

Source = Log | LogScan
"""A log in memory, or one that is not read yet."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of an engine: evidence on each of these targets, with this reward model.

    An engine that has only sums asks `list_estimators` what the evidence on a target must know, with a sample of the
    target's rows; `needs_sample` says whether the answer depends on those rows.
    """

    targets: Mapping[str, Any]
    reward_model: Any
    list_estimators: Callable[[Rows], Sequence[Estimator]]
    needs_sample: bool
    diagnostics: Sequence[Diagnostic]
    progress: Progress | bool = True

    @property
    def fixes_context(self) -> bool:
        """Say whether a target is a function of the context, all columns of which it must see."""
        return any(callable(value) for value in self.targets.values())

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns that hold targets, and of the one that holds predictions."""
        named = [value for value in self.targets.values() if isinstance(value, str)]
        return [*named, self.reward_model.name] if isinstance(self.reward_model, Column) else named


class Engine(ABC):
    """Reads a log wherever it is; evidence from all engines answers the same questions."""

    keeps_rows: ClassVar[bool] = False
    """Whether all rows are at hand, and not sums over them alone."""

    @classmethod
    @abstractmethod
    def of(cls, source: Source, pool: Pool) -> Self:
        """Return the engine for a log; it may use the threads of the pool."""

    @classmethod
    @abstractmethod
    def can_read(cls, source: Source) -> bool:
        """Say whether the engine can read such a log."""

    @classmethod
    @abstractmethod
    def is_best_for(cls, source: Source) -> bool:
        """Say whether the engine reads such a log by default; engines that keep all rows are asked last."""

    @abstractmethod
    def gather(self, request: Request) -> Generator[tuple[str, Evidence]]:
        """Yield the evidence on each target, in the order of the targets."""


def read_column(table: "pa.Table", name: str, row_numbers: Ints | None = None) -> Any:
    """Return a column of a target's probabilities or doses, or of predicted rewards."""
    from counterfold.tables import roles

    return roles.read_target(table, name, Checker(row_numbers))


def read_target(value: Any, log: Log, table: "pa.Table | None", row_numbers: Ints | None = None) -> Target:
    """Return a checked target, which may be the name of a column; errors then name the column."""
    check = Checker(row_numbers)
    if table is None or not isinstance(value, str):
        return as_target(value, log, check)
    return as_target(read_column(table, value, row_numbers), log, check.name_columns({"target": value}))
