"""Plots: the marks of each chart show what the result says, and what does not apply is refused by a sentence."""

import json
import subprocess
import sys
from dataclasses import replace
from io import BytesIO

import altair as alt
import numpy as np
import pytest

import counterfold as cf
from charted import find_marks, list_marks
from counterfold.intervals.base import Bounds
from counterfold.policies.learned.scorers import TreeScorer
from counterfold.report import plotting
from places import ROOT
from shown_results import MAKERS, UGLY, make, make_rare_log

NAMES = [figure.name for figure in plotting.build_all()]
SHARES = ("weights", "concentration", "support", "influence")

SHOWN_BY = {"losses": "ocv", "reliability": "fitted", "compare": "comparison", "segments": "segments"}
SHOWN_BY |= {"contenders": "learned", "importance": "policy", "tree": "policy"}
"""The kind of result that each figure is drawn of, unless that is an evaluation by a ladder."""

DIGITS = 1e-5
"""How far a number of a chart may be off: charts are given six digits."""


def list_drawable(result):
    return {one.name for one in plotting.build_all() if one.find_obstacle(result) is None}


def columns(result, table, *names):
    """Return some columns of a table."""
    return [[line[name] for name in names] for line in result.exhibits[table].lines]


def list_titles(chart):
    return [panel["title"]["text"] for panel in chart.to_dict()["vconcat"]]


def show_answer(result, chart):
    yield find_marks(chart, "point", x="value").read("x"), [[result.logged.value], [result.value]]
    yield find_marks(chart, "rule", x="low").read("x", "x2"), [result.logged.interval(), result.interval]


def show_compare(result, chart):
    gaps = {name: gap.value for name, gap in result.differences.items()}
    points = find_marks(chart, "point", x="value")
    assert sorted(line["name"][:5] for line in points.lines) == sorted(name[:5] for name in gaps)
    yield sorted(points.read("x")), sorted([value] for value in gaps.values())
    yield sorted(find_marks(chart, "rule", x="low").read("x", "x2")), sorted(map(list, result.simultaneous.values()))


def show_candidates(result, chart):
    drawn = find_marks(chart, "point", x="value").read("x")
    yield drawn[:1], [[result.value]]
    yield sorted(drawn[1:]), sorted([one.value] for one in result.table)
    first = max(result.table, key=lambda one: one.share)
    yield drawn[1], [first.value]


def show_weights(result, chart):
    bars = find_marks(chart, "bar")
    for who, share in (("share of rows", "row_share"), ("share of weight", "weight_share")):
        drawn = [[line["low"], line[bars.fields["y"]]] for line in bars.lines if line["who"] == who]
        expected = columns(result, "weights", "low", share)
        yield drawn[:-1], expected[: len(drawn) - 1]
        yield drawn[-1][1], sum(part for _, part in expected[len(drawn) - 1 :])  # the last two bins may be one
    assert all(line["low"] < line["left"] < line["right"] < line["high"] for line in bars.lines)


def show_concentration(result, chart):
    expected = [[0.0, 0.0], *reversed(columns(result, "weights", "rows_above", "weight_above"))]
    yield find_marks(chart, "line", x="rows_above").read("x", "y"), expected
    yield find_marks(chart, "line", x="at").read("x", "y"), [[0, 0], [1, 1]]


def show_support(result, chart):
    points = find_marks(chart, "point", x="part")
    today, target = ([line["part"] for line in points.lines if line["who"] == who] for who in ("today", "new policy"))
    shares = columns(result, "support", "logged_share", "target_share")
    yield list(zip(today, target, strict=True)), shares
    yield find_marks(chart, "rule", x="logged_share").read("x", "x2"), shares
    ends = find_marks(chart, "rule", x="least_propensity").read("x", "x2")
    yield ends, columns(result, "support", "least_propensity", "largest_propensity")


def show_influence(result, chart):
    shown = result.exhibits["influence"]
    expected = [[0, shown.facts["snips"]], *([place, line["without"]] for place, line in enumerate(shown.lines, 1))]
    yield find_marks(chart, "point", x="place").read("x", "y"), expected
    yield find_marks(chart, "rule").read("y"), [[result.logged.value]]


def show_tuning(result, chart):
    yield find_marks(chart, "line").read("x", "y"), columns(result, "tuning", "setting", "value")
    yield find_marks(chart, "area").read("y", "y2"), columns(result, "tuning", "low", "high")
    assert list_titles(chart) == list(dict.fromkeys(line["family"] for line in result.exhibits["tuning"].lines))


