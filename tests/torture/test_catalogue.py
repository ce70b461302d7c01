"""Every entry of the corruption catalogue ends as it may: refused by one clear sentence, or answered right."""

from zlib import crc32

import pytest

from torture.catalogue import ENGINES, find_entries
from torture.outcomes import judge
from torture.workers import Worker, run_entry

ENTRIES = find_entries()
WAYS = (*ENGINES, "python", "command", "process")


@pytest.fixture(scope="session")
def worker():
    """Return a process that runs entries, and is replaced when it dies."""
    with Worker() as made:
        yield made


def list_cases():
    """Yield all entries; CI runs every second one, which the checksum of its name tells, and `make test-all` all."""
    for name, one in ENTRIES.items():
        if {*one.ways} & {*WAYS}:
            is_slow = one.is_slow or crc32(name.encode()) % 2
            yield pytest.param(one, id=name, marks=[pytest.mark.slow] if is_slow else [])


@pytest.mark.parametrize("one", [*list_cases()])
def test_it_ends_as_it_may(one, worker):
    result = judge(one, run_entry(worker, one, WAYS))
    assert result.outcome in {"refused", "right"}, f"{result.text}\nrepeat: python -m torture --only {one.name!r}"


def test_the_catalogue_is_large():
    calls = [name for name in ENTRIES if name.startswith("calls/")]
    assert len(ENTRIES) - len(calls) > 250
    assert len(calls) > 100
