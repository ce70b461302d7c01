"""A process of its own for files that might end it."""

import pytest

from children import Child


@pytest.fixture(scope="session")
def evaluate_apart():
    """Return a function that says what each engine says of a file, and fails if that ends the process."""
    child = Child()
    yield child.evaluate
    child.end()
