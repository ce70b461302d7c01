"""Logs of Vowpal Wabbit, Open Bandit and routers of language models: the same answer from each, and what is refused."""

import gzip
import json

import numpy as np
import pytest

import counterfold as cf
from other_tools import (
    MODELS,
    WANTED,
    make_event,
    make_rows,
    make_trace,
    nest_attributes,
    nest_pairs,
    value_by_ips,
    write_adf,
    write_cb,
    write_dsjson,
    write_open_bandit,
    write_traces,
)

ROWS = make_rows()
NUMBERED, COUNTED, NAMED = dict(enumerate(WANTED, 1)), dict(enumerate(WANTED)), dict(zip(MODELS, WANTED, strict=True))
TRACES = {"format": "router-traces"}

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

SETTINGS = {"candidates": ["ips", "snips", "dr"], "selector": "ocv", "progress": False}


@pytest.fixture
def save(tmp_path):
    def write(text, name="log.dsjson"):
        data = text.encode() if isinstance(text, str) else text
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr("counterfold.readers._events.BATCH", 128)
    monkeypatch.setattr("counterfold.readers._events.BLOCK", 1000)


def as_feedback(rows=ROWS):
    actions = np.array([row["action"] for row in rows])
    pi_b = np.array([row["probs"] for row in rows])
    return {
        "n_rounds": len(rows),
        "n_actions": 3,
        "context": np.array([[row["age"], row["hour"]] for row in rows]),
        "action_context": np.eye(3),
        "action": actions,
        "position": None,
        "reward": np.array([row["reward"] for row in rows]),
        "expected_reward": np.zeros((len(rows), 3)),
        "pi_b": pi_b[:, :, None],
        "pscore": pi_b[np.arange(len(rows)), actions],
    }


def evaluate_plainly():
    """Return the answer on the log in memory, from arrays."""
    feedback = as_feedback()
    context = dict(zip(("User.age", "hour"), feedback["context"].T.astype(float), strict=True))
    log = {"action": feedback["action"], "reward": feedback["reward"], "propensity": feedback["pscore"], **context}
    return cf.evaluate(log, COUNTED, **SETTINGS)


def event_lines(changes, rows=ROWS):
    """Return events with changes to some, {place: {field: value}}; `...` leaves a field out, a text is the line."""
    made = [changes.get(place, {}) for place in range(len(rows))]
    return [
        one if isinstance(one, str) else json.dumps(make_event(row, **one)) for row, one in zip(rows, made, strict=True)
    ]


def refuse(path, *parts, **more):
    """Require that both engines refuse a file with a sentence that has these parts, and no other."""
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError) as caught:
            cf.evaluate(path, NUMBERED, engine=engine, progress=False, **more)
        assert all(part in str(caught.value) for part in parts), str(caught.value)
        assert "\n" not in str(caught.value)


def list_notes(result):
    return [one.problem for one in result.diagnostics.findings if one.name == "as-read"]


# the same log from every tool


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


def test_a_dictionary_of_obp_gives_the_same_answer():
    log = cf.from_obp(as_feedback())
    target = cf.from_action_dist(np.tile(WANTED, (len(ROWS), 1))[:, :, None], as_feedback())
    known = {line.name: line.value for line in cf.evaluate(log, target, **SETTINGS).table}
    assert known["IPS"] == pytest.approx(value_by_ips(ROWS), rel=1e-12)
    assert known == pytest.approx({line.name: line.value for line in evaluate_plainly().table}, rel=1e-12)
    assert log.action_features.shape == (3, 3)


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


# notes


def test_costs_become_rewards_and_that_is_said(save):
    result = cf.evaluate(save(write_dsjson(ROWS)), NUMBERED, **SETTINGS)
    assert result.logged.value == pytest.approx(sum(row["reward"] for row in ROWS) / len(ROWS))
    assert list_notes(result) == ["rewards are the costs of Vowpal Wabbit with the other sign: more is better"]
    assert result.verdict == "good"


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_lines_that_are_no_rows_are_skipped_and_counted(engine, save):
    lines = event_lines({0: {"_skipLearn": True}, 1: {"_label_cost": ...}, 2: {"_label_cost": None}})
    lines[10:10] = ['{"EventId": "x", "RewardValue": 1.0}', '{"EventId": "y", "EnqueuedTimeUtc": "2021"}', "", "  "]
    result = cf.evaluate(save("\n".join(lines)), NUMBERED, engine=engine, **SETTINGS)
    assert result.contents.rewards.count == len(ROWS) - 3
    assert {line.name: line.value for line in result.table}["IPS"] == pytest.approx(value_by_ips(ROWS[3:]), rel=1e-12)
    said = " ".join(list_notes(result))
    assert "1 decisions are marked" in said
    assert "2 decisions have no cost" in said
    assert "2 lines hold no decision" in said


