"""Logs of doses, of several loggers, and features of actions; and small blocks of synthetic logs."""

import numpy as np
import pytest

from tables import FORMATS, table_of


@pytest.fixture
def doses(tmp_path):
    """Save a log of prices with a column of other numbers, or change it (None leaves a column out)."""
    rng = np.random.default_rng(0)
    age = rng.uniform(18, 80, size=150)
    price = rng.normal(age / 5, 2.0)
    table = {
        "age": age,
        "dose": price,
        "reward": price * (price < age / 5 + 1) + rng.normal(size=150),
        "propensity": np.exp(-(((price - age / 5) / 2.0) ** 2) / 2) / 2.0 / np.sqrt(2 * np.pi),
        "target": age / 5 - 0.5,
        "draws": age[:, None] / 5 + rng.normal(size=(150, 3)),
        "far": age + 30,
        "q": np.ones((150, 2)),
    }

    def write(name="log.parquet", **changes):
        (tmp_path / name).write_bytes(FORMATS[name](table_of(table | changes)))
        return name

    return write


@pytest.fixture
def loggers(save, columns):
    """Save a log of two policies, and return its name."""

    def write(**changes):
        old, new = columns["logging_probs"], columns["target"][:, [1, 0, 2]]
        probs = {"logger_probs.old": old, "logger_probs.new": new}
        return save(**{"logging_probs": None, "logger": ["old", "new"] * 60} | probs | changes).name

    return write


@pytest.fixture
def items(tmp_path):
    """Save features of the actions, and return the name of the file."""
    (tmp_path / "items.csv").write_text("action,size,kind\n2,5,1\n0,3,1\n1,5,0\n7,1,1\n")
    return "items.csv"
