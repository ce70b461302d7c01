"""Small data in place of the paper's datasets, and small blocks of synthetic logs."""

from dataclasses import replace

import numpy as np
import pytest

from counterfold.experiments.paper import datasets
from counterfold.experiments.paper.datasets import Dataset
from counterfold.experiments.paper.figures import FIGURES
from synthetic_logs import small_blocks  # noqa: F401 (a fixture for the tests here)


@pytest.fixture
def small(monkeypatch):
    """Make every dataset the same 160 rows of three clusters."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=160)
    features = np.eye(3)[labels] + 0.6 * rng.normal(size=(160, 3))
    monkeypatch.setattr(datasets, "load_once", lambda name, _folder: Dataset(name, features, labels.astype(str)))
    few = replace(FIGURES["figure7"], sizes=(10, 40, 100))
    monkeypatch.setitem(FIGURES, "figure7", few)
    return features, labels.astype(str)
