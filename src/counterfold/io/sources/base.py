"""What engines need of the rows of a log, wherever these come from; and SourceKind, which opens one kind of source."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from counterfold.base.errors import ParameterError
from counterfold.io.formats.base import Piece

if TYPE_CHECKING:
    import pyarrow as pa


class RowSource(Protocol):
    """Rows that can be read more than once, always the same ones in the same order."""

    @property
    def is_in_memory(self) -> bool:
        """Say whether all rows are there already, whatever they take."""

    @property
    def name(self) -> str:
        """Return what errors call the source."""

    @property
    def schema(self) -> "pa.Schema":
        """Return the columns, and their types."""

    @property
    def rows(self) -> int:
        """Return the number of rows."""

    @property
    def size(self) -> int:
        """Return about how many bytes the rows take in memory."""

    def table(self) -> "pa.Table":
        """Return all rows."""

    def pieces(self, columns: Sequence[str] | None) -> Generator[Piece]:
        """Yield all rows, or some columns of them, as pieces that may be worked on at the same time."""

    def require_unchanged(self) -> None:
        """Require that the rows are what they were."""


class SourceKind(ABC):
    """A kind of source: says which objects are such, and opens them."""

    @staticmethod
    @abstractmethod
    def takes(value: Any) -> bool:
        """Say whether an object is a source of this kind; it is one of no other kind then."""

    @staticmethod
    @abstractmethod
    def open(value: Any) -> RowSource:
        """Return the rows of such an object; few or none of them are read now."""

    @staticmethod
    def open_as(value: Any, format_: str) -> RowSource:
        """Return the rows of an object whose format is given by name, which only files of this machine have."""
        raise ParameterError(f"`format` must be given for files alone, got {format_} for {type(value).__name__}.")
