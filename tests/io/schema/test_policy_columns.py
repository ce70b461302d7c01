"""Columns of another policy's probabilities are no context; shares and marks that only look so are."""

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from counterfold.io.schema.policy_columns import find_policy_columns

ROWS = 60


def make_table(columns):
    """Return a log with two actions and some more columns."""
    base = {
        "action": ["red", "blue"] * (ROWS // 2),
        "reward": np.arange(ROWS) % 7 / 7,
        "propensity": [0.5] * ROWS,
        "age": np.arange(ROWS) % 11,
    }
    return pa.table({**base, **columns})


RNG = np.random.default_rng(3)
SHARE = RNG.uniform(0.1, 0.9, ROWS)
MARK = (SHARE > 0.5).astype(float)

FOUND = {
    "with an underscore": {"second_red": SHARE, "second_blue": 1 - SHARE},
    "with a dot": {"second.red": SHARE, "second.blue": 1 - SHARE},
    "with an action that was never logged": {
        "second_red": SHARE / 2,
        "second_blue": SHARE / 2,
        "second_green": 1 - SHARE,
    },
    "deterministic and called like a policy": {"policy_b_red": MARK, "policy_b_blue": 1 - MARK},
}
NOT_FOUND = {
    "sums of other numbers": {"share_red": SHARE, "share_blue": SHARE},
    "one column": {"share_red": SHARE},
    "not called like actions": {"share_a": SHARE, "share_b": 1 - SHARE},
    "the last action of the user": {"last_red": MARK, "last_blue": 1 - MARK},
    "missing in some rows": {"share_red": np.where(MARK == 1, np.nan, SHARE), "share_blue": 1 - SHARE},
}


@pytest.mark.parametrize("columns", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_probabilities_of_another_policy_are_no_context(columns, engine, tmp_path):
    import pyarrow.parquet

    path = tmp_path / "log.parquet"
    pyarrow.parquet.write_table(make_table({**columns, "target": SHARE}), path)
    found = cf.evaluate(path, "target", engine=engine)
    assert found.contents.context == ("age",)
    assert all("name them in `context`" in found.contents.left_out[name] for name in columns)


@pytest.mark.parametrize("columns", NOT_FOUND.values(), ids=NOT_FOUND)
def test_columns_that_may_be_context_stay(columns):
    table = make_table(columns)
    assert find_policy_columns(table, "action", list(columns)) == {}
    assert find_policy_columns(table, None, list(columns)) == {}


def test_named_columns_stay_context():
    columns = FOUND["with an underscore"]
    log = cf.read_log(make_table(columns), context=["age", *columns])
    assert log.context_names == ("age", *columns)
