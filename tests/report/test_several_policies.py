"""Several policies: what is shown agrees with what is chosen, the best come first, and everything can be read."""

import html
import io
import re

import numpy as np
import pytest
from rich.console import Console

import counterfold as cf
from counterfold.report import text
from counterfold.report.differences import rank_targets

LABELS = ["a", "b", "c", "never"]
ASKED = {"candidates": ["ips", "snips"], "progress": False}


def make_log(seed, gain=0.4, **more):
    rng = np.random.default_rng(seed)
    item = rng.integers(3, size=900)
    earned = np.array([0.8, 0.8 + gain, 1.0])[item] + rng.normal(size=900)
    return {"action": np.array(["a", "b", "c"])[item], "reward": earned, "propensity": np.full(900, 1 / 3), **more}


def show(found, width=80):
    """Return what the terminal shows, as it is and as one line of words."""
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(*text.comparison(found), sep="\n")
    return stream.getvalue(), " ".join(stream.getvalue().split())


def read(page):
    """Return the text of a page as one line of words."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.shown)).split())


def write_ends(bounds):
    return " to ".join(f"{end:+.3f}" for end in bounds)


@pytest.fixture(scope="module")
def unsure():
    """Return a comparison in which only one policy may be the best, though none beats the log safely."""
    targets = {"bad": "a", "b": {"a": 0.2, "b": 0.5, "c": 0.3}}
    found = cf.compare(make_log(0, gain=0.257), targets, candidates=["snips"], progress=False)
    assert (found.decision.choice, found.decision.contenders) == (None, ["b"])
    assert found.simultaneous["b"].low < 0 < found.differences["b"].interval().low
    return found


def test_the_terminal_goes_by_intervals_for_all_at_once(unsure):
    _, words = show(unsure)
    assert "b is the best of these; it is not sure that it beats the log." in words
    assert "can tell that b earns most" not in words
    assert words.count(write_ends(unsure.simultaneous["b"])) == 2  # in the first lines and in the table
    assert write_ends(unsure.differences["b"].interval()) not in words
    assert "95 % interval for all 2 at once" in words
    assert "undone by" not in words


def test_the_report_goes_by_intervals_for_all_at_once(unsure, write):
    page = write(unsure)
    words = read(page)
    assert "“b” is the best of these; it is not sure that it beats today." in words
    assert (
        "good the log can answer, and the difference may be above or below 0 This log cannot tell whether “b”" in words
    )
    assert "interval of the difference, which holds for all 2 policies at once, is" in words
    ends = write_ends(unsure.simultaneous["b"])
    assert f"95 % interval for all 2 at once {ends}" in words
    assert ends.replace(" to", "") in words  # in the table of all policies
    assert write_ends(unsure.differences["b"].interval()) not in words
    assert "would be undone" not in words[: words.rindex("All policies on one scale")]  # "bad" surely earns less


def test_a_notebook_goes_by_intervals_for_all_at_once(unsure):
    shown = unsure._repr_html_()
    assert write_ends(unsure.simultaneous["b"]) in shown
    assert "95 % interval for all 2 at once" in shown


def test_what_would_undo_the_choice_is_told():
    log = make_log(1, gain=1.0)
    alone = cf.compare(log, {"b": "b"}, **ASKED)
    assert "undone by odds of what was logged that are all wrong by a factor of" in show(alone)[1]
    several = cf.compare(log, {"b": "b", "a": "a"}, **ASKED)
    assert several.decision.choice == "b"
    assert "(as if it were the only policy)" in show(several)[1]
    assert "undone by" not in show(cf.compare(log, {"b": "b", "a": "a"}, baseline="a", **ASKED))[1]


def test_the_log_is_not_called_today_beside_a_baseline(write):
    found = cf.compare(make_log(1), {"b": "b", "today": "a"}, baseline="today", **ASKED)
    words = read(write(found))
    for who, value in {"the log earned": found["b"].logged.value, "“today” earns": found["today"].value}.items():
        assert float(re.search(f"{who} ([\\d.]+)", words)[1]) == pytest.approx(value, abs=0.01)
    assert "today earns" not in words.replace("“today” earns", "")[: words.index("The next policies")]
    taken = read(write(cf.compare(make_log(1), {"b": "b", "Today": "a"}, **ASKED)))
    assert re.search("the log earned .* Today earns", taken)
    assert "than the log" in taken


def test_the_verdict_is_that_on_the_difference(write):
    log = make_log(1)
    with pytest.warns(cf.SupportWarning):
        found = cf.compare(log, {"new": "b", "rare": {"never": 1.0}}, baseline="rare", actions=LABELS, **ASKED)
    verdict = found.judge("new").verdict
    assert (found["new"].verdict, verdict) == ("good", "not answerable")
    [line] = [one for one in show(found, 120)[0].splitlines() if one.startswith("new ") and "withheld" in one]
    assert verdict in line
    assert f'<span class="badge">{verdict}</span>' in write(found).shown


@pytest.fixture(scope="module")
def many():
    """Return a comparison of nine policies with a guard that those which earn most do not keep to."""
    log = make_log(2, gain=1.0)
    log |= {"cost": np.where(log["action"] == "b", 2.0, 1.0) + 0.01 * np.arange(900) / 900}
    shares = {f"p{number}": {"b": number / 10, "a": 1 - number / 10} for number in (1, 9, 3, 7, 5, 2, 8, 4, 6)}
    return cf.compare(log, shares, reward="reward", guards=["cost <= +28%"], **ASKED)


def test_the_best_policies_are_told_one_by_one_after_the_table_of_all(many, write):
    page = write(many)
    ranked = rank_targets(many)
    passing = {one.target for one in many.guarded if one.passes}
    assert ranked[0] == many.decision.choice
    assert {*ranked[: len(passing)]} == passing != {*ranked}
    words = read(page)
    places = [words.rindex(title) for title in ("To paste into", "All policies on one scale", "The next policies, one")]
    assert places == sorted(places)
    assert "The table above has 4 more" in words
    titles = re.findall(r'class="chapter-title"[^>]*>(.*?)<', page.shown)
    assert titles == ranked[:5]


def test_the_message_says_the_choice_and_the_guards(many, write):
    said = html.unescape(re.search(r'class="paste-text">(.*?)</p>', write(many).shown, re.DOTALL)[1])
    lead, guards, *rest = said.split("\n")
    assert f"“{many.decision.choice}” is the safe choice" in lead
    assert guards == "Guards: cost <= +28%."
    assert "4 more policies are in the report." in rest
    assert said.count("Next step: ") == 1
    broken = [one.target for one in many.guarded if not one.passes]
    told = rank_targets(many)[1:5]
    assert said.count("It does not keep to all guards.") == len({*broken} & {*told})


def test_a_long_guard_is_a_title_and_not_a_narrow_cell():
    log = make_log(1, cost=np.arange(900) % 7 * 20.0)
    rules = ["case when cost > 119 then 1 else 0 end <= +0.9", "cost <= 200"]
    found = cf.compare(log, {"b": "b", "c": "c"}, reward="reward", guards=rules, **ASKED)
    lines = show(found)[0].splitlines()
    assert f"guard {rules[0]}" in [line.rstrip() for line in lines]
    start = [line.rstrip() for line in lines].index("all guards")
    assert [line.split()[0] for line in lines[start + 1 : start + 4]] == ["policy", "b", "c"]
    assert "A policy passes if all guards hold with a probability of at least 95 %" in show(found)[1]


def test_a_guard_that_cannot_be_judged_does_not_fail(write):
    log = make_log(1, cost=1.0 + np.arange(900) / 900)
    asked = {"reward": "reward", "guards": ["cost <= 2", "cost >= 0"], "actions": LABELS, **ASKED}
    with pytest.warns(cf.SupportWarning):
        found = cf.compare(log, {"b": "b", "rare": {"never": 1.0}}, **asked)
    assert next(one for one in found.guarded if one.target == "rare").probability is None
    _, words = show(found)
    judged = words[words.index("all guards policy") :]
    assert re.match(r"all guards policy hold verdict b [\w %]+ passes rare withheld not answerable", judged)
    assert "fails" not in read(write(found))


def test_segments_of_long_names_have_titles_of_their_own(write):
    names = [f"a policy of {who} whose long name tells a lot about how it was made and when" for who in ("ann", "bob")]
    names = [f"{name} {'x' * 40} {place} {'y' * 40}" for place, name in enumerate(names)]
    log = make_log(1, kind=np.array(["one", "two"])[np.arange(900) % 2])
    found = cf.compare(log, dict(zip(names, ("b", "c"), strict=True)), by="kind", **ASKED)
    _, words = show(found)
    assert all(f"{name} by kind" in words for name in names)
    assert {f"{name} by kind" for name in names} <= {*re.findall(r"<h3>(.*?)</h3>", write(found).shown)}


def test_the_logger_as_a_target_differs_by_0():
    log = make_log(1, time=np.datetime64("2024-02-05") + np.arange(900) // 30, kind=["one", "two"] * 450)
    found = cf.compare(log, {"same": "propensity", "b": "b"}, by="kind", ignore=["kind"], progress=False)
    out, words = show(found)
    assert re.search(r"^same +[\d.]+ +0 +0 to 0 ", out, re.MULTILINE)
    assert not re.search(r"\de-\d", words)
    alone = cf.evaluate(log, "propensity", ignore=["kind"], progress=False)
    stream = io.StringIO()
    Console(file=stream, width=80).print(*text.evaluation("same", alone))
    assert re.search("difference +0, 95 % interval 0 to 0", stream.getvalue())
    assert not re.search(r"\de-\d", stream.getvalue())
