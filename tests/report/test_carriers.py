"""What a conclusion hangs on, and differences over time: in the terminal and in the report."""

import html
import re

import numpy as np
import pytest
from rich.console import Console

import counterfold as cf
from counterfold.report import text


@pytest.fixture(scope="module")
def hanging():
    """Return an answer that would be none without one of 60 users, or one of 20 days."""
    rng = np.random.default_rng(2)
    user, action = np.arange(1200) // 20, rng.integers(2, size=1200)
    reward = np.where(user == 7, action, rng.random(1200) < 0.3 + 0.09 * action).astype(float)
    time = np.datetime64("2024-02-01") + user % 20
    log = cf.Log(action=action, reward=reward, propensity=np.full(1200, 0.5), group=user, time=time)
    return cf.evaluate(log, cf.Probabilities(0.3 + 0.4 * action), candidates=[cf.SNIPS()])


def show(blocks):
    console = Console(width=200)
    with console.capture() as captured:
        console.print(*blocks)
    return " ".join(captured.get().split())


def write(result, path, **more):
    result.to_html(path, **more)
    shown = re.sub(r"<script.*?</script>", "", path.read_text(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", shown)).split())


def test_the_terminal_says_which_group_and_day_undo_a_conclusion(hanging):
    [group, day] = hanging.robustness.hangs_on
    out = show(text.evaluation("new", hanging))
    assert f"leaving out one group, {group.name} (20 rows)" in out
    assert f"leaving out one day, {day.name} (60 rows)" in out
    assert day.name == "2024-02-08"


def test_the_report_says_so_too_and_lists_groups_unless_rows_are_left_out(hanging, tmp_path):
    shown = write(hanging, tmp_path / "all.html")
    [group, day] = hanging.robustness.hangs_on
    assert f"Without one group, {group.name}, the conclusion could not be drawn." in shown
    assert f"one day left out would change it the conclusion hangs on {day.name}" in shown
    assert "The groups that carry the answer" in shown
    without = write(hanging, tmp_path / "few.html", rows=False)
    assert "The groups that carry the answer" not in without
    assert "The days that carry the answer" in without


def test_a_conclusion_that_stays_is_said_to_stay(tmp_path):
    rng = np.random.default_rng(0)
    action = rng.integers(2, size=2000)
    log = cf.Log(
        action=action, reward=action + rng.normal(size=2000), propensity=np.full(2000, 0.5), group=np.arange(2000) % 100
    )
    result = cf.evaluate(log, cf.Probabilities(0.1 + 0.8 * action), candidates=[cf.SNIPS()])
    shown = write(result, tmp_path / "report.html")
    assert "one group left out would not change it the conclusion stays, whichever group it is" in shown
    assert "one day left out" not in shown


def test_differences_over_time_are_shown_of_the_first_of_many_policies(tmp_path):
    rng = np.random.default_rng(1)
    action, day = rng.integers(2, size=1500), rng.integers(6, size=1500)
    log = cf.Log(
        action=action,
        reward=action + rng.normal(size=1500),
        propensity=np.full(1500, 0.5),
        time=np.datetime64("2024-02-01") + day,
    )
    targets = {f"p{one}": cf.Probabilities(np.where(action == 1, one / 10, 1 - one / 10)) for one in range(5, 10)}
    found = cf.compare(log, targets, baseline="p5", candidates=[cf.SNIPS()], progress=False)
    out = show(text.comparison(found))
    assert found.decision.choice == "p9"
    assert "p9: difference to p5 over time" in out
    assert out.count("over time") == 1
    shown = write(found, tmp_path / "report.html")
    assert shown.count("How much more “p9” would have earned than “p5” in each day, by SNIPS") == 1
