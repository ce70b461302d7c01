"""A bar for anything that takes more than two seconds."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Timer
from time import monotonic
from typing import Any

from counterfold.errors import ParameterError, blame
from counterfold.messages import shorten

Progress = Callable[[int, int], None]
"""Called with the pieces done and the pieces in all."""


def as_progress(value: Any) -> "Progress | bool":
    """Return what a user gives as progress, checked; a function may raise anything, and is blamed for it."""
    if isinstance(value, bool):
        return value
    if not callable(value):
        what = "True, False or a function of the pieces of work done and in all"
        raise ParameterError(f"`progress` must be {what}, got {shorten(value)}.")

    def move(done: int, total: int) -> None:
        with blame(ParameterError, "the function that is `progress`"):
            value(done, total)

    return move


def show_progress(
    label: str, *, progress: "Progress | bool", unit: str | None = None
) -> AbstractContextManager["Progress | None"]:
    """Return a context manager that yields the progress function: the user's own, our bar's, or None."""
    return bar(label, unit=unit) if progress is True else nullcontext(progress or None)


@contextmanager
def bar(label: str, *, after: float = 2.0, unit: str | None = None) -> Iterator[Progress]:
    """Show a bar on stderr once `after` seconds have passed, and yield what moves it.

    Only a terminal or a notebook gets one, so that logs stay clean; with `after=0` it is shown anywhere.
    With a `unit`, such as rows, it also says how many of them are done per second.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    label_column, count = TextColumn("{task.description}", markup=False), MofNCompleteColumn()
    columns = label_column, BarColumn(), TextColumn("{task.fields[pace]}") if unit else count, TimeRemainingColumn()
    shown = Progress(*columns, console=console, speed_estimate_period=3600)  # pieces may be minutes apart
    task = shown.add_task(label, total=None, pace="")
    start = monotonic()

    def move(done: int, total: int) -> None:
        pace = f"{done:,} of {total:,} {unit}, {done / (monotonic() - start):,.0f}/s"
        shown.update(task, completed=done, total=total, pace=pace)

    timer = Timer(after, shown.start)
    timer.daemon = True
    if after == 0 or console.is_terminal or console.is_jupyter:
        timer.start()
    try:
        yield move
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        if shown.live.is_started:
            shown.stop()
