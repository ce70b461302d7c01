"""Comma- or tab-separated text."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from counterfold.readers.base import Reader, opened

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Csv(Reader):
    """Text with a header line; fields are separated by tabs in `.tsv` files and by commas elsewhere."""

    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".txt")

    def table(self, path: Path) -> "pa.Table":
        """Return all lines, with types inferred by column; an empty field is missing, not an empty text."""
        import pyarrow.csv

        delimiter = "\t" if ".tsv" in path.name.lower() else ","
        with opened(path) as file:
            return pyarrow.csv.read_csv(
                file,
                parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter),
                convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
            )
