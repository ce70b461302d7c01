"""The journal of an experiment: its settings and the rows of each task, one signed line each, so that a run can go on.

A signature is a checksum of the settings and of what the line says. It shows a line that was changed, cut or taken from
a journal of other settings by accident; it is no proof against somebody who means to deceive.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from counterfold.base import messages
from counterfold.base.errors import DataError, ParameterError
from counterfold_lab.files import Row


@dataclass(frozen=True, eq=False)
class Journal:
    """A file that is open to be appended to, the settings of its rows, and the rows of each task that it holds."""

    file: TextIO
    settings: Row
    done: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, task: str, rows: list[Row]) -> None:
        """Record the rows of a task; they are on the disk when this returns."""
        self.done[task] = rows
        self.write({"piece": task, "rows": rows})
        self.file.flush()
        os.fsync(self.file.fileno())

    def write(self, record: Row) -> None:
        """Write a signed line."""
        self.file.write(json.dumps({"checksum": sign(record, self.settings), **record}) + "\n")


@contextmanager
def open_journal(path: Path, settings: Row) -> Iterator[Journal]:
    """Yield the journal of these settings, new or with what it holds; refuse one of others, and one in use."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lock(file, path)
        for draft in folder.glob(f".[0-9]*.{path.stem}*"):  # what killed processes left
            draft.unlink(missing_ok=True)
        journal = Journal(file, json.loads(json.dumps(settings)))
        lines = read_lines(file)
        if lines:
            check_settings(lines, journal.settings, folder)
            journal.done.update(read_rows(lines, journal.settings, path))
        else:
            journal.write({"settings": journal.settings})
        yield journal


def check_journal(path: Path, settings: Row) -> None:
    """Refuse a journal of other settings, or one in use, before work is done that it does not hold."""
    with open_journal(path, settings):
        pass


def lock(file: TextIO, path: Path) -> None:
    """Refuse a journal that another run is writing to; the system unlocks it when that run ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError(f"`{path.parent}` must not be in use, but another run is writing there.") from None


def read_lines(file: TextIO) -> list[Row | None]:
    """Return what each line says, nothing of a broken one; cut off a last line that a kill left unfinished."""
    file.seek(0)
    text = file.read()
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        file.truncate(len(complete.encode(errors="surrogateescape")))
    return [parse_line(line) for line in complete.split("\n")[:-1]]


def parse_line(line: str) -> Row | None:
    """Return an object in JSON, or nothing."""
    with suppress(ValueError, TypeError, RecursionError):
        return dict(json.loads(line))
    return None


def sign(record: Row, settings: Row) -> str:
    """Return 16 digits that change when a record or its settings do."""
    said = {name: value for name, value in record.items() if name != "checksum"}
    return hashlib.sha256(json.dumps([settings, said]).encode()).hexdigest()[:16]


def check_settings(lines: list[Row | None], settings: Row, folder: Path) -> None:
    """Refuse a journal of other settings by their names, and one whose settings cannot be read."""
    first = lines[0] or {}
    found: Any = first.get("settings")
    if not isinstance(found, dict) or first.get("checksum") != sign(first, found):
        got = "one whose first line is damaged, or that another version wrote"
        raise DataError(f"`{folder}` must hold a journal of this version, got {got}: give another `--out`.")
    if found != settings:
        others = ", ".join(f"{name} {value}" for name, value in found.items() if settings.get(name) != value)
        raise ParameterError(f"`{folder}` holds results of other settings ({others}): give another `--out`.")


def read_rows(lines: list[Row | None], settings: Row, path: Path) -> dict[str, list[Row]]:
    """Return the rows of each task that is signed for these settings; warn of other lines, refuse contradictions."""
    done: dict[str, list[Row]] = {}
    signed = [line for line in lines if line is not None and line.get("checksum") == sign(line, settings)]
    for line in signed:
        if "piece" in line and done.setdefault(line["piece"], line["rows"]) != line["rows"]:
            got = f"two different ones for {line['piece']}"
            raise DataError(f"`{path}` must hold one result per task, got {got}: give another `--out`.")
    if len(signed) < len(lines):
        count = f"{len(lines) - len(signed)} of {len(lines)} lines"
        problem = f"`{path}` is damaged: {count} are not as they were written and do not count"
        warnings.warn(messages.clean_sentence(problem), stacklevel=2)
    return done