def test_events_without_any_decision_are_refused_and_described(save):
    refuse(save('{"EventId": "x", "RewardValue": 1.0}\n' * 3), "it holds no decision: 3 lines hold no decision")


def test_actions_without_names_whose_number_changes_are_noted(save):
    row = make_event(ROWS[3])
    row["c"]["_multi"].append({})
    row["a"].append(4)
    row["p"].append(0.0)
    lines = event_lines({3: json.dumps(row)})
    path = save("\n".join(lines))
    result = cf.evaluate(path, NUMBERED, **SETTINGS)
    assert any("of which 1 decisions have more or fewer" in one for one in list_notes(result))
    log = cf.read_log(path)
    assert tuple(map(int, log.actions)) == (1, 2, 3, 4)
    assert log.available[:, 3].tolist() == [place == 3 for place in range(len(ROWS))]


def test_times_are_columns_and_no_context(save):
    path = save(write_dsjson(ROWS))
    assert cf.LogScan(path).opened.table()["Timestamp"].to_pylist() == ["2021-02-04T16:31:29.2460000Z"] * len(ROWS)
    assert cf.read_log(path).left_out == {"Timestamp": "it is when the decision was taken"}


# what dsjson says of probabilities


def test_events_that_were_kept_with_different_probabilities_count_differently(save):
    path = save("\n".join(event_lines({4: {"pdrop": 0.75}, 5: {"pdrop": 0.0}})))
    log = cf.read_log(path)
    assert log.counts.tolist() == [4.0 if place == 4 else 1.0 for place in range(len(ROWS))]
    assert "kept" not in log.context_names


def test_files_of_one_folder_may_have_dropped_differently(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "1.dsjson").write_text("\n".join(event_lines({})))
    every = {place: {"pdrop": 0.75} for place in range(len(ROWS))}
    (folder / "2.dsjson").write_text("\n".join(event_lines(every)))
    assert cf.read_log(folder).counts.tolist() == [1.0] * len(ROWS) + [4.0] * len(ROWS)


def test_events_that_were_all_kept_with_the_same_probability(save):
    plain = cf.read_log(save("\n".join(event_lines({}))))
    same = cf.read_log(save("\n".join(event_lines({place: {"pdrop": 0.75} for place in range(len(ROWS))}))))
    np.testing.assert_array_equal(same.propensity, plain.propensity)
    assert same.context_names == plain.context_names


def test_a_probability_that_includes_that_of_being_kept_is_understood(save):
    """The tool that joins outcomes writes the product."""
    own = ROWS[4]["probs"][ROWS[4]["action"]]
    changes = {place: {"pdrop": 0.75} for place in range(len(ROWS))}
    changes[4]["_label_probability"] = own / 4
    assert cf.read_log(save("\n".join(event_lines(changes)))).propensity[4] == own


