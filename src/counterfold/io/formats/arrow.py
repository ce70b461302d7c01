"""Arrow files and streams."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from counterfold.io.formats.base import Piece, Reader, Survey, read_in_turn

END = b"\xff\xff\xff\xff\0\0\0\0"
"""The last bytes of a stream."""


class Arrow(Reader):
    """The Arrow IPC file format (also called Feather) or stream format."""

    suffixes = (".arrow", ".feather", ".ipc", ".arrows")

    def survey(self, file: Path) -> Survey:
        rows = size = 0
        schema = None
        for table in self._tables(file):
            schema, rows, size = table.schema, rows + len(table), size + table.nbytes
        return Survey(schema if schema is not None else pa.schema([]), rows, size)

    def pieces(self, file: Path, survey: Survey, columns: Sequence[str]) -> Iterator[Piece]:
        return read_in_turn(self._tables(file), columns)

    def _tables(self, file: Path) -> Iterator[pa.Table]:
        with pa.OSFile(str(file)) as opened:
            is_file = opened.read(6) == b"ARROW1"
            opened.seek(0)
            if is_file:
                batches = pa.ipc.open_file(opened)
                yield from (
                    pa.Table.from_batches([batches.get_batch(place)]) for place in range(batches.num_record_batches)
                )
                return
            yield from (pa.Table.from_batches([batch]) for batch in pa.ipc.open_stream(opened))
            self._require_end(opened)

    def _require_end(self, opened: pa.NativeFile) -> None:
        """Require that a stream says where it ends, and ends there: one that was cut between two batches does not."""
        place, size = opened.tell(), opened.size()
        opened.seek(max(0, place - 8))
        if place < size:
            raise pa.ArrowInvalid(f"{size - place} bytes follow the end of the stream; keep one stream in a file")
        if opened.read(8) != END:
            raise pa.ArrowInvalid("the mark at the end of the stream is missing, so rows may be; write the file again")
