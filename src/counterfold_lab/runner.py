"""Runs the independent tasks of an experiment, and records each in a journal, so that a killed run can go on."""

import ast
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import counterfold
import counterfold_lab
from counterfold.base.errors import DataError
from counterfold.base.progress import Progress
from counterfold.base.threads import limit_blas
from counterfold_lab.files import Row
from counterfold_lab.journal import open_journal

Work = Callable[[Any], list[Row]]
"""Returns the rows of a task; it must be picklable, because other processes are sent it."""

SHOWING = {"cli", "commands", "report", "results"}
"""Packages and modules that only show results, so that rows do not depend on them."""

PACKAGES = (Path(counterfold.__file__).parent, Path(counterfold_lab.__file__).parent)
"""The folders of the code that rows depend on."""


def run_tasks(
    tasks: Sequence[Any], work: Work, journal: Path, settings: Row, jobs: int = 1, progress: Progress | None = None
) -> list[Row]:
    """Return the rows of all tasks, in the order of the tasks, whatever the number of jobs and of restarts.

    A task is identified by its text. Its rows are appended to the journal when it is done, and a task whose rows are
    there, as it was written, is not done again. `settings` are what else the rows depend on: a journal of other
    settings is refused.
    """
    report = progress or (lambda *_: None)
    with open_journal(journal, settings) as kept:
        missing = [task for task in tasks if str(task) not in kept.done]
        start = len(tasks) - len(missing)
        report(start, len(tasks))
        for count, (task, rows) in enumerate(compute_rows(missing, work, jobs), start + 1):
            kept.add(str(task), rows)
            report(count, len(tasks))
        return [row for task in tasks for row in kept.done[str(task)]]


def compute_rows(tasks: Sequence[Any], work: Work, jobs: int) -> Iterator[tuple[Any, list[Row]]]:
    """Yield each task with its rows, as soon as they are known."""
    if jobs == 1 or len(tasks) < 2:
        yield from ((task, work_on_one_thread(work, task)) for task in tasks)
        return
    executor = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=watch_parent, initargs=(os.getpid(),))
    try:
        futures = {executor.submit(work_on_one_thread, work, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise DataError("a worker ended before its piece was done; run the same again to go on from there.") from None
    finally:
        for worker in list((executor._processes or {}).values()):  # noqa: SLF001 (an interrupt must not wait for tasks)
            worker.terminate()
        executor.shutdown(wait=False, cancel_futures=True)


def work_on_one_thread(work: Work, task: Any) -> list[Row]:
    """Return the rows of a task, computed on one thread."""
    with limit_blas():
        return work(task)


def watch_parent(parent: int) -> None:
    """End this worker soon after the process that started it has ended, so that a kill leaves nothing running."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def digest_code(folders: Sequence[Path] = PACKAGES) -> str:
    """Return 16 digits that change when a statement of the packages does, except in what only shows results."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            module = file.relative_to(folder).with_suffix("")
            if SHOWING.isdisjoint(module.parts):
                code = dump_code(file.read_text(encoding="utf-8"))
                digest.update(f"{folder.name}/{module.as_posix()} {code}".encode())
    return digest.hexdigest()[:16]


def dump_code(source: str) -> str:
    """Return the syntax tree of a module as text: without comments, layout, docstrings and other idle texts.

    >>> dump_code("x = 1  # one") == dump_code('"Doc."; x = (1)')
    True
    """

    def is_text(statement: ast.stmt) -> bool:
        value = statement.value if isinstance(statement, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, str)

    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [statement for statement in node.body if not is_text(statement)]
    return ast.dump(tree)
