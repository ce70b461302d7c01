"""Files that are written as a whole or not at all; whether they can be is known before any work is done."""

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from counterfold.base.errors import ParameterError
from counterfold.base.messages import shorten, show

LONGEST = 200
"""The longest name of a file, in bytes: most systems know none beyond 255, and a draft's is longer."""


def require_place(argument: str, path: Any, endings: Sequence[str]) -> Path:
    """Return where a file goes that an argument names; refuse what is no place for one."""
    rule = f"`{argument}` must be the name of a file that ends in {endings[0]}"
    if not isinstance(path, (str, PathLike)):
        raise ParameterError(f"{rule}, got {shorten(path)}.")
    found, name = Path(path).expanduser(), shorten(os.fspath(path))
    if found.suffix.lower() not in endings or "\0" in str(found):
        raise ParameterError(f"{rule}, got {name}.")
    if found.is_symlink():
        found = Path(os.path.realpath(found))  # what it leads to is replaced, and the link stays
    if len(os.fsencode(found.name)) > LONGEST:
        raise ParameterError(f"`{argument}` must have a name of at most {LONGEST} bytes, got {name}.")
    if found.is_dir():
        raise ParameterError(f"`{argument}` must be a file, got the folder {name}.")
    if not found.parent.is_dir():
        raise ParameterError(f"`{argument}` must be in a folder that exists, got {name}.")
    if not os.access(found.parent, os.W_OK):
        raise ParameterError(f"`{argument}` must be in a folder that can be written to, got {name}.")
    return found


def write_whole(argument: str, path: Path, content: bytes) -> None:
    """Write a file beside its place first, so that there is never a part of one; an existing one is replaced."""
    with hold_draft(argument, path, content):
        pass


@contextmanager
def hold_draft(argument: str, path: Path, content: bytes) -> Iterator[None]:
    """Write a file beside its place, and put it there when all that is done meanwhile succeeded, or else not at all."""
    draft = path.with_name(f".{os.getpid()}.{path.name}")
    with remove_when_terminated(draft):
        try:
            with explain_failure(argument, path):
                draft.write_bytes(content)
            yield
            with explain_failure(argument, path):
                draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def remove_when_terminated(draft: Path) -> Iterator[None]:
    """Remove a draft, a file or a folder, if the process is asked to end meanwhile (SIGTERM), which then ends it.

    By itself that signal ends Python without any cleaning up. A program that handles it itself is left alone, and so
    are threads beside the main one, which cannot handle signals.
    """
    is_free = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_free and signal.getsignal(signal.SIGTERM) is not _clean_up:
        yield
        return
    _HELD.append(draft)
    if is_free:
        signal.signal(signal.SIGTERM, _clean_up)
    try:
        yield
    finally:
        _HELD.remove(draft)
        if is_free:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


_HELD: list[Path] = []
"""The drafts that are being written now, by this process."""


def _clean_up(number: int, _frame: object) -> None:
    """Remove all drafts, and end the process as the signal does by itself."""
    for draft in _HELD:
        shutil.rmtree(draft, ignore_errors=True)
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextmanager
def explain_failure(argument: str, path: Path) -> Iterator[None]:
    """Say in one sentence why a file could not be written."""
    try:
        yield
    except OSError as error:
        raise ParameterError(f"`{argument}` could not be written to {show(path)}: {error}.") from None
