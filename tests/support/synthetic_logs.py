"""Synthetic logs in files, and in small blocks."""

import pytest

from counterfold.experiments.synthetic.file import Destination, write_log


def written(problem, rows, path, *, threads=None, **more):
    return write_log(problem, rows, Destination(path, **more), threads)


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks so small that a few thousand rows have many."""
    monkeypatch.setattr("counterfold.experiments.synthetic.generator.LARGEST_BLOCK", 512)