def test_a_probability_that_contradicts_the_others_is_refused(save):
    refuse(save("\n".join(event_lines({4: {"_label_probability": 0.9}}))), "propensity", "row 4")


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"p": [0.5, 0.5]}, ["line 8", "`p` must be as long as `a`"]),
        ({"p": [0.5, 0.5, 0.5], "_label_probability": 0.5}, ["logging_probs", "row 7"]),
        ({"p": [1.5, -0.5, 0.0], "_label_probability": 1.5}, ["row 7"]),
        ({"p": [0.0, 0.5, 0.5], "_label_probability": 0.0}, ["for the logged action", "row 7"]),
        ({"p": ["a", 0.5, 0.5]}, ["line 8", "`p` must be a number"]),
        ({"p": 0.5}, ["line 8", "`p` must be as long as `a`"]),
        ({"a": [1, 2, 2]}, ["line 8", "`a` must be different whole numbers from 1 to 3"]),
        ({"a": [0, 1, 2]}, ["line 8", "`a` must be different whole numbers from 1 to 3"]),
        ({"a": [1, 2, 9]}, ["line 8", "`a` must be different whole numbers from 1 to 3"]),
        ({"a": "abc"}, ["line 8", "`a` must be different"]),
        ({"a": [1.5, 2, 3]}, ["line 8", "`a` must be different"]),
        ({"_label_Action": 4}, ["line 8", "`_label_Action` must be one of `a`, got 4"]),
        ({"_label_Action": "1"}, ["line 8", "`_label_Action` must be one of `a`"]),
        ({"_label_Action": 1.0}, ["line 8", "`_label_Action` must be one of `a`"]),
        ({"_label_Action": 1, "_labelIndex": 2}, ["line 8", "must tell the same action, got 1 and 2"]),
        ({"pdrop": 1.0}, ["line 8", "`pdrop` must be at least 0 and below 1, got 1"]),
        ({"pdrop": -0.5}, ["line 8", "`pdrop`"]),
        ({"pdrop": float("nan")}, ["line 8", "`pdrop`"]),
        ({"_label_cost": "1"}, ["line 8", "`_label_cost` must be a number, got '1'"]),
        ({"_label_cost": True}, ["line 8", "`_label_cost` must be a number"]),
        ({"_label_cost": float("nan")}, ["reward", "row 7"]),
        ({"_label_cost": float("inf")}, ["reward", "row 7"]),
        ({"_label_cost": 10**400}, ["reward", "row 7"]),
        ({"c": {"age": float("inf"), "_multi": [{}, {}, {}]}}, ["age", "row 7"]),
        ({"c": {"_multi": {"x": 1}}}, ["line 8", "`_multi` and `a` must be lists"]),
        ({"_outcomes": []}, ["line 8", "several slots"]),
    ],
)
def test_a_bad_event_is_refused_with_its_place(changes, parts, save):
    refuse(save("\n".join(event_lines({7: changes}))), *parts)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('{"_label_cost": 1', ["line 8", "it may be cut off"]),
        ("[1, 2]", ["line 8", "must be one object"]),
        ("null", ["line 8", "must be one object"]),
        ("{'a': 1}", ["line 8", "must be one object"]),
        ("[" * 100_000, ["line 8", "must be one object"]),
        ('{"c": ' * 900 + "{}" + "}" * 900, []),
        ('{"_label_cost": 1, "_label_cost": 2, "a": [1], "c": {}}', ["line 8", "must be there once"]),
        ('{"x": 1}{"y": 2}', ["line 8", "must be one object"]),
    ],
)
def test_lines_that_cannot_be_read_are_refused(line, parts, save):
    path = save("\n".join(event_lines({7: line})))
    if parts:
        refuse(path, "could not be read as Dsjson", *parts)
    else:
        assert len(cf.read_log(path)) == len(ROWS) - 1


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (b"", ["must not be empty"]),
        (b"\n\n", ["must hold at least 2 rows"]),
        (b"\xff\xfe{", ["UTF-16"]),
        (b'{"a": "\xff"}\n', ["line 1", "UTF-8"]),
        (b"\x1f\x8b", ["gzip"]),
    ],
)
def test_files_that_are_no_events_are_refused(data, parts, save):
    refuse(save(data), *parts)


def test_a_cut_packed_file_is_refused(save):
    path = save(write_dsjson(ROWS), "log.dsjson.gz")
    path.write_bytes(path.read_bytes()[:-20])
    refuse(path, "could not be read as Dsjson")


def test_some_actions_without_a_name_are_refused_with_the_way_out(save):
    lines = event_lines({}, ROWS[:100])
    lines[:50] = [json.dumps(make_event(row, MODELS)) for row in ROWS[:50]]
    path = save("\n".join(lines))
    refuse(path, "line 51", "format 'dsjson:actions=place'")
    assert len(cf.read_log(path, format="dsjson:actions=place")) == 100


# features


