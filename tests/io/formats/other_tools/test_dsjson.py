"""Events of Vowpal Wabbit (dsjson): what is noted, what their probabilities mean, features, and what is refused."""

import json

import numpy as np
import pytest

import counterfold as cf
from other_tools import (
    MODELS,
    make_event,
    value_by_ips,
    write_dsjson,
)
from tool_logs import (
    NUMBERED,
    ROWS,
    SETTINGS,
    event_lines,
    list_notes,
    refuse,
)


def test_costs_become_rewards_and_that_is_said(save):
    result = cf.evaluate(save(write_dsjson(ROWS)), NUMBERED, **SETTINGS)
    assert result.logged.value == pytest.approx(sum(row["reward"] for row in ROWS) / len(ROWS))
    assert list_notes(result) == [
        "rewards are the costs of Vowpal Wabbit with the other sign: more is better",
        "column `Timestamp` was taken for when decisions were made, because of its name",
    ]
    # The rewards depend on age % 5, which no linear model sees: rows of one age do go together.
    assert {one.name for one in result.diagnostics.findings if one.severity != "note"} == {"unnamed-groups"}


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


def test_times_are_when_decisions_were_made_and_no_context(save):
    path = save(write_dsjson(ROWS))
    assert cf.LogScan(path).opened.table()["Timestamp"].to_pylist() == ["2021-02-04T16:31:29.2460000Z"] * len(ROWS)
    assert cf.read_log(path).time.has_days
    assert cf.read_log(path, ignore=["Timestamp"]).time is None
    assert "Timestamp" not in cf.read_log(path).context_sources


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
        ({"a": [0, 1, 2]}, ["line 8", "`a` must number actions from 0 on in all lines, or from 1 on in all"]),
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
    monkeypatch.setattr("counterfold.io.formats._events.MOST", 3)
    monkeypatch.setattr("counterfold.io.formats._events.KNOWN", 100)
    lines = [
        f"{row['action'] + 1}:{row['age']}:0.5 | age:{row['age']} common:1 user_{row['id']} half:{row['id'] % 2}"
        for row in ROWS
    ]
    path = save("\n".join(lines), "log.vw")
    assert cf.LogScan(path).opened.table().column_names[3:] == ["age", "common", "half"]
    [_, note] = cf.read_log(path).notes
    assert "600 others are not" in note[0]


def count_from_zero(rows):
    """Return events whose `a` numbers actions from 0 on, though the label counts from 1 on."""
    found = []
    for row in rows:
        event = make_event(row)
        event["a"] = [place - 1 for place in event["a"]]
        found.append(json.dumps(event))
    return found


@pytest.mark.parametrize("engine", ["memory", "local"])
def test_actions_that_are_numbered_from_0_on_are_the_same_log(save, engine):
    usual = cf.evaluate(save("\n".join(event_lines({}))), NUMBERED, engine=engine, **SETTINGS)
    found = cf.evaluate(save("\n".join(count_from_zero(ROWS))), NUMBERED, engine=engine, **SETTINGS)
    assert (found.value, found.stderr) == (usual.value, usual.stderr)
    note = f"{len(ROWS)} decisions number the actions in `a` from 0 on, though `_label_Action` counts from 1 on"
    assert any(one.startswith(note) for one in list_notes(found))
    assert not any("from 0 on" in one for one in list_notes(usual))


def test_lists_that_do_not_tell_where_they_begin_follow_the_others(save):
    lines = count_from_zero(ROWS)
    events = [json.loads(line) for line in lines[:3]]
    events[1]["a"] = [1, 2]  # the second and the third of three actions
    events[1]["p"] = [0.25, 0.75]
    events[1] |= {"_label_Action": 3, "_labelIndex": 2, "_label_probability": 0.75}
    log = cf.read_log(save("\n".join([*map(json.dumps, events), *lines[3:]])))
    assert log.logging_probs[1].tolist() == [0.0, 0.25, 0.75]
    first = [json.dumps(events[1]), *lines[2:]]
    first[0] = json.dumps({**events[1], "_label_Action": 2, "_labelIndex": 1, "_label_probability": 0.75})
    refuse(save("\n".join(first)), "line 2", "`a` must number actions from 0 on in all lines, or from 1 on in all")


@pytest.mark.parametrize("field", ["w\ud83d", "w"])
def test_half_of_a_character_is_refused_with_its_line(save, field):
    value = 1.0 if field != "w" else "x\ud83d"
    event = make_event(ROWS[7])
    event["c"][field] = value
    refuse(
        save("\n".join(event_lines({7: json.dumps(event)}))),
        "line 8: texts must hold whole characters, got half of one",
    )
    event["c"].pop(field)
    event["c"]["w"] = "\U0001f600"  # both halves of one, as JSON in ASCII writes it
    whole = "\n".join(event_lines({7: json.dumps(event)}))
    assert r"\ud83d" in whole
    assert len(cf.read_log(save(whole))) == len(ROWS)
