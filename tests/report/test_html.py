"""The HTML report: what is in it, that nothing from data can act, and that it is written as a whole or not at all."""

import base64
import hashlib
import html
import json
import re
from itertools import pairwise

import numpy as np
import pytest

import counterfold as cf
from counterfold.base.questions import QUESTIONS, ask
from counterfold.report.figures._charts import limit_domain
from counterfold.report.html.cases import Report
from counterfold.report.html.formats import probability
from counterfold.report.html.sections import list_sections
from counterfold.report.html.sentences import capitalise
from counterfold.report.numbers import find_error, format_gap, format_number

SECTIONS = [one.title for one in list_sections(Report([], {}, ""))]


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
    assert answer.next_step.sentence.replace("the log did", "today") in html.unescape(page.shown)


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
    assert sorted(chapters[3:-1]) == ["<b>bold</b>", "new"]
    assert "intervals that hold for all 2 policies at once" in page.shown
    assert "Probability to be best" in page.shown
    assert len(page.answer["evaluations"]) == 2


def test_many_targets_have_few_chapters(answer, monkeypatch, write):
    monkeypatch.setattr("counterfold.report.html.cases.MOST_CHAPTERS", 1)
    page = write(cf.Comparison({"a": answer, "b": answer}))
    assert [words for level, words in list_headings(page) if level == 2][3:-1] == ["a"]
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


def draw_clicks(rows, more):
    """Return a log of two actions, of which the second earns so much more, with a column that holds numbers as text."""
    rng = np.random.default_rng(2)
    action = rng.integers(2, size=rows)
    click = rng.random(rows) < 0.3 + more * action
    country = rng.choice(["fr", "nl"], size=rows)
    return {"action": action, "reward": click.astype(int), "propensity": np.full(rows, 0.5), "country": country}


@pytest.mark.parametrize(("more", "is_told"), [(0.0, False), (0.3, True)])
def test_the_badge_is_the_verdict_and_a_difference_that_may_be_0_is_said(write, more, is_told):
    result = cf.evaluate(draw_clicks(600, more), {1: 1.0})
    page = write(result)
    assert result.verdict == page.answer["verdict"] == "good"
    assert '<span class="badge">good</span>' in page.shown
    assert ("the difference may be above or below 0" in page.shown) == (not is_told)
    assert ("cannot tell</strong>" in page.shown) == (not is_told)
    assert ("this log has enough" in page.shown) == is_told  # by the next step's number of rows
    assert "nothing speaks against it" not in page.shown  # a column was read as numbers, which is a note
    assert "Are the logged probabilities right" in page.shown  # which is no doubt


def test_what_no_check_can_tell_is_asked_once(answer, answer_page):
    assert html.unescape(answer_page.shown).count(ask()) == 1
    assert answer_page.answer["questions"] == json.loads(answer.to_json())["questions"] == list(QUESTIONS)
    assert html.unescape(answer._repr_html_()).count(ask()) == 1


def test_the_worst_finding_is_the_first_doubt(refused, refused_page, write):
    said = html.unescape(refused_page.shown)
    assert f"Why not?</strong> {capitalise(refused.diagnostics.findings[0].problem)}." in said
    rare = draw_clicks(600, 0.0)
    rare["reward"] = np.where(np.arange(600) % 150 == 0, 100.0, 0.0)
    result = cf.evaluate(rare, {1: 1.0})
    doubt = next(one for one in result.diagnostics.findings if one.name == "few-rewards")
    page = write(result)
    assert f"Doubt first.</strong> {capitalise(doubt.problem)}." in html.unescape(page.shown)
    assert "confidence that it is better</dt>" not in page.shown


def test_the_reward_model_is_judged(write):
    log = draw_clicks(600, 0.3)
    log["noise"] = np.random.default_rng(0).normal(size=600)
    page = write(cf.evaluate(log, {1: 1.0}, reward_model=cf.RidgePerAction(alpha=1e-9)))
    assert "no better than guessing the mean" in page.shown
    assert "no better than the mean reward would. The answer hardly depends on it: without it" in page.shown
    seen = write(cf.evaluate(log | {"reward": log["noise"] ** 3 + log["action"]}, {1: 1.0}, context=["noise"]))
    assert "The answer hardly depends on the reward model: without it" in seen.shown


