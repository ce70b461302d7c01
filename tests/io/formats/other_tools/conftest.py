"""Files of other tools, which are read a few lines at a time."""

import gzip

import pytest


@pytest.fixture
def save(tmp_path):
    """Return a function that writes a file, packed where its name says so, and returns its path."""

    def write(text, name="log.dsjson"):
        data = text.encode() if isinstance(text, str) else text
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr("counterfold.io.formats._events.BATCH", 128)
    monkeypatch.setattr("counterfold.io.formats._events.BLOCK", 1000)
