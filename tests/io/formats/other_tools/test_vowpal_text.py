"""Text of Vowpal Wabbit: its features, lines without a label, and what is refused."""

import pytest

import counterfold as cf
from other_tools import (
    write_adf,
    write_cb,
)
from tool_logs import (
    ROWS,
    refuse,
)


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