def show_ladder(result, chart):
    yield find_marks(chart, "line").read("y"), columns(result, "ladder", "value")
    yield find_marks(chart, "rule", y="low").read("y", "y2"), columns(result, "ladder", "low", "high")
    yield find_marks(chart, "rule", y="at").read("y"), [[result.value]]


def show_losses(result, chart):
    yield find_marks(chart, "point", x="value").read("x"), columns(result, "losses", "loss")
    yield [[high] for _, high in find_marks(chart, "rule").read("x", "x2")], columns(result, "losses", "score")


def show_calibration(result, chart):
    yield find_marks(chart, "point").read("x", "y"), columns(result, "calibration", "predicted", "observed")
    yield find_marks(chart, "rule").read("y", "y2"), columns(result, "calibration", "low", "high")


def show_action_calibration(result, chart):
    both = find_marks(chart, "point", x="value", shape="who").lines
    observed, predicted = ([line["value"] for line in both if line["who"] == who] for who in ("observed", "predicted"))
    expected = columns(result, "action-calibration", "observed", "predicted")
    yield list(zip(observed, predicted, strict=True)), expected
    yield find_marks(chart, "rule").read("x", "x2"), columns(result, "action-calibration", "low", "high")


def show_reliability(result, chart):
    bins = result.contents.fitted.quality.reliability
    yield find_marks(chart, "point").read("x", "y"), [[one.predicted, one.observed] for one in bins]


def show_sensitivity(result, chart):
    expected = columns(result, "sensitivity", "factor", "low", "high")
    drawn = find_marks(chart, "area").read("x", "y", "y2")
    yield drawn, expected[: len(drawn)]
    for place, end in enumerate(("low", "high"), 1):
        line = find_marks(chart, "line", y=end).read("x", "y")
        yield line, [[one[0], one[place]] for one in expected[: len(drawn)]]


def show_sample_size(result, chart):
    yield find_marks(chart, "line").read("x", "y"), columns(result, "sample-size", "rows", "width")
    facts = result.exhibits["sample-size"].facts
    yield find_marks(chart, "point").read("x", "y"), [[facts["rows"], facts["width"]]]


def show_over_time(result, chart):
    lines = result.over_time()
    drawn = find_marks(chart, "line", x="start").lines
    for who, value, stderr in (("new policy", "value", "stderr"), ("today", "logged", "logged_stderr")):
        own = [line for line in drawn if line["who"] == who]
        assert [line["start"] for line in own] == [line.start for line in lines]
        yield [line["value"] for line in own], [getattr(line, value) for line in lines]
        expected = [getattr(line, value) + 2 * getattr(line, stderr) for line in lines]
        yield [line["high"] for line in own], expected


def show_segments(result, chart):
    first = [line for line in result.segments if line.column == result.segments[0].column]
    yield find_marks(chart, "point").read("x"), [[line.difference] for line in first]
    yield (
        find_marks(chart, "rule", x="low").read("x", "x2"),
        [(one.difference_low, one.difference_high) for one in first],
    )


def show_contenders(result, chart):
    gap = result.attempt.uplift()
    ranked = sorted(result.table, key=lambda line: -line.low)
    yield find_marks(chart, "point").read("x"), [[gap.value], *([line.gain] for line in ranked)]
    expected = [gap.interval(), *((line.low, line.high) for line in ranked)]
    yield find_marks(chart, "rule", x="low").read("x", "x2"), expected


def show_importance(result, chart):
    yield find_marks(chart, "bar").read("x"), [[share] for share in result.importance.values() if share]


def show_tree(_, chart):
    yield find_marks(chart, "rule").read("x", "y", "x2", "y2"), [[0, 0.5, 1, 0], [0, 0.5, 1, 1]]


EXPECTED = {
    "answer": show_answer,
    "compare": show_compare,
    "candidates": show_candidates,
    "weights": show_weights,
    "concentration": show_concentration,
    "support": show_support,
    "influence": show_influence,
    "tuning": show_tuning,
    "ladder": show_ladder,
    "losses": show_losses,
    "calibration": show_calibration,
    "action-calibration": show_action_calibration,
    "reliability": show_reliability,
    "sensitivity": show_sensitivity,
    "sample-size": show_sample_size,
    "over-time": show_over_time,
    "segments": show_segments,
    "contenders": show_contenders,
    "importance": show_importance,
    "tree": show_tree,
}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_is_what_the_result_says(name):
    result = make(SHOWN_BY.get(name, "ladder"))
    comparisons = list(EXPECTED[name](result, result.plot(name)))
    assert comparisons
    for drawn, expected in comparisons:
        np.testing.assert_allclose(np.array(drawn, float), np.array(expected, float), rtol=DIGITS, atol=1e-12)


