"""The command `synth`: a log of any size whose truth is known."""

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.base.errors import ParameterError
from counterfold.base.progress import bar
from counterfold.base.records import as_dictionary
from counterfold.cli.options import Json, Seed, make_option, take_options
from counterfold.cli.printing import print_json

if TYPE_CHECKING:
    from counterfold_lab.records import SynthRecord

UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
LARGEST = 10**13
LOGGED_ONLY = "Store probabilities of the logged action alone."


@dataclass(frozen=True)
class SynthOptions:
    """The log to write, and where it goes."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet file, or a folder for several.")]
    rows: Annotated[str, make_option("SIZE", "Rows: 100000, 100k, 2.5M, 1e6.")] = "1M"
    actions: Annotated[int, make_option("N", "Actions.")] = 10
    context: Annotated[int, make_option("N", "Columns of context, maybe 0.")] = 10
    targets: Annotated[int, make_option("N", "Target policies.")] = 1
    reward: Annotated[str, make_option("KIND", "binary or continuous.")] = "binary"
    groups: Annotated[str | None, make_option("SIZE", "Users, several rows each.", "none")] = None
    logged_only: Annotated[bool, typer.Option("--logged-only", help=LOGGED_ONLY)] = False
    files: Annotated[int | None, make_option("N", "Make FILE a folder of so many files.", "one file")] = None
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False
    threads: Annotated[int | None, make_option("N", "Threads; never change the log.", "all cores, 4 at most")] = None


@take_options
def synth(log: SynthOptions, *, as_json: Json = False, seed: Seed = 0) -> None:
    """Write a realistic log of any size, and say what each target policy on it is truly worth."""
    from counterfold.report import console, tables
    from counterfold_lab.synthetic.file import Destination, write_log
    from counterfold_lab.synthetic.generator import Synthetic

    users = None if log.groups is None else parse_size("groups", log.groups)
    reward: Any = log.reward  # checked there
    problem = Synthetic(log.actions, log.context, log.targets, users, reward, log.logged_only, seed)
    place = Destination(log.file, log.files, log.force)
    with bar("Writing the log", unit="rows") as progress:
        written = write_log(problem, parse_size("rows", log.rows), place, log.threads, progress)
    if as_json:
        record: SynthRecord = {
            "path": written.path,
            "files": written.files,
            "rows": written.rows,
            "bytes": written.bytes,
            "truth": written.truth,
            "settings": as_dictionary(problem),
        }
        print_json(record)
        return
    grid = tables.new_grid()
    grid.add_row("written", str(written.path))
    grid.add_row("rows", f"{written.rows:,}")
    grid.add_row("size", f"{written.bytes / 1e6:,.1f} MB in {written.files} file{'s' * (written.files > 1)}")
    for name, value in written.truth.items():
        grid.add_row(f"truth of {name}", f"{value:.6f}")
    console.show(grid)


def parse_size(name: str, text: str) -> int:
    """Return a whole number that may have a unit behind.

    >>> parse_size("rows", "2.5M"), parse_size("rows", "100k"), parse_size("rows", "1_000"), parse_size("rows", "1e6")
    (2500000, 100000, 1000, 1000000)
    """
    number, unit = (text[:-1], UNITS[text[-1].lower()]) if text[-1:].lower() in UNITS else (text, 1)
    with suppress(ArithmeticError):  # no number, or one that overflows
        value = Decimal(number) * unit
        if 0 <= value <= LARGEST and value == int(value):
            return int(value)
    rule = "a whole number of at most 10,000 billion, like 100000, 100k, 2.5M or 1e6"
    raise ParameterError(f"`{name}` must be {rule}, got {text!r}.")
