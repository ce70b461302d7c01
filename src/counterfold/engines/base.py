"""Engine: reads a log wherever it is, and turns it with its targets and a reward model into evidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from counterfold.base.progress import Progress
from counterfold.base.threads import Pool
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows
from counterfold.evidence.evidence import Evidence, Observer
from counterfold.io.schema.scan import LogScan
from counterfold.log.log import Log
from counterfold.models import Column
from counterfold.policies.from_tables import TargetReader

Source = Log | LogScan
"""A log in memory, or one that is not read yet."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of an engine: evidence by each reward of a log on each of these targets, with this reward model.

    An engine that has only sums asks `list_estimators` what the evidence on a target must know, with a sample of the
    target's rows, and `list_segmented` what it must know of every segment; `needs_sample` says whether the answer
    depends on those rows. `observers` look at all rows.
    """

    targets: Mapping[str, Any]
    reward_model: Any
    list_estimators: Callable[[Rows], Sequence[Estimator]]
    list_segmented: Callable[[Rows], Sequence[Estimator]]
    needs_sample: bool
    observers: Sequence[Observer]
    progress: Progress | bool = True


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
    def gather(self, request: Request) -> Generator[tuple[str, str, Evidence]]:
        """Yield the evidence by each reward on each target, with their names and in the order of both."""


def is_on_spark(scan: LogScan) -> bool:
    """Say whether a log is a frame of Spark."""
    return type(scan.source).__module__.startswith("pyspark.")


def list_columns(targets: Iterable[TargetReader], reward_model: Any) -> list[str]:
    """Return the names of the columns that hold targets, and of the one that holds predictions."""
    named = list(dict.fromkeys(name for one in targets for name in one.columns))
    return [*named, reward_model.name] if isinstance(reward_model, Column) else named


def list_features(targets: Iterable[TargetReader]) -> list[str]:
    """Return the names of the columns that targets look at, whether or not they are context."""
    return list(dict.fromkeys(name for one in targets for name in one.features))
