"""A journal with damaged bytes: what can be read is kept, and the rest is done again."""

from counterfold.experiments.runner import run_tasks


def square(task):
    return [{"value": task * task}]


def test_damaged_bytes_and_a_line_cut_short_are_done_again(tmp_path):
    journal = tmp_path / "j"
    expected = run_tasks(range(4), square, journal, {"a": 1})
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = b"\xff\xfe" + lines[2][2:]
    journal.write_bytes(b"".join(lines)[:-5])
    done = []
    assert run_tasks(range(4), lambda task: done.append(task) or square(task), journal, {"a": 1}) == expected
    assert done == [1, 3]
    assert run_tasks(range(4), done.append, journal, {"a": 1}) == expected
