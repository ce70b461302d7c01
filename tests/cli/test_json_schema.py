"""Everything that is written as JSON is what the schema says, with no field that it does not know."""

import json
from dataclasses import fields
from functools import partial

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import counterfold as cf
import json_page
from counterfold.diagnostics import build_all
from counterfold.learning import ContenderLine, LimitLine
from counterfold_lab.learning.benchmark import LearningResults
from counterfold_lab.learning.results import Gain, Holding
from counterfold_lab.paper.reproduction import Cost
from counterfold_lab.paper.results import Line
from counterfold_lab.selection.benchmark import BenchmarkResults
from counterfold_lab.selection.results import Alarm, CheckAlarms, Coverage, Score
from json_schema import SCHEMA, validate

ROWS = 300


@pytest.fixture
def path(tmp_path):
    """Return a log with everything: text, gaps and dates in its context, users, times and two rewards."""
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=ROWS)
    day = np.datetime64("2024-02-05") + np.sort(rng.integers(30, size=ROWS))
    columns = {
        "action": np.array(["a", "b"])[action],
        "reward": rng.random(ROWS) + action,
        "cost": rng.random(ROWS),
        "city": [None if row % 9 == 0 else ["Rome", "Oslo", "Bonn"][row % 3] for row in range(ROWS)],
        "age": [None if row % 7 == 0 else float(row % 50) for row in range(ROWS)],
        "joined": np.datetime64("2020-01-01") + rng.integers(900, size=ROWS),
        "user": [f"user {row % 40}" for row in range(ROWS)],
        "propensity": np.full(ROWS, 0.5),
        "when": day,
        "target": ["b"] * ROWS,
        "other": np.array(["a", "b"])[rng.integers(2, size=ROWS)],
    }
    pa.parquet.write_table(pa.table(columns), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


LOGS = {
    "plain": "--ignore joined,cost",
    "several targets": "--target target --target other --ignore cost",
    "local": "--engine local --ignore joined,cost",
    "time and groups": "--time when --group user --ignore cost",
    "fitted": "--propensity fit --ignore cost",
    "dates": "--context joined,city,age",
    "several rewards": "--reward reward --reward cost",
}


@pytest.mark.parametrize("options", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("command", ["evaluate", "compare", "check"])
def test_commands_on_logs_of_many_kinds(command, options, path, run):
    code, out, _ = run(command, path, *options.split(), "--json")
    assert code == 0
    validate(json.loads(out), command)
    assert json.loads(out)["version"] == 1


def test_commands_on_doses_loggers_and_what_cannot_be_answered(doses, loggers, items, save, run):
    never = {"action": [0, 1] * 60, "logging_probs": [[0.5, 0.5, 0.0]] * 120, "target": [[0, 0, 1.0]] * 120}
    makers = doses, loggers, partial(save, **never), partial(save, kept=[1.0, 0.5] * 60)
    for make in makers:
        features = ["--action-features", items] if make is loggers else []
        candidates = ["--candidates", "kernel-ips" if make is doses else "plain"]
        for command in (["evaluate", *candidates], ["check"]):
            code, out, _ = run(*command, make(), *features, "--json")
            assert code == 0
            validate(json.loads(out), command[0])


def test_the_other_commands(run, save):
    validate(json.loads(run("methods", "--json")[1]), "methods")
    validate(json.loads(run("synth", "new.parquet", "--rows", "50", "--json")[1]), "synth")
    query = f"from '{save()}' select *"
    validate(json.loads(run("check", "--sql", query, "--json")[1]), "check")
    learn = "learn", "--sql", query, "--out", "policy.skops", "--learners", "softmax-learner"
    validate(json.loads(run(*learn, "--json")[1]), "learn")


def test_answers_in_python(path):
    asked = {"ignore": ["joined"], "progress": False}
    validate(json.loads(cf.evaluate(path, **asked).to_json()), "evaluation")
    validate(json.loads(cf.compare(path, ["target", "other"], baseline="other", **asked).to_json()), "comparison")
    several = cf.evaluate(path, reward=["reward", "cost"], **asked)
    validate(json.loads(several.to_json()), "reward_evaluations")
    ignored = ["joined", "target", "other", "cost"]
    learned = cf.learn(path, ["greedy-learner"], ignore=ignored, limits={"a": 0.9}, progress=False)
    validate(json.loads(learned.to_json()), "learned")


KINDS = {"figure_line": Line, "cost": Cost, "score": Score, "coverage": Coverage, "alarm": Alarm}
KINDS |= {"gain": Gain, "holding": Holding, "contender": ContenderLine, "limit": LimitLine}


@pytest.mark.parametrize(("name", "kind"), [*KINDS.items(), ("check_alarm", CheckAlarms)])
def test_lines_of_experiments(name, kind):
    assert list(SCHEMA["$defs"][name]["properties"]) == [one.name for one in fields(kind)]


def test_results_of_experiments_and_numbers_of_checks():
    written = {"version", "benchmark", "part", *(one.name for one in fields(BenchmarkResults))}
    assert set(SCHEMA["$defs"]["selection"]["properties"]) == written
    written = {"version", "benchmark", "part", *(one.name for one in fields(LearningResults))}
    assert set(SCHEMA["$defs"]["learning"]["properties"]) == written
    assert {name for one in build_all() for name in one.measures} < set(SCHEMA["$defs"]["diagnostics"]["properties"])


def test_a_field_that_the_schema_does_not_know_is_refused(path):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    answer = json.loads(cf.evaluate(path, candidates=["ips"], ignore=["joined"], progress=False).to_json())
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    places = [answer, answer["diagnostics"], answer["uplift"], answer["table"][0], answer["next_step"]]
    for place in places:
        place["unknown"] = 1
        with pytest.raises(jsonschema.ValidationError):
            validate(answer, "evaluation")
        del place["unknown"]
    validate(answer, "evaluation")


def test_the_page_is_that_of_the_schema(request):
    page = (request.config.rootpath / "docs" / "json.md").read_text(encoding="utf-8")
    assert page == json_page.write_page(), "run `make json`"