def test_features_of_any_shape_become_columns(save):
    shared = {
        "User": {"age": 31, "city": "Oslo", "é": {"deep": 2}, "_secret": 1},
        "tags": ["new", 3],
        "j": [{"kind": "hot"}, {"size": 2}],
        "is_new": True,
        "nothing": None,
        "reward": 5,
        "_multi": [{}, {}, {}],
    }
    path = save("\n".join(event_lines({5: {"c": shared}, 6: {"c": shared | {"User": "text"}}})))
    table = cf.LogScan(path).opened.table()
    row = table.slice(5, 1).to_pylist()[0]
    wanted = {
        "User.age": 31.0,
        "User.city": "Oslo",
        "User.é.deep": 2.0,
        "tags.0": "new",
        "tags.1": 3.0,
        "j.kind": "hot",
    }
    wanted |= {"j.size": 2.0, "is_new": 1.0, "context.reward": 5.0}
    assert {name: row[name] for name in wanted} == wanted
    assert "User._secret" not in row
    assert table["User"].to_pylist()[6] == "text"
    assert table["is_new"].to_pylist()[:7] == [0.0] * 5 + [1.0] * 2
    assert {"is_new", "j.size"} <= set(cf.read_log(path).context_names)


def test_a_feature_that_is_a_number_here_and_text_there_is_text(save):
    path = save("\n".join(event_lines({5: {"c": {"hour": "noon", "_multi": [{}] * 3}}})))
    column = cf.LogScan(path).opened.table()["hour"].to_pylist()
    assert column[4:6] == [f"{ROWS[4]['hour']}", "noon"]
    result = cf.evaluate(path, NUMBERED, **SETTINGS)
    assert "hour" in result.contents.left_out


def test_the_features_of_the_most_events_are_columns(monkeypatch, save):
    monkeypatch.setattr("counterfold.readers._events.MOST", 3)
    monkeypatch.setattr("counterfold.readers._events.KNOWN", 100)
    lines = [
        f"{row['action'] + 1}:{row['age']}:0.5 | age:{row['age']} common:1 user_{row['id']} half:{row['id'] % 2}"
        for row in ROWS
    ]
    path = save("\n".join(lines), "log.vw")
    assert cf.LogScan(path).opened.table().column_names[3:] == ["age", "common", "half"]
    [_, note] = cf.read_log(path).notes
    assert "600 others are not" in note[0]


# text of Vowpal Wabbit


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("1:0.5 | a", ["line 8", "action:cost:probability"]),
        ("x:1:0.5 | a", ["line 8", "action:cost:probability"]),
        ("1:1:0.5", ["line 8", "must follow a `|`"]),
        ("1:one:0.5 | a", ["line 8", "numbers behind `:`, got 'one'"]),
        ("1:1:0.5 | a:b", ["line 8", "got 'b'"]),
        ("1:1:0.5 | a:nan", ["line 8", "got 'nan'"]),
        ("1:1:0.5 2:1:0.5 | a", ["line 8", "one action must have a cost"]),
        ("1:1:0 | a", ["propensity", "row 7"]),
        ("1:inf:0.5 | a", ["reward", "row 7"]),
    ],
)
def test_a_bad_line_of_text_is_refused(line, parts, save):
    lines = write_cb(ROWS).splitlines()
    lines[7] = line
    refuse(save("\n".join(lines), "log.vw"), *parts)


def test_features_of_text_have_namespaces_weights_and_default_values(save):
    lines = write_cb(ROWS[:9]).splitlines()
    lines[3] = "2:-1:0.5 tag|User:2 age:3 old |é x:-1e-1 x:1 | User.age:1"
    table = cf.LogScan(save("\n".join(lines), "log.vw")).opened.table()
    row = table.slice(3, 1).to_pylist()[0]
    wanted = {"action": 2, "reward": 1.0, "propensity": 0.5, "User.age": 7.0, "User.old": 2.0, "é.x": 0.9, "hour": 0.0}
    assert {name: row[name] for name in wanted} == pytest.approx(wanted)


def test_unlabelled_lines_of_text_are_skipped_and_other_actions_are_available(save):
    lines = write_cb(ROWS).splitlines()
    lines[3], lines[4] = "1 2 3 | a", "1:1:0.5 3 | a"
    path = save("\n".join(lines), "log.vw")
    assert len(cf.read_log(path)) == len(ROWS) - 1


