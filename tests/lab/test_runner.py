"""The runner: same rows whatever the jobs, restarts and kills; and what it refuses."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import counterfold as cf
from counterfold_lab.files import write_atomically
from counterfold_lab.runner import run_tasks
from pieces import dies, doubled

SLOW = """
import sys, time
from pathlib import Path
from counterfold_lab.runner import run_tasks
import pieces
run_tasks(range(40), pieces.slowly, Path(sys.argv[1]), {"a": 1}, jobs=int(sys.argv[2]))
"""


EXPECTED = [row for piece in range(40) for row in doubled(piece)]


def started(journal, jobs):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", SLOW, str(journal), str(jobs)], env=environment)


def wait_for_lines(journal, count):
    for _ in range(600):
        if journal.exists() and journal.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the run did not start")


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_come_in_the_order_of_the_pieces(tmp_path, jobs):
    seen = []
    rows = run_tasks(range(40), doubled, tmp_path / "j", {"a": 1}, jobs, lambda done, total: seen.append((done, total)))
    assert rows == EXPECTED
    assert seen == [(done, 40) for done in range(41)]


def test_what_is_done_is_not_done_again(tmp_path):
    run_tasks(range(3), doubled, tmp_path / "j", {"a": 1})

    def never(piece):
        raise AssertionError(piece)

    assert run_tasks(range(3), never, tmp_path / "j", {"a": 1}) == EXPECTED[:6]
    assert run_tasks([2, 0], never, tmp_path / "j", {"a": 1}) == EXPECTED[4:6] + EXPECTED[:2]


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_line_cut_short_is_done_again(tmp_path, cut):
    journal = tmp_path / "j"
    run_tasks(range(4), doubled, journal, {"a": 1})
    whole_file = journal.read_bytes()
    journal.write_bytes(whole_file[:-cut])
    assert run_tasks(range(4), doubled, journal, {"a": 1}) == EXPECTED[:8]
    assert journal.read_bytes() == whole_file


def test_other_settings_are_refused_by_name(tmp_path):
    run_tasks(range(2), doubled, tmp_path / "j", {"a": 1, "b": "x"})
    with pytest.raises(cf.ParameterError, match=r"holds results of other settings \(a 1\): give another `--out`.$"):
        run_tasks(range(2), doubled, tmp_path / "j", {"a": 2, "b": "x"})


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_kill_it_goes_on_and_leaves_nothing_running(tmp_path, jobs):
    journal = tmp_path / "j"
    process = started(journal, jobs)
    wait_for_lines(journal, 5)
    with pytest.raises(cf.DataError, match="must not be in use, but another run is writing there"):
        run_tasks(range(40), doubled, journal, {"a": 1})
    workers = children(process.pid)
    assert len(workers) >= (jobs > 1)
    process.kill()
    process.wait()
    done = journal.read_text().count("\n")
    assert 5 <= done < 41
    again = []
    assert run_tasks(range(40), lambda piece: again.append(piece) or doubled(piece), journal, {"a": 1}) == EXPECTED
    assert len(again) <= 41 - done
    for _ in range(100):
        if not any(alive(worker) for worker in workers):
            break
        time.sleep(0.1)
    assert not any(alive(worker) for worker in workers)


def children(pid):
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []


def alive(pid):
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().split()[2] != "Z"


def test_a_worker_that_is_killed_is_one_sentence(tmp_path):
    with pytest.raises(cf.DataError, match=r"^a worker ended before its piece was done; run the same again to go on"):
        run_tasks(range(8), dies, tmp_path / "j", {"a": 1}, jobs=2)
    assert run_tasks(range(8), doubled, tmp_path / "j", {"a": 1}, jobs=2) == EXPECTED[:16]


def test_no_half_of_a_file_is_left(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), write_atomically(path) as part:
        part.write_text("half \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with write_atomically(path) as part:
        part.write_text("new")
    assert path.read_text() == "new"


def test_numbers_survive_the_journal_exactly(tmp_path):
    rows = run_tasks([1], lambda _: [{"value": 0.1 + 0.2, "tiny": 5e-324}], tmp_path / "j", {})
    again = json.loads((tmp_path / "j").read_text().splitlines()[1])["rows"]
    assert rows == again == [{"value": 0.30000000000000004, "tiny": 5e-324}]
