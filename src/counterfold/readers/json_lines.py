"""One JSON object per line."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from counterfold.readers.base import Reader

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonLines(Reader):
    """One JSON object per line; probabilities may be lists, or objects from action to probability."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json")

    def table(self, path: Path) -> "pa.Table":
        """Return all lines."""
        import pyarrow.json

        return pyarrow.json.read_json(path)
