"""Engine: applies a function to all rows of a log, a few at a time, and adds up what it returns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from counterfold.arrays import Ints
from counterfold.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa


class Batch(NamedTuple):
    """Some rows as a table, and the number of each in the log."""

    table: "pa.Table"
    numbers: Ints


class Additive(Protocol):
    """What is known of some rows, and can be added to what is known of others."""

    def __add__(self, other: Self, /) -> Self:
        """Return what is known of the rows of both."""


Sum = TypeVar("Sum", bound=Additive)


class Engine(ABC):
    """Where and how the rows of one log are read; the same functions run on all engines."""

    @abstractmethod
    def head(self) -> Batch:
        """Return some rows, the first ones if there is an order."""

    @abstractmethod
    def rows(self) -> int | None:
        """Return the number of rows, if it can be known without reading them."""

    @abstractmethod
    def total(self, work: Callable[[Batch], Sum], columns: Sequence[str], progress: Progress | None) -> Sum:
        """Return the sum of what a function returns for all batches, which have these columns."""

    @abstractmethod
    def distinct(self, column: str) -> list[Any]:
        """Return the different values of a column, or keys of its maps, sorted."""
