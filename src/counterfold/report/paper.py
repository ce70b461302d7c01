"""The summary of a reproduced figure for the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import ConsoleRenderable
from rich.table import Table
from rich.text import Text


def table(title: str, lines: Sequence[Any]) -> ConsoleRenderable:
    """Return a line for every method on every dataset, ours beside what was published."""
    families, sizes, known = (any(getattr(line, part) for line in lines) for part in ("family", "size", "published"))
    shown = Table(title=title, box=None, title_justify="left", title_style="bold", padding=(0, 2, 0, 0))
    headings = ["dataset", *(["rows"] * sizes), *(["family"] * families), "method", "runs", "ours [95 %]"]
    for heading in [*headings, *(["published [95 %]", ""] * known)]:
        shown.add_column(heading, overflow="fold")
    for line in lines:
        where = [line.dataset, *([str(line.size)] * sizes), *([line.family] * families), line.method, str(line.runs)]
        shown.add_row(*where, ours(line), *([theirs(line), agreement(line)] * known))
    return shown


def costs(found: Sequence[Any]) -> ConsoleRenderable:
    """Return the seconds of every method, and how many times those of OCV_IPS they are."""
    shown = Table(title="What choosing costs", box=None, title_justify="left", title_style="bold", padding=(0, 2, 0, 0))
    for heading in ("dataset", "method", "runs", "seconds", "times OCV_IPS", "published"):
        shown.add_column(heading, justify="left" if heading in ("dataset", "method") else "right")
    for one in found:
        numbers = f"{one.seconds:.4f}", f"{one.ratio:.3g}", f"{one.published_ratio:.3g}"
        shown.add_row(one.dataset, one.method, str(one.runs), *numbers)
    return shown


def ours(line: Any) -> str:
    """Return our mean with its interval."""
    return f"{line.mean:.3g} [{line.low:.3g}, {line.high:.3g}]"


def theirs(line: Any) -> str:
    """Return the published mean with its interval."""
    if line.published is None:
        return ""
    return f"{line.published:.3g} [{line.published_low:.3g}, {line.published_high:.3g}]"


def agreement(line: Any) -> str:
    """Say whether the intervals overlap."""
    return {None: "", True: "overlap", False: "lower" if line.mean < (line.published or 0) else "higher"}[line.overlaps]


def verdict(lines: Sequence[Any]) -> ConsoleRenderable:
    """Say in how many cells the intervals overlap."""
    judged = [line for line in lines if line.overlaps is not None]
    if not judged:
        return Text("Nothing was published that compares with this.", style="dim")
    count = sum(line.overlaps for line in judged)
    return Text(f"Intervals overlap in {count} of {len(judged)} cells ({count / len(judged):.0%}).", style="bold")


def written(files: Sequence[Path]) -> ConsoleRenderable:
    """Say where the results are."""
    return Text(f"Written: {', '.join(str(file) for file in files)}", style="dim")
