"""Formatting only: what was computed, made readable."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def make_table(title: str, names: Sequence[str], numbers: Sequence[str] = (), gap: int = 2) -> "Table":
    """Return an empty table with columns of names, which may wrap, and columns of numbers, set to the right."""
    from rich.table import Table  # figures are found in this package by every evaluation, which shows no table

    table = Table(title=title, box=None, title_justify="left", title_style="bold", padding=(0, gap, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=True)
    return table
