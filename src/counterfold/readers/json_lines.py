"""One JSON object per line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterfold.readers.base import BLOCK, Piece, Reader, open_stream, read_in_turn

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonLines(Reader):
    """One JSON object per line; probabilities may be lists, or objects from action to probability."""

    suffixes = (".jsonl", ".ndjson", ".json")

    def table(self, path: Path) -> "pa.Table":
        import pyarrow.json

        self._require_objects(path)
        with open_stream(path) as file:
            return pyarrow.json.read_json(file)

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        import pyarrow.json

        self._require_objects(path)
        blocks = pyarrow.json.ReadOptions(block_size=BLOCK)
        with open_stream(path) as file, pyarrow.json.open_json(file, read_options=blocks) as lines:
            yield from read_in_turn(lines, columns)

    def _require_objects(self, path: Path) -> None:
        """Require an object at the start: pyarrow takes the whole process down on a line with null."""
        import pyarrow as pa

        with open_stream(path) as file:
            start = file.read(1 << 16).lstrip()[:1]
        if start != b"{":
            raise pa.ArrowInvalid(f"every line must be an object, but the first starts with {start.decode()!r}")
