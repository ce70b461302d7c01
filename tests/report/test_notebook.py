"""What notebooks show: well-formed, escaped, without scripts, the answer first, and withheld where it must be."""

import re
from xml.etree import ElementTree as ET

import pytest

import counterfold as cf
from counterfold.report.markup import Interval, draw_intervals
from counterfold.report.numbers import format_logged, format_value
from shown_results import MAKERS, UGLY, make, make_log

RESULTS = {name: lambda name=name: make(name) for name in MAKERS} | {
    "log": lambda: make_log(group=range(600))[0],
    "estimate": lambda: cf.estimate(*make_log(), "dr"),
    "difference": lambda: cf.estimate(*make_log(), "dr") - cf.Estimate(UGLY, make_log()[0].reward),
}


def read_texts(html):
    return " ".join(ET.fromstring(html).itertext())  # noqa: S314 (we wrote it)


@pytest.mark.parametrize("name", RESULTS)
def test_html_is_well_formed_and_has_no_scripts(name):
    html = RESULTS[name]()._repr_html_()
    texts = read_texts(html)
    assert not re.search(r"<script|<style|<link|\son\w+=|https?:|url\(", html)
    assert len(html) < 20_000
    if name in {"log", "difference", "comparison", "rewards"}:
        assert "<script>" in texts


def test_the_answer_comes_first_then_its_reason_and_the_next_step():
    result = make("ladder")
    texts = read_texts(result._repr_html_())
    value, interval = format_value(result)
    wanted = value, interval, result.verdict, format_logged(result), result.diagnostics.reasons[0]
    places = [texts.index(one) for one in (*wanted, result.next_step.sentence, "candidates: 13")]
    assert places == sorted(places)
    assert result.table[0].name in texts


def test_numbers_that_are_withheld_are_not_shown():
    result = make("rare")
    hidden = *format_value(result), *(f"{one.value:.3f}" for one in result.table), "<svg"
    html = result._repr_html_()
    finding = " ".join(one.problem for one in result.diagnostics.findings)
    assert not [one for one in hidden if one in html and one not in finding]
    assert "Withheld: the log cannot answer" in html
    assert result.diagnostics.reasons[0] in read_texts(html)
    both = cf.Comparison({"rare": result, "other": result})._repr_html_()
    assert format_value(result)[0] not in both
    assert "withheld" in both


def test_a_check_says_whether_the_log_can_answer_and_what_was_measured():
    texts = read_texts(make("check")._repr_html_())
    assert "Can the log answer?" in texts
    assert "effective rows" in texts


def test_a_log_says_what_is_in_it():
    texts = read_texts(make_log(group=range(600), kinds=40)[0]._repr_html_())
    assert "Log of 600 rows, 40 actions" in texts
    assert "and 28 more" in texts
    assert "groups" in texts


def test_intervals_without_ends_and_without_width_are_drawn():
    lines = [
        Interval("a", 1.0, (float("-inf"), float("inf")), "1", "red"),
        Interval("b", None, None, "withheld", "red"),
    ]
    assert "nan" not in draw_intervals(lines, 1.0, "both")
    assert "nan" not in draw_intervals(lines, 2.0, '"quoted"')
