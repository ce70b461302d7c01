"""Comma- or tab-separated text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfold.readers.base import BLOCK, Piece, Reader, open_stream, read_in_turn

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Csv(Reader):
    """Text with a header line; fields are separated by tabs in `.tsv` files and by commas elsewhere."""

    suffixes = (".csv", ".tsv", ".txt")

    def table(self, path: Path) -> "pa.Table":
        import pyarrow.csv

        with open_stream(path) as file:
            return pyarrow.csv.read_csv(file, **self._options(path))

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        import pyarrow.csv

        blocks = pyarrow.csv.ReadOptions(block_size=BLOCK)
        with open_stream(path) as file, pyarrow.csv.open_csv(file, read_options=blocks, **self._options(path)) as lines:
            yield from read_in_turn(lines, columns)

    def _options(self, path: Path) -> dict[str, Any]:
        import pyarrow.csv

        delimiter = "\t" if ".tsv" in path.name.lower() else ","
        return {
            "parse_options": pyarrow.csv.ParseOptions(delimiter=delimiter),
            "convert_options": pyarrow.csv.ConvertOptions(strings_can_be_null=True),
        }
