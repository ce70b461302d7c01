"""Pictures: each draws what the result says, on any axes, leaves nothing behind, and is refused by a sentence."""

import sys
from dataclasses import replace
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import counterfold as cf
from counterfold.base import registry
from counterfold.intervals.base import Bounds
from counterfold.policies.learned.scorers import TreeScorer
from counterfold.report import plots
from counterfold.report.plots import _drawing as drawing
from places import ROOT
from shown_results import MAKERS, make, make_rare_log

NAMES = registry.names("report.plots")
SHARES = ("weights", "concentration", "support", "influence")


def list_drawable(result):
    return [one.name for one in plots.build_all() if one.find_obstacle(result) is None]


def read(ax, gid):
    """Return the points that artists of that name show: those of lines, of dots, or the heights or widths of bars."""
    found = [one for one in ax.get_children() if one.get_gid() == gid]
    kinds = {
        "Line2D": lambda one: one.get_xydata(),
        "PathCollection": lambda one: one.get_offsets(),
        "LineCollection": lambda one: np.array(one.get_segments())[..., 0],
        "Rectangle": lambda one: [[one.get_width(), one.get_height()]],
    }
    return np.concatenate([np.asarray(kinds[type(one).__name__](one), dtype=float) for one in found])


def columns(result, exhibit, *names):
    """Return some columns of an exhibit."""
    return np.array([[line[name] for name in names] for line in result.exhibits[exhibit].lines], dtype=float)


EXPECTED = {
    "answer": lambda r: {"target": [[r.value, 1]], "target interval": [r.interval], "log": [[r.logged.value, 0]]},
    "candidates": lambda r: {
        "candidate x": [one.value for one in sorted(r.table, key=lambda one: (-one.share, one.score))]
    },
    "weights": lambda r: {"row_share y": 100 * columns(r, "weights", "row_share")[:, 0]},
    "concentration": lambda r: {
        "concentration": 100 * np.vstack([[0, 0], columns(r, "weights", "rows_above", "weight_above")[::-1], [1, 1]])
    },
    "support": lambda r: {
        f"{name} x": 100 * columns(r, "support", name)[:, 0] for name in ("logged_share", "target_share")
    },
    "influence": lambda r: {"share x": 100 * columns(r, "influence", "share")[:, 0]},
    "tuning": lambda r: {
        family: [[line["setting"], line["value"]] for line in r.exhibits["tuning"].lines if line["family"] == family]
        for family in {line["family"] for line in r.exhibits["tuning"].lines}
    },
    "ladder": lambda r: {
        f"{ladder} y": [line["value"] for line in r.exhibits["ladder"].lines if line["ladder"] == ladder]
        for ladder in {line["ladder"] for line in r.exhibits["ladder"].lines}
    },
    "losses": lambda r: {"loss x": columns(r, "losses", "loss")[:, 0], "score x": columns(r, "losses", "score")[:, 0]},
    "calibration": lambda r: {"calibration": columns(r, "calibration", "predicted", "observed")},
    "action-calibration": lambda r: {
        "observed x": columns(r, "action-calibration", "observed")[:, 0],
        "observed interval": columns(r, "action-calibration", "low", "high"),
        "predicted x": columns(r, "action-calibration", "predicted")[:, 0],
    },
    "reliability": lambda r: {
        "reliability": [[100 * one.predicted, 100 * one.observed] for one in r.contents.fitted.quality.reliability]
    },
    "sensitivity": lambda r: {end: columns(r, "sensitivity", "factor", end) for end in ("low", "high")},
    "sample-size": lambda r: {
        "width": columns(r, "sample-size", "rows", "width"),
        **find_needed(r),
    },
    "over-time": lambda r: {
        "target y": [line.value for line in r.over_time()],
        "log y": [line.logged for line in r.over_time()],
    },
    "segments": lambda r: {
        "difference x": [line.difference for line in r.segments[:3]],
        "difference interval": [(line.difference_low, line.difference_high) for line in r.segments[:3]],
    },
    "compare": lambda r: {
        "difference x": [gap.value for gap in r.differences.values()],
        "difference interval": list(r.simultaneous.values()),
    },
    "contenders": lambda r: {
        "told": [[r.attempt.uplift().value, 0]],
        "told interval": [r.attempt.uplift().interval()],
        "contender x": sorted([line.gain for line in r.table], reverse=True),
        "contender interval": [(line.low, line.high) for line in sorted(r.table, key=lambda line: -line.low)],
    },
    "importance": lambda r: {"importance": [[100 * share, 0.6] for share in r.importance.values() if share]},
    "tree": lambda _: {"link": [[0, 0.5], [1, 0], [0, 0.5], [1, 1]]},
}


