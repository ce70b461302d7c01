"""A bar for anything that takes more than two seconds."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from threading import Timer
from time import monotonic
from typing import Any

from counterfold.base.errors import ParameterError, blame
from counterfold.base.messages import shorten

PATIENCE = 2.0
"""What takes no more seconds needs no bar."""

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
def bar(label: str, *, after: float = PATIENCE, unit: str | None = None) -> Iterator[Progress]:
    """Show a bar on stderr once `after` seconds have passed, and yield what moves it; it is gone when all is done.

    Only a terminal gets one, and a notebook with ipywidgets, so that logs stay clean. It says what is done, how far it
    is and how much time is left; with a `unit`, such as rows, also how many of them are done per second.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(16), TextColumn("{task.fields[pace]}")
    shown = Progress(*columns, console=console, transient=True)
    task = shown.add_task(label, total=None, pace="")
    start = monotonic()

    def move(done: int, total: int) -> None:
        pace = describe_pace(done, total, monotonic() - start, unit)
        shown.update(task, completed=done, total=total, pace=pace)

    timer = Timer(after, shown.start)
    timer.daemon = True
    if console.is_terminal or (console.is_jupyter and find_spec("ipywidgets") is not None):
        timer.start()
    try:
        yield move
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        if shown.live.is_started:
            shown.stop()


def describe_pace(done: int, total: int, seconds: float, unit: str | None) -> str:
    """Return how far something is after so many seconds, how fast it goes and how much time is left.

    >>> describe_pace(3_000_000, 12_000_000, 6.0, "rows")
    '3.0M of 12M rows, 500k/s, 0:18 left'
    >>> describe_pace(3, 4, 60.0, None)
    '3 of 4, 0:20 left'
    """
    left = seconds * (total - done) / done if done else 0.0
    minutes, rest = divmod(round(left), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    speed = f" {unit}, {shorten_count(done / seconds)}/s" if unit and seconds else ""
    return f"{shorten_count(done)} of {shorten_count(total)}{speed}" + (f", {clock} left" if done else "")


def shorten_count(number: float) -> str:
    """Return a number of things in at most four characters or so.

    >>> [shorten_count(number) for number in (0.25, 7, 950, 1200, 45_678, 3_000_000, 2.5e9)]
    ['0.2', '7', '950', '1.2k', '46k', '3.0M', '2.5G']
    """
    for letter, size in {"G": 1e9, "M": 1e6, "k": 1e3}.items():
        if number >= size:
            return f"{number / size:.{1 if number < 10 * size else 0}f}{letter}"
    return f"{number:.0f}" if number >= 10 or number == round(number) else f"{number:.1f}"
