"""One JSON object per line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.json

from counterfold.readers.base import BLOCK, Piece, Reader, open_stream, read_in_turn


class JsonLines(Reader):
    """One JSON object per line; probabilities may be lists, or objects from action to probability."""

    suffixes = (".jsonl", ".ndjson", ".json")

    def table(self, path: Path) -> pa.Table:
        self._require_objects(path)
        with open_stream(path) as file:
            return pa.json.read_json(file)

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        self._require_objects(path)
        blocks = pa.json.ReadOptions(block_size=BLOCK)
        with open_stream(path) as file, pa.json.open_json(file, read_options=blocks) as lines:
            yield from read_in_turn(lines, columns)

    def _require_objects(self, path: Path) -> None:
        """Require an object at the start: pyarrow takes the whole process down on a line with null."""
        with open_stream(path) as file:
            start = file.read(1 << 16).lstrip()[:1]
        if start != b"{":
            raise pa.ArrowInvalid(f"every line must be an object, but the first starts with {start.decode()!r}")
