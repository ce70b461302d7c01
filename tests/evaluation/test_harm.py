"""Harm to a segment in a comparison: it is judged by the baseline, wherever the comparison speaks of it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
from json_schema import validate

ROWS = 3000
ASKED = {"by": "device", "context": [], "progress": False}
HARMS = "the target earns more than `old` in all, but less in `device` pc"

MEANS = {
    "harm to the baseline alone": {"phone": [0.0, 0.0, 1.0], "pc": [-1.0, 1.0, 0.5]},
    "harm to the log alone": {"phone": [0.0, 0.0, 1.0], "pc": [2.0, -1.0, 0.0]},
}
"""What three actions earn on two devices; `old` always takes the second one, and `new` the third."""


def write_log(folder, means, **columns):
    rng = np.random.default_rng(4)
    device, action = rng.choice(["phone", "pc"], ROWS, p=[0.6, 0.4]), rng.integers(3, size=ROWS)
    reward = np.where(device == "pc", np.array(means["pc"])[action], np.array(means["phone"])[action])
    known = {"device": device, "action": np.array(["rest", "mail", "call"])[action], "propensity": np.full(ROWS, 1 / 3)}
    path = folder / "log.parquet"
    pa.parquet.write_table(pa.table(known | {"reward": reward + rng.normal(size=ROWS)} | columns), path)
    return path


def compare(path, **settings):
    return cf.compare(path, {"old": "mail", "new": "call"}, **ASKED, **settings)


def find_problems(diagnostics):
    return [one.problem for one in diagnostics.findings if one.name == "harmed-segment"]


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_harm_to_the_baseline_is_a_caution_even_if_the_log_did_worse(tmp_path, engine):
    path = write_log(tmp_path, MEANS["harm to the baseline alone"])
    found = compare(path, baseline="old", engine=engine)
    assert find_problems(found["new"].diagnostics) == find_problems(found.judge("new")) == [HARMS]
    assert find_problems(found["old"].diagnostics) == []
    assert (found["new"].diagnostics.harmed_segments, found["new"].verdict) == (1, "caution")
    assert found.table[0].verdict == "caution"
    assert found.advise("new").action == "check first"
    assert "keep `old` there" in found.advise("new").sentence
    assert find_problems(compare(path, engine=engine)["new"].diagnostics) == []


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_harm_to_the_log_is_nothing_where_the_baseline_did_worse(tmp_path, engine):
    path = write_log(tmp_path, MEANS["harm to the log alone"])
    assert "less in `device` pc" in find_problems(compare(path, engine=engine)["new"].diagnostics)[0]
    found = compare(path, baseline="old", engine=engine)
    assert (found["new"].diagnostics.harmed_segments, found["new"].verdict) == (0, "good")
    assert found.table[0].verdict == found.judge("new").verdict == "good"
    assert found.advise("new").action == "ship"


def test_a_baseline_that_harms_users_of_the_log_is_no_reason_against_others(tmp_path):
    """Here `old` earns more than the log in all, and less on the phone, while `new` earns more everywhere."""
    path = write_log(tmp_path, {"phone": [0.5, 0.0, 0.4], "pc": [0.0, 2.5, 3.0]})
    assert "less in `device` phone" in find_problems(compare(path)["old"].diagnostics)[0]
    assert compare(path, baseline="old").judge("new").verdict == "good"


def test_the_terminal_json_report_and_exit_code_speak_of_the_baseline(tmp_path, run):
    path = write_log(tmp_path, MEANS["harm to the baseline alone"])
    options = ["--target", "mail", "--target", "call", "--by", "device"]
    compared = ["compare", path, "--baseline", "mail", *options]
    code, out, err = run(*compared, "--report", tmp_path / "report.html", "--require", "good")
    assert code == 3
    assert "that on `call` is caution" in err
    assert "less in `device` pc" in " ".join(out.split())
    assert "than `mail` in all" in (tmp_path / "report.html").read_text(encoding="utf-8")
    answer = json.loads(run(*compared, "--json")[1])
    validate(answer, "compare")
    new = next(one for one in answer["evaluations"] if one["target"] == "call")
    assert (new["verdict"], new["diagnostics"]["reasons"]) == ("caution", [HARMS.replace("old", "mail")])
    assert answer["differences"][0]["next_step"]["action"] == "check first"
    assert run("compare", path, "--target", "call", "--by", "device", "--require", "good")[0] == 0


def test_guards_keep_to_the_same_rule(tmp_path):
    means = MEANS["harm to the baseline alone"]
    path = write_log(tmp_path, means, cost=np.random.default_rng(0).normal(size=ROWS))
    settings = {"reward": "reward", "guards": ["cost <= +1"]}
    found = compare(path, baseline="old", **settings)
    assert found.guarded[0].passes
    assert find_problems(found["new"].diagnostics) == [HARMS]
    assert found.advise("new").action == "check first"


def test_users_in_several_segments_and_equal_targets_are_no_harm(tmp_path):
    path = write_log(tmp_path, MEANS["harm to the baseline alone"], user=np.arange(ROWS) // 3)
    targets = {"old": "mail", "same": "mail", "new": "call"}
    found = cf.compare(path, targets, baseline="old", group="user", **ASKED)
    assert [len(find_problems(found[name].diagnostics)) for name in targets] == [0, 0, 1]


def test_a_segment_is_judged_by_the_worse_of_both_targets():
    """The log took what the baseline does in a handful of rows of one device."""
    rng = np.random.default_rng(0)
    device, few = np.where(np.arange(ROWS) % 2, "phone", "pc"), np.arange(ROWS) % 250 == 0
    rare = np.where(device == "pc", 1 / 125, 1 / 3)
    action = np.where(device == "phone", rng.choice(["mail", "call", "rest"], ROWS), np.where(few, "mail", "call"))
    chosen = np.where(action == "mail", rare, np.where(device == "pc", 1 - rare - 0.001, 1 / 3))
    table = {"device": device, "action": action, "propensity": chosen, "reward": rng.normal(size=ROWS)}
    plain = {"candidates": ["snips"], "reward_model": None, "selector": "slope"}
    found = cf.compare(table, {"old": "mail", "new": "call"}, baseline="old", **ASKED, **plain)
    alone = {line.segment: line.verdict for line in found["new"].segments}
    both = {line.segment: (line.verdict, line.reason) for line in found.segments["new"]}
    assert alone["pc"] != both["pc"][0] == "caution"
    assert both["pc"][1].startswith("of the baseline: its 1500 rows are worth only")
