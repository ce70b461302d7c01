"""A journal that was damaged or changed: lines that are as they were written count; others are redone or refused."""

import json
import re

import pytest

import counterfold as cf
from counterfold_lab.runner import run_tasks

SETTINGS = {"a": 1, "version": "0.1"}


def square(task):
    return [{"value": task * task / 7}]


EXPECTED = [square(task)[0] for task in range(4)]


@pytest.fixture
def journal(tmp_path):
    """Return the journal of four tasks."""
    path = tmp_path / "j"
    run_tasks(range(4), square, path, SETTINGS)
    return path


def go_on(path, settings=SETTINGS):
    """Return the rows of all tasks after a restart, and which tasks were done again."""
    done = []
    return run_tasks(range(4), lambda task: done.append(task) or square(task), path, settings), done


def change(path, edit):
    lines = path.read_bytes().splitlines(keepends=True)
    edit(lines)
    path.write_bytes(b"".join(lines))


def test_damaged_bytes_and_a_line_cut_short_are_done_again(journal):
    change(journal, lambda lines: lines.__setitem__(2, b"\xff\xfe" + lines[2][2:]))
    journal.write_bytes(journal.read_bytes()[:-5])
    with pytest.warns(UserWarning, match="is damaged: 1 of 4 lines are not as they were written and do not count"):
        assert go_on(journal) == (EXPECTED, [1, 3])


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_every_flipped_bit_of_a_record_is_noticed(journal, place):
    whole = journal.read_bytes()
    start = sum(map(len, whole.splitlines(keepends=True)[:place]))
    end = start + len(whole.splitlines()[place])
    for byte in range(start, end, 3):
        journal.write_bytes(whole[:byte] + bytes([whole[byte] ^ (1 << byte % 7)]) + whole[byte + 1 :])
        with pytest.warns(UserWarning, match="is damaged"):
            rows, done = go_on(journal)
        assert rows == EXPECTED
        assert done == [place - 1]


def test_a_changed_number_does_not_count(journal):
    change(journal, lambda lines: lines.__setitem__(3, lines[3].replace(b"0.571", b"0.671")))
    with pytest.warns(UserWarning, match="is damaged: 1 of 5 lines"):
        assert go_on(journal) == (EXPECTED, [2])
    with pytest.warns(UserWarning, match="is damaged: 1 of 6 lines"):
        assert go_on(journal) == (EXPECTED, [])


def test_a_line_of_a_journal_of_other_settings_does_not_count(journal, tmp_path):
    run_tasks([3], lambda _: [{"value": -1.0}], tmp_path / "other", SETTINGS | {"a": 2})
    foreign = (tmp_path / "other").read_bytes().splitlines(keepends=True)[1]
    change(journal, lambda lines: lines.__setitem__(4, foreign))
    with pytest.warns(UserWarning, match="is damaged: 1 of 5 lines"):
        assert go_on(journal) == (EXPECTED, [3])


def test_repeated_lines_and_another_order_change_nothing(journal):
    change(journal, lambda lines: lines.extend([lines[2], lines[1]]) or lines.insert(1, lines.pop(4)))
    assert go_on(journal) == (EXPECTED, [])


def test_two_results_of_one_task_are_refused(journal, tmp_path):
    run_tasks([3], lambda _: [{"value": -1.0}], tmp_path / "other", SETTINGS)
    foreign = (tmp_path / "other").read_bytes().splitlines(keepends=True)[1]
    change(journal, lambda lines: lines.append(foreign))
    with pytest.raises(
        cf.DataError, match=r"must hold one result per task, got two different ones for 3: give another"
    ):
        go_on(journal)


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: lines.pop(0),
        lambda lines: lines.append(lines.pop(0)),
        lambda lines: lines.__setitem__(0, json.dumps(SETTINGS).encode() + b"\n"),
        lambda lines: lines.__setitem__(0, lines[0].replace(b"0.1", b"0.2")),
        lambda lines: lines.__setitem__(0, b"[" * 10**5 + b"\n"),
        lambda lines: lines.__setitem__(0, b"\x00\xff\n"),
    ],
    ids=["no settings", "settings last", "unsigned, of an older version", "changed", "nested", "no text"],
)
def test_settings_that_are_not_as_they_were_written_are_refused(journal, edit):
    change(journal, edit)
    before = journal.read_bytes()
    rule = re.escape(
        f"`{journal.parent}` must hold a journal of this version, got one whose first line is damaged, or "
    )
    with pytest.raises(cf.DataError, match=rf"^{rule}"):
        go_on(journal)
    assert journal.read_bytes() == before


def test_a_journal_of_another_version_is_refused(journal):
    with pytest.raises(cf.ParameterError, match=r"holds results of other settings \(version 0\.1\): give another"):
        go_on(journal, SETTINGS | {"version": "0.2"})
