"""Pool: runs independent pieces of work on a few threads, with the same results whatever their number."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from counterfold import checks
from counterfold.progress import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pool:
    """`threads=None` uses every core that this process may use."""

    threads: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        checks.whole(1, threads=self.size)

    @property
    def size(self) -> int:
        """Return the number of threads."""
        return self.threads if self.threads is not None else count_cores()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results in the order of the items."""
        results: list[Result] = []
        executor = ThreadPoolExecutor(self.size)
        try:
            with limit_blas():
                for result in executor.map(function, items):
                    results.append(result)
                    if self.progress:
                        self.progress(len(results), len(items))
        finally:
            executor.shutdown(cancel_futures=True)  # after an error or an interrupt, start nothing more
        return results

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


def limit_blas() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread: many small products gain nothing from more, and sums must not depend on their number."""
    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
