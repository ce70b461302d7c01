"""Everything that is written as JSON is what the schema says, with no field that it does not know."""

import json
import subprocess
import sys
from functools import partial
from importlib.metadata import EntryPoint

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from typing_extensions import TypedDict

import counterfold as cf
import json_page
from counterfold.base import records
from counterfold.base.records import load_records
from counterfold.diagnostics import build_all
from counterfold_lab.records import RECORDS
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


DEFINITIONS = {
    *("evaluate", "compare", "check", "learn", "demo", "methods", "synth", "figure", "costs", "selection", "learning"),
    *("evaluation", "comparison", "reward_evaluations", "learned"),
    *("evaluate_of_reward", "compare_of_reward", "check_of_reward", "answer_of_reward"),
    *("answer", "closed_answer", "named_answer", "candidate", "interval", "next_step", "robustness", "carrier"),
    *("difference", "closed_difference", "named_difference", "difference_over_time", "period_difference"),
    *("decision", "standing", "guarded", "guard_line", "segments", "segment", "over_time", "period"),
    *("diagnostics", "closed_diagnostics", "named_diagnostics", "finding"),
    *("log", "ends", "encoding", "fitted_propensities", "bin"),
    *("policy", "contender", "simpler", "limit", "method", "figure_line", "cost", "score", "coverage", "alarm"),
    *("check_alarm", "gain", "holding"),
}
"""The names of the definitions, which other programs refer to: none of them goes away within a version."""


def test_the_names_of_definitions_stay():
    assert set(SCHEMA["$defs"]) == DEFINITIONS
    assert {one["$ref"].rpartition("/")[2] for one in SCHEMA["anyOf"]} == set(load_records().answers)


def list_objects(schema):
    """Return all schemas of objects in a schema."""
    if isinstance(schema, list):
        return [one for part in schema for one in list_objects(part)]
    if not isinstance(schema, dict):
        return []
    inner = [one for part in schema.values() for one in list_objects(part)]
    return [schema, *inner] if "properties" in schema and schema.get("type") == "object" else inner


def test_every_field_has_a_description():
    objects = list_objects(SCHEMA["$defs"])
    fields = [field for one in objects for field in one["properties"].items()]
    assert len(fields) > 400
    assert [name for name, field in fields if not field.get("description", "").endswith(".")] == []
    assert [one for one in objects if not one.get("description", "").endswith(".")] == []


def test_every_object_is_closed_unless_others_extend_it():
    references = {one["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"].values() for one in each.get("allOf", ())}
    bases = [SCHEMA["$defs"][name] for name in references]
    assert references == {"answer", "diagnostics", "difference"}
    for one in list_objects(SCHEMA["$defs"]):
        is_closed = False in (one.get("additionalProperties"), one.get("unevaluatedProperties"))
        assert is_closed != any(one is base for base in bases)


def test_a_new_diagnostic_needs_no_edit_of_a_schema():
    properties = SCHEMA["$defs"]["diagnostics"]["properties"]
    for diagnostic in build_all():
        for name, description in diagnostic.measures.items():
            assert properties[name] == {"description": description, "type": ["number", "null"]}


class WeatherRecord(TypedDict):
    """The weather."""

    rain: float
    """How much it rains."""


def test_other_packages_add_records_by_entry_points(monkeypatch):
    entry = EntryPoint("weather", f"{__name__}:WEATHER", records.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: WEATHER)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == records.GROUP else [])
    found = cf.json_schema()["$defs"]
    lab = {*RECORDS.parts, *RECORDS.answers}  # whose entry point is not among these
    assert set(found) == (DEFINITIONS - lab) | {"weather", "forecast"}
    jsonschema.validate({"version": 1, "rain": None}, found["forecast"])
    assert found["weather"]["properties"]["rain"]["description"] == "How much it rains."


WEATHER = records.Records(
    parts={"weather": WeatherRecord},
    answers={"forecast": records.Answer("What `forecast` prints.", [WeatherRecord], has_questions=False)},
)


def test_only_the_schema_loads_pydantic():
    asked = "import sys, counterfold.cli; counterfold.evaluate; print('pydantic' in sys.modules)"
    for question, expected in ((asked, "False"), (f"import counterfold; counterfold.json_schema(); {asked}", "True")):
        done = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


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


def test_the_page_shows_every_definition():
    shown = {name for names in json_page.PARTS.values() for name in names}
    hidden = {name for name in DEFINITIONS if name.startswith(("closed_", "named_")) or name.endswith("_of_reward")}
    assert shown == DEFINITIONS - hidden | {"named_difference"}
