"""Arrow files and streams."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfold.readers.base import Piece, Reader, read_in_turn


class Arrow(Reader):
    """The Arrow IPC file format (also called Feather) or stream format."""

    suffixes = (".arrow", ".feather", ".ipc", ".arrows")

    def table(self, path: Path) -> pa.Table:
        with self._open_batches(path) as (batches, _):
            return batches.read_all()

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        with self._open_batches(path) as (batches, is_file):
            several = map(batches.get_batch, range(batches.num_record_batches)) if is_file else batches
            yield from read_in_turn(several, columns)

    @contextmanager
    def _open_batches(self, path: Path) -> Iterator[tuple[Any, bool]]:
        """Yield what reads batches, and whether it is a file of them rather than a stream."""
        with pa.OSFile(str(path)) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            yield (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)), is_file