def test_numbers_add_up(answer, answer_page):
    error = find_error(answer.uplift().stderr, answer.uplift().interval())
    logged, value, gap = (
        format_number(one, error) for one in (answer.logged.value, answer.value, answer.uplift().value)
    )
    today, own, difference, *_ = re.findall(r"<dd><strong>(.*?)</strong>", answer_page.shown)
    assert (today, own, difference) == (logged, value, f"+{gap}")
    assert "a reward in" in answer_page.shown


def test_the_message_has_three_lines_and_an_origin(answer, answer_page):
    said = html.unescape(re.search(r'class="paste-text">(.*?)</p>', answer_page.shown, re.DOTALL)[1])
    first, step, doubt, empty, asked, second_empty, origin = said.split("\n")
    assert "interval of the difference" in first
    assert (step, empty) == (f"Next step: {answer.next_step.sentence.replace('the log did', 'today')}", "")
    assert doubt.startswith("Doubt first: ")
    assert (asked, second_empty) == (ask(), "")
    assert origin.startswith("(1,500 decisions, 2026-01-01 to 2026-03-01; made ")
    assert origin.endswith("; seed 0)")
    assert answer.selected in origin


def test_much_more_is_told_in_times(write):
    log = draw_clicks(600, 0.0)
    log["reward"] = 1.0 + 9.0 * log["action"] + log["reward"]
    log["propensity"] = np.where(log["action"] == 1, 0.25, 0.75)
    kept = (log["action"] == 0) | (np.arange(600) % 3 == 0)  # so that the log earns less than half as much
    page = write(cf.evaluate({name: column[kept] for name, column in log.items()}, {1: 1.0}))
    assert re.search(r"would earn <strong>[23]\.\d times as much</strong> as today", page.shown)
    assert re.search(r", or [23]\.\d to [2-4]\.\d times as much as today\.", page.shown)


@pytest.mark.parametrize(("offset", "is_told"), [(0.0, True), (-0.4, False)])
def test_percent_is_told_only_of_what_is_far_from_0(write, offset, is_told):
    log = draw_clicks(600, 0.3)
    log["reward"] = log["reward"] + offset
    page = write(cf.evaluate(log, {1: 1.0}))
    assert ("\N{NO-BREAK SPACE}% more" in page.shown) == is_told
    assert "more per decision" in page.shown


def test_what_changes_is_said(write):
    page = write(cf.evaluate(draw_clicks(600, 0.3), {1: 1.0}))
    changes = html.unescape(re.search(r"What changes.</strong> (.*?)</p>", page.shown)[1])
    one = "\N{LEFT DOUBLE QUOTATION MARK}[01]\N{RIGHT DOUBLE QUOTATION MARK} from [45].\N{NO-BREAK SPACE}% to 1?0?0.%"
    assert re.fullmatch(f"{one}, {one} of decisions.", changes)


def test_the_confidence_goes_by_the_interval(answer, answer_page):
    sure = probability(answer.uplift().find_confidence())
    assert f"confidence that it is better</dt><dd><strong>{html.escape(sure)}</strong>" in answer_page.shown
    assert f"<strong>{format_gap(answer.uplift(), answer.logged)[0]}</strong>" in answer_page.shown


def test_what_was_never_drawn_at_random_did_not_pass(write):
    log = draw_clicks(600, 0.0)
    log["propensity"] = np.ones(600)
    with pytest.warns(cf.SupportWarning):
        page = write(cf.evaluate(log, {1: 1.0}))
    assert "explore first" in page.shown
    assert "Also measured" in page.shown
    for words in (
        "Checked and passed",
        "actions fall as they say",
        ">1 is expected",
        "Row of the log",
        "variance expl",
    ):
        assert words not in page.shown


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
    monkeypatch.setattr("counterfold.report.html.page.render", lambda *_: "page")
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
    monkeypatch.setattr("counterfold.report.html.page.render", lambda *_: "after")

    def fail(_, __):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(cf.ParameterError, match="No space left"):
        answer.to_html(tmp_path / "report.html")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "before"


def test_a_missing_extra_is_one_sentence(answer, tmp_path, monkeypatch):
    monkeypatch.setattr("counterfold.report.html.writing.find_spec", lambda _: None)
    with pytest.raises(cf.ParameterError, match=r"pip install 'counterfold\[report\]'"):
        answer.to_html(tmp_path / "report.html")
