"""The report of a learnt policy: the decision first, then what competed, how it decides and why that is honest."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

import counterfold as cf
from charted import find_marks
from counterfold.policies.learned.scorers import TreeScorer
from shown_results import UGLY, learn_from, make

CONTENDERS = "How much more than today each contender earns"
HEADING = re.compile(r"<h2[^>]*>(.*?)</h2>", re.DOTALL)


def list_sections(page):
    return [html.unescape(re.sub("<.*?>", "", words)) for words in HEADING.findall(page.shown)]


def list_lines(spec):
    """Yield all lines of data of a chart."""
    for part in spec if isinstance(spec, list) else spec.values() if isinstance(spec, dict) else []:
        yield from list_lines(part)
    yield from spec.get("values", []) if isinstance(spec, dict) else []


def read(page):
    """Return what people read, without the texts of pictures."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page.shown)).split())


@pytest.fixture(scope="module")
def kept_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "report.html"
    make("kept").to_html(path)
    return path.read_text(encoding="utf-8")


def test_the_decision_comes_first_and_sections_are_numbered(learned_page):
    sections = list_sections(learned_page)
    first = ["1The answer", "2The contenders", "3The policy", "4How it was kept honest", "5All policies on one scale"]
    assert sections[:5] == first
    assert [int(re.match(r"\d+", one)[0]) for one in sections] == list(range(1, 13))
    learned, words = make("learned"), read(learned_page)
    places = [
        words.index(text)
        for text in ("The learnt policy would earn", "Next step.", "Doubt first.", "A/B test, per arm", CONTENDERS)
    ]
    assert places == sorted(places)
    assert f"{learned.next_step.per_arm:,} decisions" in words
    assert f"“{learned.chosen}”, the best of 2 contenders." in words
    assert learned.next_step.sentence.replace("the log did", "today") in words


def test_numbers_of_the_report_are_those_of_the_result(learned_page):
    learned = make("learned")
    spec = next(one for one in learned_page.specs if "the best, corrected" in str(one))
    told = {line["name"]: (line["value"], line["low"], line["high"]) for line in list_lines(spec) if "name" in line}
    gap = learned.attempt.uplift()
    assert told["the best, corrected"] == pytest.approx((gap.value, *gap.interval()), rel=1e-5)
    for line in learned.table:
        assert told[line.contender] == pytest.approx((line.gain, line.low, line.high), rel=1e-5)
    assert learned_page.answer["chosen"] == learned.chosen
    assert learned_page.answer["policy"]["text"] == learned.policy.describe()


def test_the_tree_its_rules_and_its_columns_are_shown(learned_page):
    words, learned = read(learned_page), make("learned")
    tree = learned.policy.tree
    for rule, leaf in tree.list_rules():
        assert " and ".join(rule) in words
        assert f"{100 * leaf.share:.1f}" in words
    assert "What the policy looks at" in words
    assert "How often each action is taken" in words
    assert "\n".join(html.escape(line, quote=False) for line in learned.policy.describe().splitlines()) in (
        learned_page.source.replace("&#39;", "'")
    )
    assert UGLY[:20] in words
    assert "<script>alert" not in learned_page.shown


def test_where_nothing_beats_the_log_the_attempt_is_shown(kept_page):
    page = re.sub(r"<(script|style).*?</\1>", "", kept_page, flags=re.DOTALL)
    learned, words = make("kept"), " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
    assert not learned.beats_log
    assert "Nothing that was learnt from this log beats today safely." in words
    assert "The best attempt is “" in words
    assert '<span class="badge">keep</span>' in page
    assert "so there is nothing to ship: keep what you have" in words
    assert "How the policy decides" not in words
    assert learned.next_step.sentence.replace("the log did", "today") in words
    assert f"{learned.attempt.interval.low:.3f}"[:5] in words


def test_what_the_log_cannot_answer_for_is_withheld(write):
    rare = make("rare")
    lines = [
        replace(line, verdict="not answerable", gain=0.123456, low=0.0123, high=0.2345) for line in make("kept").table
    ]
    page = write(replace(make("kept"), attempt=rare, table=lines))
    words = read(page)
    assert "This log cannot tell what the best attempt would earn, so there is nothing to ship." in words
    assert "cannot answer for any contender" in words
    assert "Why not?" in words
    for number in ("0.123", "0.0123", "0.2345", f"{rare.value:.3f}"):
        assert number not in words
    shown = replace(make("kept"), attempt=rare, table=lines)._repr_html_()
    assert "withheld" in shown
    assert "0.123" not in shown


def test_what_is_assumed_is_not_that_the_policy_was_fixed_first(learned_page, answer_page):
    assert "The policy was fixed first" in answer_page.shown
    assert "The policy was fixed first" not in learned_page.shown
    assert "This was the first try" in learned_page.shown


def make_deep(depth):
    """Return a policy whose tree has all nodes to some depth, each with a threshold of its own."""
    inner, leaves = 2**depth - 1, 2**depth
    nodes = np.arange(inner + leaves)
    feature = np.where(nodes < inner, 1, -1)
    values = np.eye(2)[nodes % 2]
    sides = [np.where(nodes < inner, 2 * nodes + side, -1) for side in (1, 2)]
    rows = 2.0 ** -np.floor(np.log2(nodes + 1))
    return replace(make("policy"), scorer=TreeScorer(feature, nodes / 7, *sides, values, np.ones(2), rows))


def test_a_tree_that_nobody_could_read_is_told_and_not_drawn(write):
    learned = replace(make("learned"), policy=make_deep(8))
    page = write(learned)
    assert "How the policy decides" not in page.shown
    assert re.search(r"\.\.\. and \d+ lines more", page.shown)
    with pytest.raises(cf.ParameterError, match=r"the tree has 256 leaves, which nobody could read"):
        learned.policy.plot("tree")
    assert find_marks(learned.policy.plot(), "bar").lines  # the columns that matter, which is the next figure
    assert len(find_marks(make_deep(4).plot(), "rect").lines) == 31  # 15 conditions and 16 actions
    assert len(learned._repr_html_()) < 20_000


def test_columns_that_were_left_out_are_named(write):
    (frame,) = learn_from()
    frame["after"] = np.where(frame["reward"] > 0, 9.0, 1.0) + np.arange(len(frame["reward"])) % 7 / 10
    page = write(cf.learn(frame, "greedy-learner", shares=1, progress=False))
    words = read(page)
    assert re.search(r"Columns that it may not look at after it tells much of the reward", words)


@pytest.mark.parametrize("kind", ["learned", "kept"])
def test_what_is_explored_is_said(kind, write):
    learned = make(kind)
    explored = replace(learned, policy=replace(learned.policy, explore=0.05))
    assert "5.0 % of its decisions are made at random" in read(write(explored)).replace("\u00a0", " ").replace(
        "\u202f", " "
    )
    assert "at random, so that" not in read(write(learned))
