"""Runs the many independent pieces of an experiment, remembers each as soon as it is done, and goes on after a kill."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from counterfold.errors import DataError, ParameterError
from counterfold.pool import one_blas_thread
from counterfold.progress import Progress

Row = dict[str, Any]
Work = Callable[[Any], list[Row]]
"""From a piece to its rows; a module's function, perhaps partial, so that other processes can be sent it."""


def rows_of(
    pieces: Sequence[Any],
    work: Work,
    journal: Path,
    settings: dict[str, Any],
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Row]:
    """Return the rows of all pieces, in the order of the pieces, whatever the number of jobs and of restarts.

    A piece is known by its text. Each one's rows are appended to the journal when it is done; pieces that are there
    already are not done again. `settings` are what else the rows depend on: a journal of others is refused.
    """
    with opened(journal, settings) as (file, done):
        missing = [piece for piece in pieces if str(piece) not in done]
        count = len(pieces) - len(missing)
        if progress:
            progress(count, len(pieces))
        for piece, rows in performed(missing, work, jobs):
            done[str(piece)] = rows
            file.write(json.dumps({"piece": str(piece), "rows": rows}) + "\n")
            file.flush()
            os.fsync(file.fileno())
            count += 1
            if progress:
                progress(count, len(pieces))
    return [row for piece in pieces for row in done[str(piece)]]


@contextmanager
def opened(journal: Path, settings: dict[str, Any]) -> Iterator[tuple[TextIO, dict[str, list[Row]]]]:
    """Yield the journal, ready to be appended to, and what it holds; a line that a kill cut short is cut off."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a+", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        locked(file, journal)
        for stale in journal.parent.glob(f".[0-9]*.{journal.stem}*"):
            stale.unlink(missing_ok=True)  # of a run that was killed while it wrote
        file.seek(0)
        header, done, text = None, {}, file.read()
        whole_lines, _, cut = text.rpartition("\n")
        if cut:
            file.truncate(len(f"{whole_lines}\n".encode()) if whole_lines else 0)
        for line in whole_lines.splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a damaged line is done again
                entry = json.loads(line)
                if header is None:
                    header = dict(entry)
                else:
                    done[entry["piece"]] = entry["rows"]
        if header is None:
            file.write(json.dumps(settings) + "\n")
        elif header != json.loads(json.dumps(settings)):
            others = ", ".join(f"{name} {value}" for name, value in header.items() if settings.get(name) != value)
            raise ParameterError(
                f"`{journal.parent}` holds results of other settings ({others}): give another `--out`."
            )
        yield file, done


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a file that takes the path's place once all is written into it, so that no half of it is ever seen."""
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def saved(rows: Sequence[Row], path: Path) -> Path:
    """Write rows as Parquet, and return the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with whole(path) as part:
        pq.write_table(pa.Table.from_pylist(list(rows)), part)
    return path


def locked(file: TextIO, journal: Path) -> None:
    """Refuse a journal that another run is writing to; the system frees it when that run ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError(f"`{journal.parent}` must not be in use, but another run is writing there.") from None


def performed(pieces: Sequence[Any], work: Work, jobs: int) -> Iterator[tuple[Any, list[Row]]]:
    """Yield each piece with its rows, as they are done."""
    if jobs == 1 or len(pieces) < 2:
        with one_blas_thread():
            for piece in pieces:
                yield piece, work(piece)
        return
    executor = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=prepared, initargs=(os.getpid(),))
    try:
        futures: dict[Future[list[Row]], Any] = {
            executor.submit(partial(alone, work), piece): piece for piece in pieces
        }
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise DataError("a worker ended before its piece was done; run the same again to go on from there.") from None
    finally:
        for worker in list((executor._processes or {}).values()):  # noqa: SLF001 (an interrupt must not wait for pieces)
            worker.terminate()
        executor.shutdown(wait=False, cancel_futures=True)


def alone(work: Work, piece: Any) -> list[Row]:
    """Return a piece's rows, computed on one thread."""
    with one_blas_thread():
        return work(piece)


def prepared(parent: int) -> None:
    """End this worker when the run that started it is gone, so that nothing is left behind by a kill."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
