"""The log of `fitted_logs` as a table."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from fitted_logs import LABELS, draw


@pytest.fixture
def table():
    """Return a log without propensities, with a target in columns."""
    x, action, _, reward, target = draw()
    columns = {"x0": x[:, 0], "x1": x[:, 1], "action": LABELS[action], "reward": reward}
    return pa.table(columns | {f"target_{label}": target[:, place] for place, label in enumerate(LABELS)})
