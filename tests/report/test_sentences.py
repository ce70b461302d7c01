"""What the report says in words: how frail a conclusion is, who leads, what could not be checked, what actions earn."""

import html
import re

import numpy as np
import pytest

import counterfold as cf


@pytest.fixture
def log():
    """Return a log of three items with coin flips: b earns more than a, and c nearly as much as b."""
    rng = np.random.default_rng(0)
    item = rng.integers(3, size=6000)
    earned = np.array([1.0, 1.5, 1.48])[item] + rng.normal(size=6000)
    return {"action": np.array(["a", "b", "c"])[item], "reward": earned, "propensity": np.full(6000, 1 / 3)}


def test_the_doubt_says_how_wrong_propensities_undo_it(log, write):
    result = cf.evaluate(log, "b")
    factor = result.exhibits["sensitivity"].facts["factor"]
    told = float(
        re.search(r"odds of what was logged were all wrong by a factor of ([\d.]+), each in its", write(result).shown)[
            1
        ]
    )
    assert told == pytest.approx(factor, abs=0.1 * (factor - 1))
    assert "each in its worst way (50 % may be" in html.unescape(write(result).shown)
    assert "all wrong by a factor" not in write(cf.evaluate(log, "uniform")).shown  # there is nothing to undo


def test_the_safe_choice_and_those_that_may_be_best_are_told(log, write):
    found = cf.compare(log, {"b": "b", "c": "c", "a": "a"})
    shown = html.unescape(write(found).shown)
    chosen = max(("b", "c"), key=lambda name: found.simultaneous[name].low)
    assert f"“{chosen}” is the safe choice: by intervals that hold for all 3 policies at once" in shown
    cannot = re.search("The log cannot tell these from the best, each with its probability to be it: (.*?)\\.", shown)[
        1
    ]
    assert {*re.findall("“(.)”", cannot)} == {"b", "c"}
    far = html.unescape(write(cf.compare(log, {"b": "b", "a": "a"})).shown)
    assert "The log can tell that “b” earns most." in far
    assert "No policy beats today safely" in html.unescape(write(cf.compare(log, {"a": "a", "same": "a"})).shown)


def test_a_baseline_has_no_next_step_of_its_own(log, write):
    shown = html.unescape(write(cf.compare(log, {"b": "b", "a": "a"}, baseline="a")).shown)
    about = shown[shown.index("“a” would earn <strong>") :]
    assert shown.count("Next step.</strong>") == shown.count("Next step: ") == 1
    assert "Next step" not in about[: about.index("<dl")]


def test_a_baseline_that_is_called_today_is_not_the_log(log, write):
    found = cf.compare(log, {"b": "b", "today": "c"}, baseline="today", progress=False)
    shown = html.unescape(write(found).shown)
    assert re.search("This log <strong>cannot tell</strong> whether “b” earns more or less than “today”", shown)
    found = cf.compare(log, {"b": "b", "today": "a"}, baseline="today", progress=False)
    shown = html.unescape(write(found).shown)
    more = re.search(r"“b” would earn <strong>([\d.]+) more</strong> per decision than “today”\.", shown)
    assert float(more[1]) == pytest.approx(found.differences["b"].value, abs=0.005)


def test_guards_come_first_where_one_policy_is_judged(log, write):
    known = log | {"cost": np.where(log["action"] == "b", 2.0, 1.0)}
    asked = {"baseline": "a", "reward": "reward", "progress": False}
    for rule, told in {"cost <= 3": "keeps to", "cost <= +10%": "does not keep to"}.items():
        found = cf.compare(known, {"b": "b", "a": "a"}, guards=rule, **asked)
        sentence = f"{told} all guards with a probability of at least 95 %."
        assert f"“b” {sentence}" in html.unescape(write(found).shown)
        assert f"b {sentence}" in found._repr_html_()


def test_what_could_not_be_checked_did_not_pass(log, write):
    alone = np.where(log["action"] == "b", 0.9, 0.05)
    shown = write(cf.evaluate(log, cf.Probabilities(alone))).shown
    passed, unknown = shown.index("Checked and passed"), shown.index("Could not be checked")
    assert passed < unknown < shown.index("unknown: the target", passed)
    assert "Whether the log could do everything that the policy does is unknown" in shown
    assert "<dt>tried before</dt>" not in shown


def test_an_answer_by_one_estimator_is_no_mixture(log, write):
    result = cf.evaluate(log, cf.Probabilities((log["action"] == "b").astype(float)), ["snips", "ips"])
    shown = write(result).shown
    assert f"The answer comes from {result.selected}, one of 2 candidates" in shown


def test_names_in_sentences_are_set_as_code(write):
    rng = np.random.default_rng(1)
    city = rng.choice(["Rome", "Paris", "<b>"], size=600)
    log = {"action": rng.choice(["a", "b"], size=600), "reward": rng.normal(size=600), "propensity": np.full(600, 0.5)}
    assert "<code>city</code> by 3 values" in write(cf.evaluate(log | {"city": city}, "a")).shown


def test_what_each_action_earns_is_shown_where_the_log_can_answer(log, write):
    page = write(cf.evaluate(log, {"a": 0.1, "b": 0.9}))
    assert "<caption>Rewards of actions</caption>" in page.shown
    assert "<caption>Rewards of actions</caption>" not in write(cf.check(log, "b")).shown
