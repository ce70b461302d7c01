"""Pool: runs independent pieces of work on a few threads, with the same results whatever their number."""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from counterfold.base import validation
from counterfold.base.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pool:
    """`threads=None` uses every core that this process may use."""

    threads: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        validation.whole(1, threads=self.size)

    @property
    def size(self) -> int:
        """Return the number of threads."""
        return self.threads if self.threads is not None else count_cores()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results in the order of the items."""
        results: list[Result] = []
        with limit_blas(), closing(self._run(function, items)) as found:
            for result in found:
                results.append(result)
                if self.progress:
                    self.progress(len(results), len(items))
        return results

    def _run(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Generator[Result]:
        """Yield the results in the order of the items; no thread is started where one piece of work runs at a time."""
        if min(self.size, len(items)) < 2:
            yield from map(function, items)
            return
        executor = ThreadPoolExecutor(self.size)
        try:
            yield from executor.map(function, items)
        finally:
            executor.shutdown(cancel_futures=True)  # after an error or an interrupt, start nothing more

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result]:
        """Yield the results in the order of the items, computed at most one per thread ahead; close it if you stop."""
        ahead: deque[Future[Result]] = deque()
        executor = ThreadPoolExecutor(self.size)
        try:
            with limit_blas():
                for item in items:
                    ahead.append(executor.submit(function, item))
                    if len(ahead) > self.size:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
        finally:
            executor.shutdown(cancel_futures=True)


@dataclass(eq=False)
class BlasLimit:
    """Keeps BLAS to one thread while anybody needs that, on whichever thread: the setting is one of the process.

    `users` is how many do now. Whoever comes limits what is loaded and not limited yet; the last one to go restores
    what each library in `before` had. Libraries come with modules: the process is searched for them, which takes
    milliseconds, only if it has another number of `modules` than when they were `found`.
    """

    users: int = 0
    before: dict[str, tuple[Any, int]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    modules: int = 0
    found: list[Any] = field(default_factory=list)

    def enter(self) -> None:
        """Limit every BLAS that is loaded."""
        with self.lock:
            self.users += 1
            for library in self.find_libraries():
                if library.num_threads > 1:
                    self.before.setdefault(library.filepath, (library, library.num_threads))
                    set_blas_threads(library, 1)

    def find_libraries(self) -> list[Any]:
        """Return every BLAS that is loaded."""
        if self.modules != len(sys.modules):
            self.modules, self.found = len(sys.modules), ThreadpoolController().select(user_api="blas").lib_controllers
        return self.found

    def leave(self) -> None:
        """Restore all if nobody is left."""
        with self.lock:
            self.users -= 1
            while self.users == 0 and self.before:
                _, (library, threads) = self.before.popitem()
                set_blas_threads(library, threads)


def set_blas_threads(library: Any, threads: int) -> None:
    """Set the number of threads of a BLAS, from any thread.

    By itself, threadpoolctl 3.8 lets one thread alone do so, and ignores all others until it has ended.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


BLAS = BlasLimit()
"""The limit of this process."""


@contextmanager
def limit_blas() -> Iterator[None]:
    """Keep BLAS to one thread: many small products gain nothing from more, and sums must not depend on their number."""
    BLAS.enter()
    try:
        yield
    finally:
        BLAS.leave()


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
