"""Comma- or tab-separated text."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from counterfold.readers.base import BLOCK, Piece, Reader, open_stream, read_in_turn


class Csv(Reader):
    """Text with a header line; fields are separated by tabs in `.tsv` files and by commas elsewhere."""

    suffixes = (".csv", ".tsv", ".txt")

    def table(self, path: Path) -> pa.Table:
        with open_stream(path) as file:
            return pa.csv.read_csv(file, **self._options(path))

    def pieces(self, path: Path, columns: Sequence[str] | None) -> Iterator[Piece]:
        blocks = pa.csv.ReadOptions(block_size=BLOCK)
        with open_stream(path) as file, pa.csv.open_csv(file, read_options=blocks, **self._options(path)) as lines:
            yield from read_in_turn(lines, columns)

    def _options(self, path: Path) -> dict[str, Any]:
        return {
            "parse_options": pa.csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ","),
            "convert_options": pa.csv.ConvertOptions(strings_can_be_null=True),
        }
