"""Reports from the command line."""

import json
import re

import pytest

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

TITLE = re.compile(r'<h2 class="section-title".*?>(.*?)</h2>')


def list_pictures(path):
    """Return what is in a report, whatever the numbers are: sections and tables."""
    text = path.read_text(encoding="utf-8")
    return TITLE.findall(text), re.findall("<caption>(.*?)</caption>", text)


def test_a_report_is_the_same_on_every_engine(run, save, tmp_path):
    log = save(time=[f"2026-01-{1 + row // 30:02}" for row in range(120)]).name
    seen = {}
    for engine in ("memory", "local"):
        code, *_ = run("evaluate", log, "--engine", engine, "--report", f"{engine}.html")
        assert code == 0
        seen[engine] = list_pictures(tmp_path / f"{engine}.html")
    assert seen["memory"] == seen["local"]
    assert len(seen["local"][0]) == 9
    text = (tmp_path / "local.html").read_text(encoding="utf-8")
    assert "counterfold evaluate log.parquet --engine local --report local.html" in text
    assert "<bdi>Reward “reward”, from log.parquet, 120 decisions, 2026-01-01 to 2026-01-04</bdi>" in text


def test_the_report_is_written_beside_json_before_the_exit_code(run, save, tmp_path):
    arguments = "--target", "target", "--target", "uniform", "--json", "--require", "good", "--report", "r.html"
    code, out, err = run("compare", save().name, *arguments, "--no-rows")
    assert code == 3
    assert "every verdict must be good" in err
    assert len(json.loads(out)["differences"]) == 2
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "left out of this report" in text
    embedded = re.search(r'id="counterfold-json">(.*?)</script>', text, re.DOTALL)[1]
    assert json.loads(embedded) == json.loads(out)


def test_a_check_has_a_report(run, save, tmp_path):
    assert run("check", save().name, "--report", "check.html")[0] == 0
    assert "The log was only checked" in (tmp_path / "check.html").read_text(encoding="utf-8")


def test_the_demo_has_a_report_with_the_truth(run, tmp_path):
    assert run("demo", "--report", "demo.html")[0] == 0
    assert "the truth, known in this demo" in (tmp_path / "demo.html").read_text(encoding="utf-8")


def test_a_bad_place_is_refused_before_the_log_is_read(run, tmp_path):
    code, out, err = run("evaluate", "missing.parquet", "--report", "nowhere/report.html")
    assert (code, out) == (2, "")
    assert err == "Error: `report` must be in a folder that exists, got 'nowhere/report.html'.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_log_is_not_overwritten(run, save):
    log = save("log.html")
    before = log.read_bytes()
    code, _, err = run("evaluate", "log.html", "--format", "parquet", "--report", "log.html")
    assert (code, err) == (2, "Error: `report` must be another file than the log, got the log itself.\n")
    assert log.read_bytes() == before


def test_passwords_are_not_in_the_report(monkeypatch):
    from counterfold.cli._report import show_command

    words = [
        "counterfold",
        "evaluate",
        "--db",
        "postgresql://ann:secret@db/shop",
        "--db=sqlite://x:secret@y/z?k=secret",
    ]
    monkeypatch.setattr("sys.argv", words)
    assert show_command() == "counterfold evaluate --db postgresql://db/shop --db=sqlite://y/z"


def test_the_report_names_the_log_without_passwords():
    from counterfold import LogScan
    from counterfold.cli._report import list_roles, name_source
    from counterfold.cli.options import LogOptions

    columns = LogScan("logs/<may>.csv", action="Banner", reward=["clicked?", "spent"])
    log = LogOptions(columns=columns, target=["new", "newer"])
    assert name_source(log) == "<may>.csv"
    assert list_roles(log) == {"action": "Banner", "reward": "clicked?, spent", "target": "new, newer"}
    assert name_source(LogOptions(columns=LogScan("s3://ann:secret@shop/may?key=secret"))) == "s3://shop/may"
    assert name_source(LogOptions(sql="select 1", columns=LogScan(None))) == "a query"
