"""Pool: the order of results, errors, and how many threads BLAS has during and after the work."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier, get_ident

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import counterfold as cf
from counterfold.base.threads import BLAS, limit_blas


@pytest.mark.parametrize("threads", [1, 2, None])
def test_pool_keeps_the_order(threads):
    assert cf.Pool(threads).map(lambda number: number**2, range(50)) == [number**2 for number in range(50)]


@pytest.mark.parametrize(("threads", "pieces"), [(1, 3), (4, 1)])
def test_work_that_runs_one_piece_at_a_time_needs_no_thread(threads, pieces):
    assert cf.Pool(threads).map(lambda _: get_ident(), range(pieces)) == [get_ident()] * pieces


def test_pool_passes_errors_on():
    with pytest.raises(ZeroDivisionError):
        cf.Pool(2).map(lambda number: 1 // number, [1, 0, 2])


def count_blas_threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_blas_is_limited_inside_and_restored_after_threads_that_overlap():
    before = count_blas_threads()
    with threadpool_limits(2, user_api="blas"):
        wanted = count_blas_threads()
        seen, start = [], Barrier(8)

        def work(number):
            start.wait(timeout=60)
            for turn in range(20):
                with suppress(ZeroDivisionError), limit_blas(), limit_blas():
                    seen.extend(count_blas_threads())
                    _ = 1 // ((number + turn) % 3)

        with ThreadPoolExecutor(8) as executor:
            list(executor.map(work, range(8)))
        assert set(seen) == {1}
        assert count_blas_threads() == wanted
        assert (BLAS.users, BLAS.before) == (0, {})
    assert count_blas_threads() == before


def test_blas_is_restored_after_evaluations_in_threads():
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=60)
    log = cf.Log(context=rng.normal(size=(60, 2)), action=action, reward=rng.normal(size=60), propensity=[0.5] * 60)
    with threadpool_limits(2, user_api="blas"):
        wanted = count_blas_threads()
        with ThreadPoolExecutor(8) as executor:
            run = partial(cf.evaluate, log, {0: 0.2, 1: 0.8}, candidates=["ips", "dr"], threads=1, progress=False)
            values = {one.result().value for one in [executor.submit(run) for _ in range(16)]}
        assert len(values) == 1
        assert count_blas_threads() == wanted


def test_a_stream_that_is_not_read_to_its_end_restores_blas():
    with threadpool_limits(2, user_api="blas"):
        wanted = count_blas_threads()
        stream = cf.Pool(1).stream(abs, range(100))
        assert next(stream) == 0
        stream.close()
        assert count_blas_threads() == wanted
