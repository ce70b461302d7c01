"""A reproduced figure, and the table of costs, for the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import ConsoleRenderable
from rich.styled import Styled

from counterfold.report import make_table


def table(title: str, lines: Sequence[Any]) -> ConsoleRenderable:
    """Return a line for every method on every dataset, ours beside what was published."""
    sets, sizes, known = (any(getattr(line, name) for line in lines) for name in ("family", "size", "published"))
    headings = ["dataset", *(["rows"] * sizes), *(["family"] * sets), "method", "runs", "ours [95 %]"]
    shown = make_table(title, [*headings, *(["published [95 %]", ""] * known)])
    for line in lines:
        where = [line.dataset, *([str(line.size)] * sizes), *([line.family] * sets), line.method, str(line.runs)]
        ours = with_interval(line.mean, line.low, line.high)
        theirs = with_interval(line.published, line.published_low, line.published_high)
        shown.add_row(*where, ours, *([theirs, agreement(line)] * known))
    return shown


def costs(found: Sequence[Any]) -> ConsoleRenderable:
    """Return the seconds of every method, and their ratio to those of OCV_IPS."""
    headings = ("runs", "seconds", "times OCV_IPS", "published")
    shown = make_table("What choosing costs", ("dataset", "method"), headings)
    for one in found:
        ratios = f"{one.ratio:.3g}", f"{one.published_ratio:.3g}"
        shown.add_row(one.dataset, one.method, str(one.runs), f"{one.seconds:.4f}", *ratios)
    return shown


def with_interval(mean: float | None, low: float, high: float) -> str:
    """Return a mean with its interval, or nothing if it is not known."""
    return "" if mean is None else f"{mean:.3g} [{low:.3g}, {high:.3g}]"


def agreement(line: Any) -> str:
    """Return whether the intervals overlap or, if not, where ours lies."""
    return {None: "", True: "overlap", False: "lower" if line.mean < (line.published or 0) else "higher"}[line.overlaps]


def overlaps(lines: Sequence[Any]) -> ConsoleRenderable:
    """Return a sentence on how many intervals overlap with the published ones."""
    comparable = [line for line in lines if line.overlaps is not None]
    if not comparable:
        return Styled("Nothing was published that compares with this.", "dim")
    count = sum(line.overlaps for line in comparable)
    share = f"{count} of {len(comparable)} cells ({count / len(comparable):.0%})"
    return Styled(f"Intervals overlap in {share}.", "bold")


def paths(files: Sequence[Path]) -> ConsoleRenderable:
    """Return a sentence on where the results are."""
    return Styled(f"Written: {', '.join(str(file) for file in files)}", "dim")