def find_needed(result):
    """Return where the number of rows that would show the difference is drawn, if it is within the picture."""
    shown = result.exhibits["sample-size"]
    needed = result.next_step.times_rows * shown.facts["rows"]
    if not shown.lines[0]["rows"] <= needed <= shown.lines[-1]["rows"]:
        return {}
    return {"needed x": [needed] * 2}


SHOWN_BY = {"losses": "ocv", "reliability": "fitted", "compare": "comparison", "segments": "segments"}
SHOWN_BY |= {"contenders": "learned", "importance": "policy", "tree": "policy"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_is_what_the_result_says(name):
    result = make(SHOWN_BY.get(name, "ladder"))
    ax = result.plot(name)
    for gid, numbers in EXPECTED[name](result).items():
        along = {" x": np.s_[:, 0], " y": np.s_[:, 1]}.get(gid[-2:])
        found = read(ax, gid) if along is None else read(ax, gid[:-2])[along]
        np.testing.assert_allclose(found, np.array(numbers, dtype=float), rtol=1e-12)
    assert ax.get_title(loc="left")
    assert ax._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", MAKERS)
def test_whatever_applies_is_drawn(kind):
    result = make(kind)
    for name in list_drawable(result):
        assert result.plot(name).get_title(loc="left")


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_whatever_applies_becomes_a_file_without_a_warning(kind):
    result = make(kind)
    for name in list_drawable(result):
        result.plot(name).figure.savefig(BytesIO(), format="svg")


def test_pictures_that_apply_to_a_result():
    learnt = {"contenders", "importance", "tree"}
    everything = set(NAMES) - {"compare", "segments"} - learnt
    assert set(list_drawable(make("learned"))) == learnt
    assert set(list_drawable(make("policy"))) == learnt - {"contenders"}
    assert set(list_drawable(make("kept"))) == learnt - {"tree"}
    assert set(list_drawable(make("ladder"))) == everything - {"losses", "reliability"}
    assert set(list_drawable(make("doses"))) == everything - {
        "ladder",
        "reliability",
        "over-time",
        "action-calibration",
    }
    assert set(list_drawable(make("segments"))) - everything == {"segments"}
    assert set(list_drawable(make("check"))) == {*SHARES, "over-time"}
    assert set(list_drawable(make("comparison"))) == {"answer", "compare"}
    assert set(list_drawable(make("rewards"))) == {"compare"}


def test_nothing_of_an_answer_is_drawn_where_the_log_cannot_answer():
    result = make("rare")
    assert not result.answerable
    assert set(list_drawable(result)) == {*SHARES, "calibration", "action-calibration"}
    with pytest.raises(
        cf.ParameterError, match=r"`answer` cannot be drawn: the log cannot answer, because .* support, w"
    ):
        result.plot()
    texts = [text.get_text() for text in result.plot("influence").texts]
    assert not any("SNIPS" in text for text in texts)
    both = cf.Comparison({"rare": result, "common": cf.evaluate(make_rare_log(), 0)})
    assert "withheld" in [text.get_text() for text in both.plot("answer").texts]
    assert "withheld: the log cannot answer" in [text.get_text() for text in both.plot().texts]


def test_several_rewards_are_compared_in_percent_of_what_the_log_earned():
    result = make("rewards")
    ax = result.plot()
    known = [one for name, one in result.items() if name != "balance"]
    wanted = [100 * one.uplift().value / one.logged.value for one in known]
    np.testing.assert_allclose(read(ax, "difference")[:, 0], wanted)
    assert "the log earned 0" in [text.get_text() for text in ax.texts]


def test_axes_may_be_given_and_no_state_is_left_behind():
    before = dict(mpl.rcParams)
    several = Figure(figsize=(12, 4)).subplots(1, 2)
    for ax, name in zip(several, ("weights", "candidates"), strict=True):
        assert make("ladder").plot(name, ax=ax) is ax
    make("ladder").plot()
    assert not plt.get_fignums()
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("kind", "name", "sentence"),
    [
        ("ladder", "weight", r"must be that of a picture, got 'weight'\. Did you mean `weights`\? What can be drawn"),
        ("ladder", 3, r"must be that of a picture, got 3\. What can be drawn here: action-calibration, answer, "),
        ("ladder", "losses", r"`losses` cannot be drawn: candidates were not cross-validated; `selector=\"ocv\"` does"),
        ("no model", "calibration", r"`calibration` cannot be drawn: there is no reward model\. What can be"),
        ("no model", "action-calibration", r"cannot be drawn: there is no reward model\."),
        ("doses", "action-calibration", r"cannot be drawn: actions are doses; "),
        ("no model", "over-time", r"cannot be drawn: the log has no `time`"),
        ("no model", "reliability", r"cannot be drawn: propensities were logged, not fitted"),
        ("ladder", "compare", r"cannot be drawn: it compares several targets, and there is one; `cf.compare`"),
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


def test_axes_must_be_axes():
    with pytest.raises(cf.ParameterError, match=r"`ax` must be axes of matplotlib, got 3\."):
        make("ladder").plot(ax=3)


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "counterfold.report.plots._axes", raising=False)
    monkeypatch.delattr("counterfold.report.plots._axes", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(cf.ParameterError, match=r"plots need matplotlib: pip install 'counterfold\[plot\]'"):
        make("ladder").plot()


def test_a_policy_is_drawn_as_its_tree_or_by_what_it_looks_at():
    ax = make("policy").plot()
    texts = [text for text in ax.texts if text.get_gid() in {"condition", "action"}]
    said = [text.get_text().split("\n")[0] for text in texts]
    assert said[0].startswith(r"kind is ")
    assert said[1].startswith("<script>") or said[2].startswith("<script>")
    assert "other" in said[1:]
    assert max(map(len, said)) <= 45
    assert {text.get_text() for text in ax.texts} >= {"yes", "no"}
    assert make("kept").policy.plot().get_xlabel().startswith("share of what tells actions apart")


def test_a_tree_without_a_condition_says_what_it_always_does():
    tree = replace(make("policy"), scorer=make_stub())
    assert tree.plot().get_title(loc="left").startswith("Always ")
    assert tree.describe().startswith("take ")


def make_stub():
    """Return a tree that asks nothing."""
    nothing = np.array([-1])
    return TreeScorer(nothing, np.zeros(1), nothing, nothing, np.array([[0.0, 1.0]]), np.zeros(2), np.ones(1))


def test_labels_are_no_mathematics_and_not_too_long():
    ax = make("ladder").plot("support")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert any(label.startswith(r"<script>alert('\$1_0") for label in labels)
    assert max(map(len, labels)) <= drawing.LONGEST + 2


def test_points_beyond_the_view_are_arrows():
    ax = Figure().add_subplot()
    ax.set_xlim(0, 1)
    drawing.draw_reaches(ax, [0, 1], [drawing.Reach(-np.inf, 5.0, np.inf), drawing.Reach(0.1, 0.5, 0.9)], "black", "x")
    assert read(ax, "beyond").tolist() == [[1.0, 0.0]]
    assert np.isfinite(read(ax, "x interval")).all()


def test_an_interval_without_ends_is_drawn_as_far_as_can_be_seen():
    result = replace(make("ladder"))
    vars(result)["interval"] = Bounds(-np.inf, np.inf)  # where it would be kept
    for name in ("answer", "candidates", "ladder", "tuning"):
        result.plot(name)._repr_png_()
    assert "nan" not in result._repr_html_()


def test_the_docs_have_a_line_for_each_picture():
    text = (ROOT / "docs" / "plots.md").read_text()
    assert [name for name in NAMES if f"| `{name}` |" not in text] == []
