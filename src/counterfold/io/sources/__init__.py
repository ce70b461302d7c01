"""Sources: one file for each kind of object that a log can be read from; `open_source` finds the right one."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from counterfold.base import registry
from counterfold.io.sources._uris import show_uri as show_uri
from counterfold.io.sources.base import RowSource, SourceKind

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfold.io.sources._expressions import Computed as Computed


@cache
def list_kinds() -> tuple[type[SourceKind], ...]:
    """Return all kinds of sources but frames."""
    return tuple(registry.find("sources", name) for name in registry.names("sources") if name != "frame")


def open_source(value: Any, format_: str | None = None) -> RowSource:
    """Return the rows of any source; what is of no other kind is a data frame, or else nothing."""
    from counterfold.io.sources.frame import Frame

    kind: type[SourceKind] = next((kind for kind in list_kinds() if kind.takes(value)), Frame)
    return kind.open(value) if format_ is None else kind.open_as(value, format_)


def read_table(source: Any) -> "pa.Table":
    """Return all rows of any source as an Arrow table."""
    return open_source(source).table()


def parse_expression(role: str, text: str, columns: Sequence[str]) -> "Computed | None":
    """Return what is to be computed from columns for a role; nothing if a text is no more than a name."""
    from counterfold.io.sources import _expressions

    return _expressions.parse_expression(role, text, tuple(columns))
