"""Logs of Vowpal Wabbit, Open Bandit and routers of language models: the same answer from each; formats by name."""

import json

import pytest

import counterfold as cf
from other_tools import (
    MODELS,
    nest_attributes,
    nest_pairs,
    value_by_ips,
    write_adf,
    write_cb,
    write_dsjson,
    write_open_bandit,
    write_traces,
)
from tool_logs import (
    COUNTED,
    NAMED,
    NUMBERED,
    ROWS,
    SETTINGS,
    TRACES,
    evaluate_plainly,
    refuse,
)

SAME = {
    "log.dsjson": (write_dsjson(ROWS), NUMBERED, {}),
    "names.dsjson": (write_dsjson(ROWS, MODELS), NAMED, {}),
    "places.dsjson": (write_dsjson(ROWS, MODELS), NUMBERED, {"format": "dsjson:actions=place"}),
    "log.dsjson.gz": (write_dsjson(ROWS), NUMBERED, {}),
    "events.json": (write_dsjson(ROWS), NUMBERED, {"format": "dsjson"}),
    "log.vw": (write_cb(ROWS), NUMBERED, {}),
    "log.dat": (write_adf(ROWS), NUMBERED, {}),
    "tags.vw": (write_adf(ROWS, MODELS), NAMED, {}),
    "traces.jsonl": (write_traces(ROWS), NAMED, TRACES),
    "spans.jsonl": (write_traces(ROWS, nest_attributes), NAMED, TRACES),
    "pairs.jsonl": (write_traces(ROWS, nest_pairs), NAMED, TRACES),
    "all.csv": (write_open_bandit(ROWS), COUNTED, {"format": "open-bandit"}),
}


@pytest.mark.parametrize("engine", ["memory", "local"])
@pytest.mark.parametrize("name", SAME)
def test_the_same_log_gives_the_same_answer_in_every_format(name, engine, save):
    text, target, more = SAME[name]
    result = cf.evaluate(save(text, name), target, engine=engine, **SETTINGS, **more)
    plain = evaluate_plainly()
    assert result.contents.rewards.count == len(ROWS)
    assert set(result.contents.context) == {"User.age", "hour"}
    known = {line.name: line.value for line in result.table}
    assert known["IPS"] == pytest.approx(value_by_ips(ROWS), rel=1e-12)
    if engine == "memory":
        assert known == pytest.approx({line.name: line.value for line in plain.table}, rel=1e-12)


@pytest.mark.parametrize("name", SAME)
def test_the_command_line_needs_no_more_than_the_format(name, save, run):
    text, target, more = SAME[name]
    label = str(next(iter(target)))
    options = [option for key, value in more.items() for option in (f"--{key}", value)]
    code, out, err = run("evaluate", save(text, name), "--target", label, "--json", *options)
    assert (code, err) == (0, "")
    assert json.loads(out)["log"]["rows"] == len(ROWS)


def test_probabilities_of_all_actions_are_known_where_the_tool_writes_them(save):
    full = {
        name
        for name, (text, _, more) in SAME.items()
        if cf.read_log(save(text, name), **more).logging_probs is not None
    }
    assert full == {name for name in SAME if "dsjson" in name or "json" in name}


def test_a_folder_of_events_is_one_log(tmp_path):
    for number, start in enumerate((0, 250)):
        (tmp_path / f"{number}.dsjson").write_text(write_dsjson(ROWS[start : start + 250 + 100 * number]))
    assert len(cf.read_log(tmp_path)) == len(ROWS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dsjsn", "`format` must be one of .*got 'dsjsn'. Did you mean `dsjson`"),
        ("", "`format` must be one of"),
        ("router-traces:cost=1", "has no parameters"),
        ("dsjson:actions=tag", "`actions` must be"),
        ("vw-text:lines=x", "`lines` must be"),
        (3, "`format` must be one of"),
    ],
)
def test_an_unknown_format_is_refused(name, message, save):
    with pytest.raises(cf.ParameterError, match=message):
        cf.read_log(save(write_dsjson(ROWS)), format=name)


@pytest.mark.parametrize("name", ["log.dsjson", "log.vw", "traces.jsonl", "all.csv"])
def test_spark_refuses_formats_that_it_does_not_know(name, save):
    pytest.importorskip("pyspark")
    text, target, more = SAME[name]
    with pytest.raises(cf.ParameterError, match="`engine` must be 'memory' or 'local' for files of"):
        cf.evaluate(save(text, name), target, engine="spark", **more)


def test_a_format_is_for_files_alone():
    with pytest.raises(cf.ParameterError, match="`format` must be given for files alone, got dsjson for dict"):
        cf.read_log({"action": [1, 2]}, format="dsjson")


@pytest.mark.parametrize(
    ("text", "name"),
    [(write_dsjson(ROWS), "dsjson"), (write_traces(ROWS), "router-traces"), (write_open_bandit(ROWS), "open-bandit")],
)
def test_a_format_is_suggested_by_its_columns(text, name, save):
    path = save(text, "log.csv" if name == "open-bandit" else "log.jsonl")
    refuse(path, f"format={name!r}")