def test_groups_of_lines_must_have_one_cost(save):
    text = write_adf(ROWS[:20])
    groups = text.split("\n\n")
    groups[2] = "shared | a\n0:1:0.5 | b\n0:1:0.5 | c\n | d"
    refuse(save("\n\n".join(groups), "log.vw"), "line 13", "one action of a decision must have a cost")
    groups[2] = "shared | a\n | b\n | c\n | d"
    assert len(cf.read_log(save("\n\n".join(groups), "log.vw"))) == 19


# traces of routers


def test_several_prices_make_several_rewards(save):
    path = save(write_traces(ROWS), "traces.jsonl")
    for price in (0, 0.5, 8):
        result = cf.evaluate(path, NAMED, format="router-traces", reward=f"score - {price} * cost", **SETTINGS)
        known = {line.name: line.value for line in result.table}["IPS"]
        priced = [row | {"reward": row["reward"] - price * make_trace(row)["cost"]} for row in ROWS]
        assert known == pytest.approx(value_by_ips(priced), rel=1e-12)
        assert set(result.contents.context) == {"User.age", "hour"}
        assert "cost" in result.contents.left_out


def test_score_and_cost_are_rewards_of_their_own(save):
    path = save(write_traces(ROWS), "traces.jsonl")
    result = cf.evaluate(path, NAMED, reward="cost", **TRACES, **SETTINGS)
    costs = [row | {"reward": make_trace(row)["cost"]} for row in ROWS]
    assert {line.name: line.value for line in result.table}["IPS"] == pytest.approx(value_by_ips(costs), rel=1e-12)
    assert set(result.contents.context) == {"User.age", "hour"}


def test_embeddings_are_context_where_they_are_named(save):
    traces = [make_trace(row) | {"embedding": [row["age"] / 8, row["hour"]]} for row in ROWS]
    path = save("".join(f"{json.dumps(one)}\n" for one in traces), "traces.jsonl")
    assert cf.read_log(path, context=["embedding"], **TRACES).context_names == ("embedding.0", "embedding.1")
    assert cf.evaluate(path, NAMED, **TRACES, **SETTINGS).contents.context == ("User.age", "hour")


def test_other_spans_and_requests_without_a_score_are_skipped_and_counted(save):
    lines = write_traces(ROWS, nest_pairs).splitlines()
    lines[5:5] = ['{"name": "retrieve", "attributes": {"db.system": "x"}}', '{"attributes": {"router.model": "tiny"}}']
    result = cf.evaluate(save("\n".join(lines), "traces.jsonl"), NAMED, **TRACES, **SETTINGS)
    assert result.contents.rewards.count == len(ROWS)
    said = " ".join(list_notes(result))
    assert "1 lines name no model" in said
    assert "1 requests have no score" in said


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"models": {"tiny": 0.5, "small": 0.6, "large": 0.2}}, ["logging_probs", "row 7"]),
        ({"models": ["tiny", "small"], "probabilities": [1.0]}, ["line 8", "as many `probabilities`"]),
        ({"models": ["tiny", "tiny"], "probabilities": [0.5, 0.5]}, ["line 8", "must be different"]),
        ({"models": 3}, ["line 8", "`models` must be an object"]),
        ({"probability": "high"}, ["line 8", "`probability` must be a number, got 'high'"]),
        ({"probability": 0.0, "models": None}, ["row 7"]),
        ({"score": "good"}, ["line 8", "`score` must be a number"]),
        ({"embedding": 1}, ["line 8", "`embedding` must be a list"]),
        ({"features": [1]}, ["line 8", "`features` must be an object"]),
        ({"attributes": 3}, ["line 8", "`attributes` must be"]),
        ({"attributes": [3]}, ["line 8", "`attributes` must be"]),
    ],
)
def test_a_bad_trace_is_refused(changes, parts, save):
    traces = [make_trace(row) for row in ROWS]
    traces[7] |= changes
    path = save("".join(f"{json.dumps(one)}\n" for one in traces), "traces.jsonl")
    refuse(path, *parts, format="router-traces")


# formats by name


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


def test_open_bandit_needs_its_columns(save):
    refuse(save("a,b\n1,2\n", "log.csv"), "column `item_id` must be there", format="open-bandit")


