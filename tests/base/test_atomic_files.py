"""Drafts of files: a process that is asked to end leaves none behind, and a link stays a link."""

import os
import signal
import subprocess
import sys
import textwrap

from counterfold.base.atomic_files import hold_draft, remove_when_terminated
from counterfold_lab.files import write_atomically

HOLD = """
    import os, signal, sys, time
    from pathlib import Path
    from counterfold.base.atomic_files import hold_draft
    from counterfold_lab.files import write_atomically

    place = Path(sys.argv[1])
    with (
        hold_draft("out", place / "policy.skops", b"content"),
        write_atomically(place / "log.parquet") as file,
        write_atomically(place / "logs", folder=True) as folder,
    ):
        file.write_bytes(b"rows")
        (folder / "part.parquet").write_bytes(b"rows")
        print(len(list(place.iterdir())), flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
"""


def test_a_process_that_is_terminated_leaves_no_drafts(tmp_path):
    (tmp_path / "policy.skops").write_bytes(b"old")
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (-signal.SIGTERM, "4\n", "")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("policy.skops", b"old")]


def test_a_program_that_handles_the_signal_itself_is_left_alone(tmp_path):
    asked = []
    before = signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    try:
        own = signal.getsignal(signal.SIGTERM)
        with remove_when_terminated(tmp_path / "draft"):
            assert signal.getsignal(signal.SIGTERM) is own
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert asked == [1]


def test_the_usual_handler_is_back_afterwards(tmp_path):
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with hold_draft("out", tmp_path / "a.skops", b"a"), hold_draft("out", tmp_path / "b.skops", b"b"):
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.skops", "b.skops"]


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "log.parquet").write_bytes(b"old")
    (tmp_path / "log.parquet").symlink_to("kept/log.parquet")
    with write_atomically(tmp_path / "log.parquet") as draft:
        draft.write_bytes(b"new")
    assert (tmp_path / "log.parquet").is_symlink()
    assert (tmp_path / "kept" / "log.parquet").read_bytes() == b"new"
    (tmp_path / "many").mkdir()
    (tmp_path / "logs").symlink_to("many")
    with write_atomically(tmp_path / "logs", folder=True) as draft:
        (draft / "part-00000.parquet").write_bytes(b"new")
    assert (tmp_path / "logs").is_symlink()
    assert [one.name for one in (tmp_path / "many").iterdir()] == ["part-00000.parquet"]
