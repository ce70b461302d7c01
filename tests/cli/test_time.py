"""--time and --period on the command line: the table, JSON and what is refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from counterfold.cli import _texts
from counterfold.evidence import history


def test_periods_are_those_of_the_table():
    assert tuple(history.PERIODS) == _texts.PERIODS


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    day, action = rng.integers(28, size=3000), rng.integers(2, size=3000)
    columns = {"action": action, "reward": rng.random(3000) + day / 20, "propensity": np.full(3000, 0.5)}
    columns |= {"when": np.datetime64("2024-02-05") + day, "target": np.where(action == 1, 0.7, 0.3)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_the_table_is_shown_and_in_json(run, path, command):
    code, out, err = run(command, path, "--time", "when", "--period", "week")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    [header] = [number for number, line in enumerate(lines) if line[:2] == ["week", "from"]]
    names = ["week", "from", "rows", "value", "by", "SNIPS", "std.", "error", "log", "difference", "std.", "error"]
    assert lines[header] == names
    starts = ["2024-02-05", "2024-02-12", "2024-02-19", "2024-02-26"]
    assert [line[0] for line in lines[header + 1 : header + 5]] == starts
    places = [
        line[-1].index("o") + out.splitlines()[header + 1 + at].index(line[-1])
        for at, line in enumerate(lines[header + 1 : header + 5])
    ]
    assert places == sorted(set(places))
    assert "changes over time" in " ".join(out.split())
    code, out, err = run(command, path, "--time", "when", "--period", "week", "--json")
    found = json.loads(out)
    found = found["evaluations"][0]["diagnostics"] if command == "evaluate" else found["diagnostics"][0]
    assert [line["start"] for line in found["over_time"]["table"]] == starts
    assert (found["over_time"]["period"], found["over_time"]["estimator"]) == ("week", "SNIPS")
    assert found["over_time"]["table"][0]["rows"] == int(lines[header + 1][1])


def test_a_comparison_shows_differences_by_the_period_that_was_asked_for(run, path):
    asked = "compare", path, "--time", "when", "--period", "week", "--target", "target", "--target", "propensity"
    code, out, err = run(*asked, "--baseline", "propensity")
    assert (code, err) == (0, "")
    assert "target: difference to propensity over time" in " ".join(out.split())
    lines = [line.split() for line in out.splitlines()]
    [header] = [number for number, line in enumerate(lines) if line[:2] == ["week", "from"]]
    assert lines[header] == ["week", "from", "rows", "by", "SNIPS", "interval"]
    told = json.loads(run(*asked, "--baseline", "propensity", "--json")[1])["differences"][0]["over_time"]
    assert told["period"] == "week"
    assert [line["start"] for line in told["table"]] == [line[0] for line in lines[header + 1 : header + 5]]
    difference, low, _, high = lines[header + 1][2:]
    first = told["table"][0]
    for shown, name in ((difference, "difference"), (low, "low"), (high, "high")):
        assert float(shown) == pytest.approx(first[name], abs=first["stderr"] / 10)


def test_the_verdict_may_be_required(run, path):
    assert run("evaluate", path, "--time", "when", "--require", "good")[0] == 3
    assert run("evaluate", path, "--require", "good")[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--time", "when", "--period", "weak"), "got 'weak'. Did you mean `week`?"),
        (("--period", "week"), "`period` must be for a log whose `time` tells days, got none: name the column of when"),
        (("--time", "nope"), "column `nope` must be there"),
        (("--time", "reward"), "must have one role, got `reward` and `time`"),
    ],
)
def test_what_is_refused(run, path, options, said):
    code, out, err = run("check", path, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_values_of_an_answer_that_is_withheld_are_not_shown(run, tmp_path):
    columns = {
        "action": [0, 1] * 200,
        "reward": np.arange(400.0),
        "propensity": np.where(np.arange(400) < 3, 1e-9, 0.5),
    }
    columns |= {"time": np.datetime64("2024-02-05") + np.arange(400) // 20, "target": np.full(400, 0.5)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    code, out, _ = run("evaluate", tmp_path / "log.parquet")
    assert code == 0
    assert "withheld" in out
    assert "day from" not in out