@pytest.mark.parametrize("kind", MAKERS)
def test_whatever_applies_is_a_chart_that_needs_no_page(kind):
    result = make(kind)
    for name in list_drawable(result):
        chart = result.plot(name)
        spec = chart.to_dict()  # which validates it
        assert isinstance(chart, alt.VConcatChart)
        assert spec["description"]
        assert all(panel["width"] == plotting.WIDTH and panel["title"]["text"] for panel in spec["vconcat"])
        assert not [word for word in ("var(--", '"container"', "autosize") if word in json.dumps(spec)]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_chart_becomes_a_file(ending, tmp_path):
    path = tmp_path / f"answer.{ending}"
    make("ladder").plot().save(path)
    start = {"png": b"\x89PNG", "svg": b"<svg"}[ending]
    assert path.read_bytes().startswith(start)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_whatever_applies_becomes_a_file_without_a_warning(kind):
    result = make(kind)
    for name in list_drawable(result):
        result.plot(name).save(BytesIO(), format="png")


def test_chart_is_another_name_for_plot():
    result = make("ladder")
    assert result.chart("weights").to_dict() == result.plot("weights").to_dict()
    assert result.chart().to_dict() == result.plot("answer").to_dict()


def test_charts_can_be_put_together():
    result = make("ladder")
    both = result.plot("weights") | result.plot("support")
    assert len(both.to_dict()["hconcat"]) == 2


def test_figures_that_apply_to_a_result():
    learned = {"contenders", "importance", "tree"}
    everything = set(NAMES) - {"compare", "segments"} - learned
    assert list_drawable(make("learned")) == learned
    assert list_drawable(make("policy")) == learned - {"contenders"}
    assert list_drawable(make("kept")) == learned - {"tree"}
    assert list_drawable(make("ladder")) == everything - {"losses", "reliability"}
    absent_of_doses = {"ladder", "reliability", "over-time", "action-calibration"}
    assert list_drawable(make("doses")) == everything - absent_of_doses
    assert list_drawable(make("segments")) - everything == {"segments"}
    assert list_drawable(make("check")) == {*SHARES, "over-time"}
    assert list_drawable(make("comparison")) == {"answer", "compare"}
    assert list_drawable(make("rewards")) == {"compare"}


def test_nothing_of_an_answer_is_drawn_where_the_log_cannot_answer():
    result = make("rare")
    assert not result.answerable
    assert list_drawable(result) == {*SHARES, "calibration", "action-calibration"}
    sentence = r"`answer` cannot be drawn: the log cannot answer, because .* support, w"
    with pytest.raises(cf.ParameterError, match=sentence):
        result.plot()


@pytest.mark.parametrize("kind", ["rare", "check"])
def test_influence_without_an_answer_is_that_of_shares(kind):
    result = make(kind)
    chart = result.plot("influence")
    expected = columns(result, "influence", "share")
    np.testing.assert_allclose(find_marks(chart, "bar").read("x"), expected, rtol=DIGITS)
    fields = {field for marks in list_marks(chart) for line in marks.lines for field in line if field == "value"}
    assert not fields  # a weighted mean would look like an answer


def test_targets_that_are_withheld_are_named():
    both = cf.Comparison({"rare": make("rare"), "common": cf.evaluate(make_rare_log(), 0)})
    for name in ("answer", "compare"):
        chart = both.plot(name)
        assert [line["name"] for line in find_marks(chart, "point").lines][-1:] == ["common"]
        [panel] = chart.to_dict()["vconcat"]
        assert panel["title"]["subtitle"] == ["Withheld, because the log cannot answer: rare."]


