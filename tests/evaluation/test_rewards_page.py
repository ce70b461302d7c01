"""Every call on the page of rewards is run."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from places import ROOT

PAGE = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^\| ([^|]+) \| `(cf\..*\))` \|$", PAGE, re.MULTILINE))
ROWS = 700


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    """Write the file that the calls name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    is_in = rng.random(ROWS) < 0.8
    decided = np.datetime64("2024-01-01", "s") + np.arange(ROWS) * np.timedelta64(1, "h")
    columns = {
        "action": np.array(["a", "b"])[rng.integers(2, size=ROWS)],
        "score": pa.array(rng.normal(size=ROWS), mask=~is_in),
        "click": pa.array(np.ones(ROWS), mask=~is_in),
        "decided": decided,
        "clicked": pa.array(decided + np.timedelta64(1, "D"), mask=~is_in),
        "spend": rng.exponential(size=ROWS),
        "cost": rng.random(ROWS),
        "propensity": np.full(ROWS, 0.5),
        "target": ["b"] * ROWS,
    }
    pa.parquet.write_table(pa.table(columns), "logs.parquet")


def test_the_page_has_a_table():
    assert len(LINES) == 9


@pytest.mark.parametrize("kind", LINES)
def test_the_calls_on_the_page(kind):
    pytest.importorskip("duckdb")
    call = LINES[kind].removesuffix(")") + ", ignore=['score', 'click', 'spend', 'cost'])"
    found = eval(call, {"cf": cf})  # noqa: S307 (our own page)
    rewards = re.search(r"reward=\[(.*?)\]", call)
    assert rewards is None or len(found) == len(rewards[1].split(", "))


def test_the_options_on_the_page_are_those_of_the_command(run_command):
    commands = re.findall(r"^counterfold (evaluate .*)$", PAGE, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert run_command(command) == 0


@pytest.fixture
def run_command():
    """Return what runs a command as it is written."""
    import shlex

    from counterfold.cli import app

    def run(text):
        return app([*shlex.split(text), "--ignore", "score,click,spend,cost"], standalone_mode=False) or 0

    return run
