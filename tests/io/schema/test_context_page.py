"""Every call on the page of context is run."""

import datetime as dt
import re

import numpy as np
import pyarrow as pa
import pytest

import counterfold as cf
from places import ROOT

PAGE = (ROOT / "docs" / "context.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^\| ([^|]+) \| .* \| `(cf\.evaluate\(.*\))` \|$", PAGE, re.MULTILINE)
NAMES = {
    "age": {"age"},
    "income": {"income", "income is missing"},
    "city": {"city=Rome", "city=(rare)", "city is missing"},
    "zip": {"zip"},
    "joined": {"joined: days since the first", "joined: weekday", "joined: hour", "joined is missing"},
    "embedding": {"embedding.0", "embedding.1"},
}


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(0)
    rows = 400
    age, action = rng.normal(size=rows), rng.integers(2, size=rows)
    start = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    columns = {
        "age": age,
        "income": [None if row % 9 == 0 else float(row % 50) for row in range(rows)],
        "city": [
            None if row % 17 == 0 else ("Paris", "Rome")[row % 2] if row > 5 else f"v{row}" for row in range(rows)
        ],
        "zip": [f"{row % 90}" for row in range(rows)],
        "joined": [None if row % 11 == 0 else start + dt.timedelta(hours=7 * row) for row in range(rows)],
        "embedding": rng.normal(size=(rows, 2)).tolist(),
        "action": np.array(["a", "b"])[action],
        "reward": age + action + rng.normal(size=rows),
        "propensity": np.full(rows, 0.5),
        "target": rng.uniform(0.1, 0.9, rows),
    }
    return pa.table(columns)


@pytest.mark.parametrize("call", [call for _, call in CALLS], ids=[kind for kind, _ in CALLS])
def test_the_calls_on_the_page(call, log):
    found = eval(call, {"cf": cf, "log": log})  # noqa: S307 (our own page)
    name = found.contents.context[0].partition(".")[0]
    assert {one for one, _ in found.contents.columns} == NAMES.pop(name)
    for one in {one for one, _ in found.contents.columns} - {name}:
        assert re.sub(r"\d+$", "0", one) in PAGE


def test_the_page_has_a_call_for_every_kind():
    assert len(CALLS) == 6


def test_the_page_says_what_is_taken_by_default(log):
    found = cf.evaluate(log)
    assert found.contents.context == ("age", "income", "city")
    assert set(found.contents.left_out) == {"zip", "joined", "embedding"}