def test_several_rewards_have_a_panel_each():
    result = make("rewards")
    chart = result.plot()
    assert [title[:20] for title in list_titles(chart)] == ["click", UGLY[:20], "balance"]
    drawn = find_marks(chart, "point").read("x")
    np.testing.assert_allclose(drawn, [[one.uplift().value] for one in result.values()], rtol=DIGITS)


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("ladder", "weight", r"must be that of a picture, got 'weight'\. Did you mean `weights`\? What can be drawn"),
        ("ladder", "groups", r"must be that of a picture, got 'groups'\."),
        ("ladder", 3, r"must be that of a picture, got 3\. What can be drawn here: action-calibration, answer, "),
        ("ladder", "losses", r"`losses` cannot be drawn: candidates were not cross-validated; `selector=\"ocv\"` does"),
        ("no model", "calibration", r"`calibration` cannot be drawn: there is no reward model\. What can be"),
        ("no model", "action-calibration", r"cannot be drawn: there is no reward model\."),
        ("doses", "action-calibration", r"cannot be drawn: actions are doses; "),
        ("no model", "over-time", r"cannot be drawn: the log has no `time`"),
        ("no model", "reliability", r"cannot be drawn: propensities were logged, not fitted"),
        ("ladder", "compare", r"cannot be drawn: it compares several targets, and there is one; `cf.compare`"),
        ("rewards", "answer", r"cannot be drawn: it shows one answer; draw it of one of these, such as `found"),
        ("comparison", "weights", r"cannot be drawn: it shows the log and one target; .* `found\[NAME\]\.plot"),
        ("learned", "weights", r"cannot be drawn: it shows an answer; draw it of `learned\.evaluation`, or of"),
        ("policy", "contenders", r"cannot be drawn: it shows what was learnt, which `cf\.learn` returns\."),
        ("policy", "answer", r"cannot be drawn: it shows what a policy earns; `cf\.evaluate` tells that"),
        (
            "kept",
            "tree",
            r"cannot be drawn: the policy is no tree; `policy-tree` learns one\. What can be drawn here: c",
        ),
        ("ladder", "tree", r"cannot be drawn: it shows what was learnt, which"),
        ("check", "answer", r"cannot be drawn: it shows an answer, and `check` gives none; `evaluate` does\."),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_a_sentence(kind, name, sentence):
    with pytest.raises(cf.ParameterError, match=sentence):
        make(kind).plot(name)


def test_a_figure_with_nothing_in_it_is_refused():
    log, target = cf.Log(action=[0, 1] * 50, reward=[0.0, 1.0] * 50, propensity=np.full(100, 0.5)), {0: 0.5, 1: 0.5}
    with pytest.raises(cf.ParameterError, match=r"`compare` cannot be drawn: this result has nothing to show in it\."):
        cf.compare(log, {"one": target, "other": target}, baseline="one").plot()


def test_a_missing_altair_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(cf.ParameterError, match=r"charts need altair: pip install 'counterfold\[report\]'"):
        make("ladder").plot()


def test_evaluations_need_neither_altair_nor_the_page():
    """Figures are found for their tables by every evaluation."""
    code = """
import sys
import counterfold as cf
log = cf.Log(action=[0, 1, 0, 1] * 9, reward=[0.0, 0.0, 1.0, 1.0] * 9, propensity=[0.5] * 36)
assert "weights" in cf.evaluate(log, {0: 0.2, 1: 0.8}, progress=False).exhibits
heavy = ("altair", "vl_convert", "jinja2", "rich", "counterfold.learning", "counterfold.report.html.page")
print([name for name in heavy if name in sys.modules])
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_a_policy_is_drawn_as_its_tree_or_by_what_it_looks_at():
    chart = make("policy").plot()
    nodes = find_marks(chart, "text", text="words").lines
    assert nodes[0]["full"].startswith("kind is ")
    ugly, other = sorted(node["full"] for node in nodes[1:])
    assert (ugly[:20], other) == (UGLY[:20], "other")
    assert max(len(node["words"]) for node in nodes) <= 24
    assert {line["answer"] for line in find_marks(chart, "text", text="answer").lines} == {"yes", "no"}
    assert find_marks(make("kept").policy.plot(), "bar").lines


def test_a_tree_without_a_condition_says_what_it_always_does():
    tree = replace(make("policy"), scorer=make_stub())
    chart = tree.plot()
    assert len(find_marks(chart, "rect").lines) == 1
    assert chart.to_dict()["description"].startswith("A tree of conditions and actions. always: ")
    assert tree.describe().startswith("take ")


def make_stub():
    """Return a tree that asks nothing."""
    nothing = np.array([-1])
    return TreeScorer(nothing, np.zeros(1), nothing, nothing, np.array([[0.0, 1.0]]), np.zeros(2), np.ones(1))


def test_names_of_data_are_short():
    points = find_marks(make("ladder").plot("support"), "point", x="part")
    names = {line["action"] for line in points.lines}
    assert any(name.startswith("<script>") for name in names)
    assert max(map(len, names)) <= 24


def test_an_interval_without_ends_is_drawn_as_far_as_can_be_seen():
    result = replace(make("ladder"))
    vars(result)["interval"] = Bounds(-np.inf, np.inf)  # where it would be kept
    for name in ("answer", "candidates", "ladder", "tuning"):
        result.plot(name).save(BytesIO(), format="png")
    assert "nan" not in result._repr_html_()


def test_the_docs_have_a_line_for_each_figure():
    text = (ROOT / "docs" / "plots.md").read_text()
    assert [name for name in NAMES if f"| `{name}` |" not in text] == []
