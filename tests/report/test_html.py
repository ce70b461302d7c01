"""The HTML report: what is in it, that nothing from data can act, and that it is written as a whole or not at all."""

import base64
import hashlib
import html
import re
from itertools import pairwise

import numpy as np
import pytest

import counterfold as cf
from counterfold.report.html.charts.base import limit_domain
from counterfold.report.html.sections import build_all
from counterfold.report.numbers import format_value

SECTIONS = [one.title for one in build_all()]


def list_headings(page):
    return [(int(level), html.unescape(re.sub("<.*?>", "", words))) for level, words in HEADING.findall(page.shown)]


HEADING = re.compile(r"<h(\d)[^>]*>(.*?)</h\1>", re.DOTALL)


def test_the_page_has_every_section_in_the_order_of_a_decision(answer, answer_page):
    page = answer_page
    headings = list_headings(page)
    assert [words for level, words in headings if level == 2] == [f"{n}{one}" for n, one in enumerate(SECTIONS, 1)]
    levels = [level for level, _ in headings]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.answer["value"] == answer.value
    value, interval = format_value(answer)
    assert value in page.shown
    assert interval in page.shown
    assert answer.next_step.sentence in html.unescape(page.shown)


def test_every_exhibit_is_shown_with_its_numbers(answer, answer_page):
    page = answer_page
    figures = re.findall(r"<figure>.*?</figure>", page.source, re.DOTALL)
    assert len(figures) >= len(answer.exhibits)
    for figure in figures:
        label = re.search(r'role="img" aria-label="([^"]+)"', figure)[1]
        assert label.endswith(".")
        assert "How to read this." in figure
        assert "The numbers</summary>" in figure
        assert "<td" in figure
    assert {"Value over time", "Weights", "Actions", "Sensitivity", "Sample size", "Candidates", "Rungs of the ladders",
            "Calibration of the reward model", "Calibration by action"} <= set(CAPTION.findall(page.shown))  # fmt: skip


CAPTION = re.compile(r"<caption>(.*?)</caption>")


def test_nothing_from_data_can_act(found_page):
    page = found_page
    for text in ("<script>alert", "<img", "<b>bold", "\u202e", "\x1b", "\x00"):
        assert text not in page.shown
    assert "{{7*7}}" in page.shown
    scripts = re.findall(r"<script>(.*?)</script>", page.source, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', page.source)[1])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for text in [*scripts, *styles]:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert len(re.findall("<script[ >]", page.source)) == len(page.specs) + 1 + len(scripts)


def test_several_targets_have_a_chapter_each(found_page):
    page = found_page
    chapters = [words for level, words in list_headings(page) if level == 2]
    assert chapters[2:-1] == ["new", "<b>bold</b>"]
    assert "would earn most" in page.shown
    assert len(page.answer["evaluations"]) == 2


def test_many_targets_have_few_chapters(answer, monkeypatch, write):
    monkeypatch.setattr("counterfold.report.html.cases.MOST_CHAPTERS", 1)
    page = write(cf.Comparison({"a": answer, "b": answer}))
    assert [words for level, words in list_headings(page) if level == 2][2:-1] == ["a"]
    assert "Only the first 1 of 2 have a chapter" in page.shown


def test_several_rewards_have_a_chapter_each(frame, write):
    page = write(cf.evaluate(frame, "new", reward=["click", "money"], time="time", ignore=["<b>bold</b>"]))
    assert {"new policy by click", "new policy by money"} <= {words for _, words in list_headings(page)}


def test_numbers_that_the_log_cannot_answer_for_are_withheld(refused, refused_page):
    page = refused_page
    said = {f"{one:.3f}" for one in (refused.value, *refused.interval, *(line.value for line in refused.table))}
    for number in said - {f"{refused.logged.value:.3f}"}:
        assert number not in page.shown
    assert "cannot tell" in page.shown
    assert "withheld" in page.shown
    specs = str(page.specs)
    assert f"{refused.value:.6g}" not in specs
    assert f"{refused.interval.low:.6g}" not in specs


def test_a_checked_log_has_a_report(frame, write):
    page = write(cf.check(frame, "new", reward="click", ignore=["<b>bold</b>", "money"]))
    assert "can answer" in page.shown
    assert "The log was only checked" in page.shown


def test_rows_can_be_left_out(answer, answer_page, write):
    assert "Row (from 0)" in answer_page.shown
    page = write(answer, rows=False)
    assert "Row (from 0)" not in page.shown
    assert "left out of this report" in page.shown


def test_equal_policies_earn_the_same(write):
    log = cf.Log(action=[0, 1] * 100, reward=np.arange(200.0) % 7, propensity=np.full(200, 0.5))
    page = write(cf.evaluate(log, np.full(200, 0.5)))
    assert "<strong>the same</strong> as today" in page.shown


def test_axes_show_most_values_but_not_the_farthest_interval():
    lines = [{"value": value, "low": value - 0.001, "high": value + 0.001} for value in (0.30, 0.32, 0.35, 0.37, 0.38)]
    assert limit_domain(lines, (0.379, 0.381)) is None
    low, high = limit_domain([*lines, {"value": 0.4, "low": -90.0, "high": 90.0}], (0.379, 0.381))
    assert -1 < low < 0.30
    assert 0.38 < high < 1


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("report.txt", "ends in .html"),
        ("nowhere/report.html", "folder that exists"),
        ("folder.html", "must be a file"),
        ("a\0.html", "ends in .html"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused(answer, tmp_path, monkeypatch, path, rule):
    (tmp_path / "folder.html").mkdir()
    monkeypatch.setattr("counterfold.report.html.page.render", lambda _: "page")
    with pytest.raises(cf.ParameterError, match=rule):
        answer.to_html(f"{tmp_path}/{path}")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.html"]


def test_bad_arguments_are_refused(answer, tmp_path):
    with pytest.raises(cf.ParameterError, match="`report` must be the name of a file"):
        answer.to_html(5)
    with pytest.raises(cf.ParameterError, match="`rows` must be True or False"):
        answer.to_html(tmp_path / "report.html", rows="no")


def test_nothing_half_written_is_left(answer, tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text("before")
    monkeypatch.setattr("counterfold.report.html.page.render", lambda _: "after")

    def fail(_, __):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(cf.ParameterError, match="No space left"):
        answer.to_html(tmp_path / "report.html")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "before"


def test_a_missing_extra_is_one_sentence(answer, tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.report.html.writing.find_spec", lambda _: None)
    with pytest.raises(cf.ParameterError, match=r"pip install counterfold\[report\]"):
        answer.to_html(tmp_path / "report.html")
