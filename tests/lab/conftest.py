"""Small data in place of the paper's datasets."""

from dataclasses import replace

import numpy as np
import pytest

from counterfold_lab.paper import datasets
from counterfold_lab.paper.datasets import Dataset
from counterfold_lab.paper.figures import FIGURES


@pytest.fixture
def small_datasets(monkeypatch):
    """Make every dataset the same 160 rows of three clusters."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=160)
    features = np.eye(3)[labels] + 0.6 * rng.normal(size=(160, 3))
    monkeypatch.setattr(datasets, "load_once", lambda name, _folder: Dataset(name, features, labels.astype(str)))
    return features, labels.astype(str)


@pytest.fixture
def small(small_datasets, monkeypatch):
    """Make the longest figures shorter, too; slow tests run them whole."""
    splits = {name: one for name, one in FIGURES["figure5"].selectors.items() if one.splits <= 100}
    shorter = {
        "figure3": {"betas": ((1.0, 10.0), (-1.0, -10.0))},
        "figure5": {"selectors": splits},
        "figure7": {"sizes": (10, 40, 100)},
    }
    for name, changes in shorter.items():
        monkeypatch.setitem(FIGURES, name, replace(FIGURES[name], **changes))
    return small_datasets