# obp


def test_positions_of_obp_are_decisions_of_their_own_and_that_is_said():
    feedback = as_feedback()
    position = np.arange(len(ROWS)) % 3
    rng = np.random.default_rng(0)
    action_dist = rng.dirichlet([1.0, 1.0, 1.0], size=(len(ROWS), 3)).transpose(0, 2, 1)
    feedback |= {"position": position, "pi_b": np.repeat(feedback["pi_b"], 3, axis=2)}
    log = cf.from_obp(feedback)
    target = cf.from_action_dist(action_dist, feedback)
    total = 0.0
    for row, place in zip(ROWS, position, strict=True):
        weight = action_dist[row["id"], row["action"], place] / row["probs"][row["action"]]
        total += weight * row["reward"]
    result = cf.evaluate(log, target, **SETTINGS)
    assert {line.name: line.value for line in result.table}["IPS"] == pytest.approx(total / len(ROWS), rel=1e-12)
    assert log.context[:, 2].tolist() == position.tolist()
    assert "each of several positions" in list_notes(result)[0]


def test_positions_in_files_of_open_bandit_are_noted(save):
    text = write_open_bandit(ROWS).replace("00:00:00,1,1,", "00:00:00,1,2,")
    result = cf.evaluate(save(text, "all.csv"), COUNTED, format="open-bandit", **SETTINGS)
    assert "each of several positions" in list_notes(result)[0]


def test_actions_of_obp_without_a_number_are_doses():
    feedback = as_feedback() | {"n_actions": None, "pi_b": None, "action": np.linspace(0, 1, len(ROWS))}
    assert cf.from_obp(feedback).kind == "doses"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action": None}, "`feedback` must hold `action`"),
        ({"reward": None}, "`feedback` must hold `reward`"),
        ({"pscore": None, "pi_b": None}, "propensity"),
        ({"slate_id": [1]}, "slates"),
        ({"n_actions": 2}, "`pi_b` must be 600 rows x 2 actions x positions, got 600 x 3 x 1"),
        ({"n_actions": "three"}, "`n_actions` must be the number of actions"),
        ({"position": np.full(600, -1)}, "`position` must be whole numbers from 0 on"),
        ({"position": np.zeros(5)}, "`position` must have one entry per row"),
        ({"position": np.full(600, 2)}, "`pi_b` must have a slice for each position, got 1 for positions up to 2"),
        ({"pi_b": 3}, "`pi_b` must be 600 rows"),
    ],
)
def test_bad_feedback_is_refused(changes, message):
    with pytest.raises(cf.DataError, match=message):
        cf.from_obp(as_feedback() | changes)


def test_what_users_of_obp_try_first_is_answered_with_the_way():
    with pytest.raises(cf.DataError, match=r"Give bandit feedback of obp as `cf\.from_obp\(feedback\)`"):
        cf.evaluate(as_feedback(), COUNTED)
    with pytest.raises(cf.DataError, match=r"take `cf\.from_action_dist\(action_dist, feedback\)`"):
        cf.evaluate(cf.from_obp(as_feedback()), np.full((len(ROWS), 3, 1), 1 / 3))


def test_feedback_must_be_a_dictionary():
    with pytest.raises(cf.DataError, match="must be a dictionary of bandit feedback, got list"):
        cf.from_obp([1])


def test_a_score_may_be_true_or_false(save):
    known = {"probability": 0.5, "cost": 0.1}
    lines = [json.dumps({"model": "ab"[place % 2], "score": place % 3 == 0, **known}) for place in range(9)]
    log = cf.read_log(save("\n".join(lines), "log.jsonl"), format="router-traces")
    assert log.reward.tolist() == [1.0, 0.0, 0.0] * 3


def test_feedback_of_obp_without_probabilities_can_be_fitted():
    rng = np.random.default_rng(0)
    feedback = {"n_rounds": 200, "n_actions": 2, "context": rng.normal(size=(200, 2)), "position": None}
    feedback |= {"action": rng.integers(2, size=200), "reward": rng.normal(size=200)}
    with pytest.raises(cf.DataError, match="got neither"):
        cf.from_obp(feedback)
    assert cf.from_obp(feedback, propensity="fit").fitted is not None
