"""The command `synth`: a log of any size whose truth is known."""

from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from counterfold.errors import ParameterError
from counterfold.options import Json, Seed, print_json
from counterfold.progress import bar

UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
LARGEST = 10**13


def synth(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Parquet file, or a folder for several.")],
    *,
    rows: Annotated[str, typer.Option(metavar="SIZE", help="Rows: 100000, 100k, 2.5M, 1e6.")] = "1M",
    actions: Annotated[int, typer.Option(metavar="N", help="Actions.")] = 10,
    context: Annotated[int, typer.Option(metavar="N", help="Columns of context, maybe 0.")] = 10,
    targets: Annotated[int, typer.Option(metavar="N", help="Target policies.")] = 1,
    reward: Annotated[str, typer.Option(metavar="KIND", help="binary or continuous.")] = "binary",
    groups: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Users, several rows each.", show_default="none")
    ] = None,
    logged_only: Annotated[
        bool, typer.Option("--logged-only", help="Store probabilities of the logged action alone.")
    ] = False,
    files: Annotated[
        int | None, typer.Option(metavar="N", help="Make FILE a folder of so many files.", show_default="one file")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(metavar="N", help="Threads; never change the log.", show_default="all cores, 4 at most"),
    ] = None,
    as_json: Json = False,
    seed: Seed = 0,
) -> None:
    """Write a realistic log of any size, and say what each target policy on it is truly worth."""
    from counterfold.experiments.synthetic.file import Destination, write_log
    from counterfold.experiments.synthetic.generator import Synthetic

    users = None if groups is None else size("groups", groups)
    problem = Synthetic(actions, context, targets, users, reward, logged_only, seed)  # type: ignore[arg-type] # checked there
    with bar("Writing", unit="rows") as progress:
        written = write_log(problem, size("rows", rows), Destination(file, files, force), threads, progress)
    if as_json:
        print_json(asdict(written) | {"settings": asdict(problem)})
        return
    from counterfold.report import text

    grid = text.facts()
    grid.add_row("written", str(written.path))
    grid.add_row("rows", f"{written.rows:,}")
    grid.add_row("size", f"{written.bytes / 1e6:,.1f} MB in {written.files} file{'s' * (written.files > 1)}")
    for name, value in written.truth.items():
        grid.add_row(f"truth of {name}", f"{value:.6f}")
    text.show(grid)


def size(name: str, text: str) -> int:
    """Return a whole number that may have a unit behind.

    >>> size("rows", "2.5M"), size("rows", "100k"), size("rows", "1_000"), size("rows", "1e6")
    (2500000, 100000, 1000, 1000000)
    """
    number, unit = (text[:-1], UNITS[text[-1].lower()]) if text[-1:].lower() in UNITS else (text, 1)
    with suppress(ArithmeticError):  # no number, or one that overflows
        value = Decimal(number) * unit
        if 0 <= value <= LARGEST and value == int(value):
            return int(value)
    raise ParameterError(
        f"`{name}` must be a whole number of at most 10,000 billion, like 100000, 100k, 2.5M or 1e6, got {text!r}."
    )
