"""Arrow files and streams."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from counterfold.readers.base import Reader

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Arrow(Reader):
    """The Arrow IPC file format (also called Feather) or stream format."""

    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ipc", ".arrows")

    def table(self, path: Path) -> "pa.Table":
        """Return all record batches."""
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            return (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)).read_all()
