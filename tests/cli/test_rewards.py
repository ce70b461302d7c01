"""Rewards on the command line: what is missing, what comes late, several at once and expressions."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

ROWS = 600


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    columns = {
        "action": np.array(["a", "b"])[action],
        "click": pa.array(rng.integers(2, size=ROWS), mask=rng.random(ROWS) < 0.1),
        "spend": action + rng.normal(size=ROWS),
        "propensity": np.full(ROWS, 0.5),
        "target": ["b"] * ROWS,
        "time": np.datetime64("2024-01-01", "s") + np.arange(ROWS) * np.timedelta64(1, "h"),
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


def test_the_error_names_the_options(path, run):
    code, out, err = run("evaluate", path, "--reward", "click")
    assert (code, out) == (2, "")
    assert "(--missing-reward drop)" in err
    assert "(--missing-reward zero)" in err


def test_missing_rewards(path, run):
    code, out, _ = run("check", path, "--reward", "click", "--missing-reward", "drop", "--json")
    found = json.loads(out)["diagnostics"][0]
    assert code == 0
    assert found["missing_rewards"] + found["rows"] == ROWS


def test_a_horizon(path, run):
    given = "--reward", "spend", "--ignore", "click", "--horizon", "5d", "--until", "2024-01-20"
    code, out, _ = run("check", path, *given, "--json")
    assert code == 0
    assert json.loads(out)["log"]["rows"] == 14 * 24 + 1
    code, _, err = run("check", path, "--reward", "spend", "--horizon", "soon")
    assert (code, err) == (2, "Error: `horizon` must be a length of time such as 7d, 12h or 30min, got 'soon'.\n")


@pytest.mark.parametrize("command", ["evaluate", "check", "compare"])
def test_several_rewards(path, run, command):
    pytest.importorskip("duckdb")
    rewards = ["spend", "spend - coalesce(click, 0)", "greatest(spend, 0)"]
    given = [word for reward in rewards for word in ("--reward", reward)]
    code, out, err = run(command, path, *given, "--json")
    assert (code, err) == (0, "")
    assert [one["reward"] for one in json.loads(out)["rewards"]] == rewards
    code, out, err = run(command, path, *given)
    assert (code, err) == (0, "")
    assert all(reward in out for reward in rewards)


def test_segments_are_told_of_several_rewards(run, save):
    rewards = {"cost": [float(row % 7) for row in range(120)]}
    asked = "evaluate", save(**rewards), "--reward", "reward", "--reward", "cost"
    code, out, _ = run(*asked, "--by", "age:2")
    assert code == 0
    assert [out.count(f"target by {reward}, by age") for reward in ("reward", "cost")] == [1, 1]
    assert run(*asked, "--by", "age:2", "--all")[1].count("by age") == 2


def test_a_worse_verdict_names_the_reward(path, run):
    code, _, err = run(
        "check", path, "--reward", "spend", "--reward", "click", "--missing-reward", "zero", "--require", "good"
    )
    assert (code, err) == (0, "")
    given = "--reward", "spend", "--reward", "case when spend > 3 then 1e6 else spend end", "--ignore", "click"
    code, _, err = run("check", path, *given, "--require", "good")
    assert code == 3
    assert "`target` by `case when spend > 3" in err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--reward", "spend", "--reward", "spend"], "`reward` must be given once each"),
        (["--reward", "spend - 0.2 * cots"], "column `cots` must be there, for the reward"),
        (["--reward", "sum(spend)"], "got the function `sum`"),
        (["--reward", "spend", "--missing-reward", "dorp"], "Did you mean `drop`?"),
        (["--reward", "spend", "--reward-time", "time"], "must be given with `horizon`"),
        (["--reward", "spend", "--reward", "click", "--predictions", "target"], "must be given with one --reward"),
    ],
)
def test_what_is_wrong(path, run, given, sentence):
    code, out, err = run("evaluate", path, *given)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
