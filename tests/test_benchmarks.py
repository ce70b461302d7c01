"""The pieces of the benchmark of scale run, on tiny logs, and so does the comparison of recorded answers."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import measuring
import scale
import workloads
from places import ROOT

LOG = {"rows": 3000, "actions": 3, "context": 2, "targets": 2}
WORKS = {
    "read": {"kind": "read", "log": LOG},
    "evaluate": {"kind": "evaluate", "log": LOG, "candidates": "paper", "splits": 3, "targets": 2},
    "weights": {"kind": "evaluate", "log": {"rows": 3000, "logged_only": True}, "candidates": "plain", "splits": 3},
    "single": {"kind": "plain_dr", "log": LOG},
    "memory": {"kind": "evaluate_in_memory", "log": LOG, "candidates": "plain", "splits": 3, "refit": False},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder for logs, with all work done in this process."""
    monkeypatch.setattr(measuring, "run", lambda folder, work: workloads.measured(folder, **work))
    return tmp_path


def test_a_group_has_a_line_for_each_of_its_works(folder):
    found = measuring.Bench(folder, print).group(measuring.Group("tiny", WORKS, "read", 1))
    lines = {line["label"]: line for line in found["lines"]}
    assert list(lines) == list(WORKS)
    assert lines["read"]["rows"] == LOG["rows"]
    assert lines["read"]["ratio"] == 1.0
    assert lines["evaluate"]["candidates"] > lines["memory"]["candidates"] > lines["weights"]["candidates"]
    assert all(0 < line["low"] <= line["seconds"] <= line["high"] for line in lines.values())
    assert all(line["peak_mib"] > 10 for line in lines.values())


def test_what_was_measured_is_not_measured_again(folder):
    group = measuring.Group("tiny", {"read": WORKS["read"]}, None, 2)
    once = measuring.Bench(folder, print).group(group)
    assert measuring.Bench(folder, print).group(group) == once
    assert len((folder / "measured.jsonl").read_text().splitlines()) == 2


def test_work_runs_in_a_process_of_its_own(tmp_path):
    assert measuring.run(tmp_path, {"kind": "make", "log": measuring.TINY})["bytes"] > 0
    with pytest.raises(RuntimeError, match="ended with code 1"):
        measuring.run(tmp_path, {"kind": "make", "log": {"rows": 1}})


@pytest.fixture
def found(monkeypatch):
    """Return results as if all of the quick benchmark had been measured, and each piece had taken a second."""
    monkeypatch.setattr(scale, "find_obstacle", lambda: None)
    sections = {}
    for name, section in scale.SECTIONS.items():
        sections[name] = []
        for group in section(replace(scale.QUICK, more=10**5)):
            result = {"seconds": 1.0, "peak_mib": 100.0, "candidates": 7, "session_seconds": 3.0}
            lines = [measuring.line_of(label, work, [result], 2.0) for label, work in group.works.items()]
            sections[name].append({"title": group.title, "lines": [line | {"bytes": 1 << 20} for line in lines]})
    return {"machine": measuring.machine(), "sections": sections}


def test_results_are_written_shown_and_drawn(found, tmp_path):
    pytest.importorskip("matplotlib")
    scale.written(found, tmp_path / "docs" / "bench.json")
    part = {"machine": found["machine"], "sections": {"single": []}}
    scale.written(part, tmp_path / "docs" / "bench.json")
    assert list(part["sections"]) == list(scale.SECTIONS)
    assert [one["what"] for one in part["margins"]] == ["splits", "targets"]
    out = io.StringIO()
    scale.show(found, Console(file=out, width=110))
    assert "local[2,4]" in out.getvalue()
    assert str(Path.home()) not in out.getvalue()
    assert all(path.stat().st_size > 1000 for path in scale.drawn(found, tmp_path / "scale.png"))


def test_what_ten_more_cost():
    lines = [{"candidates": count, "work": {}, "seconds": 1 + count / 100} for count in (5, 66, 191)]
    (found,) = scale.margins([{"title": "more candidates", "lines": lines}, {"title": "more actions", "lines": []}])
    assert found["seconds"] == pytest.approx(0.1)
    assert found["share"] == pytest.approx(0.1 / 2.91)


ANSWER = {"value": 1.0, "verdict": "good", "text": "the log is worth 12 rows", "code": 0, "selected": "0.4 DR + 0.6 DM"}
LINES = "value  12.5 per decision\nnothing else is known\n"


def record(path, **changes):
    """Write a record of two cases, an answer and an error."""
    cases = {
        "one": {"answer": ANSWER | {"lines": LINES}},
        "two": {"error": "DataError", "message": "it must be finite"},
    }
    cases["one"]["answer"] |= changes.get("one", {})
    cases["two"] |= changes.get("two", {})
    path.write_text(json.dumps({name: case for name, case in cases.items() if name not in changes.get("without", ())}))
    return path


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, None),
        ({"one": {"value": 1.0 + 1e-15}}, "NUMBERS"),
        ({"one": {"value": 1}}, "NUMBERS"),
        ({"one": {"verdict": "caution"}}, "NUMBERS"),
        ({"one": {"selected": "0.4 DR + 0.6 SNDR"}}, "NUMBERS"),
        ({"one": {"text": "the log is worth 13 rows"}}, "NUMBERS"),
        ({"one": {"lines": LINES.replace("12.5", "12.6")}}, "NUMBERS"),
        ({"one": {"more": 1}}, "NUMBERS"),
        ({"without": ["two"]}, "NUMBERS"),
        ({"one": {"code": 2}}, "ERRORS"),
        ({"two": {"error": "ModelError"}}, "ERRORS"),
        ({"two": {"message": "each value must be a number"}}, "TEXTS"),
        ({"one": {"text": "The log supports 12 rows."}}, "TEXTS"),
        ({"one": {"lines": LINES.replace("nothing else is known", "that is all we know")}}, "TEXTS"),
    ],
    ids=str,
)
def test_differences_of_answers_are_numbers_errors_or_texts(changes, kind, tmp_path):
    old = record(tmp_path / "old.json")
    new = record(tmp_path / "new.json", **changes)
    texts = tmp_path / "texts.md"
    command = [sys.executable, ROOT / "benchmarks" / "same_answers", "compare", old, new, "--texts", texts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    counts = dict.fromkeys(("NUMBERS", "ERRORS", "TEXTS"), 0) | ({kind: 1} if kind else {})
    assert ", ".join(f"{name} {count}" for name, count in counts.items()) in done.stdout
    assert done.returncode == (kind in {"NUMBERS", "ERRORS"})
    assert ("- new:" in texts.read_text()) == (kind == "TEXTS")
