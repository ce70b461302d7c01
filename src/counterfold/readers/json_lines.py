"""One JSON object per line."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from counterfold.readers.base import Reader, opened

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonLines(Reader):
    """One JSON object per line; probabilities may be lists, or objects from action to probability."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json")

    def table(self, path: Path) -> "pa.Table":
        """Return all lines."""
        import pyarrow as pa
        import pyarrow.json

        with opened(path) as file:
            start = file.read(1 << 16).lstrip()[:1]
        if start != b"{":  # pyarrow takes the whole process down on a line with null
            raise pa.ArrowInvalid(f"every line must be an object, but the first starts with {start.decode()!r}")
        with opened(path) as file:
            return pyarrow.json.read_json(file)
