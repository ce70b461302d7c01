"""What to do about a policy that does not keep to all guards, whatever else is known of it."""

from typing import get_args

import numpy as np
import pytest

import counterfold as cf
from counterfold.evaluation.guard import GuardLine
from counterfold.evaluation.guards import Guarded, heed_guards
from counterfold.evaluation.next_step import Action, NextStep

ROWS = 4000
ASKED = {"reward": "revenue", "progress": False}


def tell_steps(log, guards, **settings):
    """Return what to do about d with guards and without any."""
    found = cf.compare(log, ["d"], guards=guards, **ASKED, **settings)
    plain = cf.compare(log, ["d"], ignore=["latency"], **ASKED, **settings)
    return found.advise("d"), plain.advise("d")


STEPS = {
    "caution": ({"rows": 320}, "check first"),
    "earns less": ({"gain": -2.0}, "do not ship"),
    "cannot be told": ({"gain": 0.02}, "A/B test"),
}


def make_slow(rows=ROWS, gain=1.0):
    """Return a log in which d takes half as long again as the others."""
    rng = np.random.default_rng(5)
    item = rng.integers(4, size=rows)
    noise = rng.normal(size=rows)
    return {
        "action": np.array(list("abcd"))[item],
        "revenue": 1.0 + gain * (item == 3) + noise,
        "latency": 100.0 + 50.0 * (item == 3) + rng.normal(size=rows),
        "propensity": np.full(rows, 0.25),
    }


@pytest.mark.parametrize(("changes", "action"), STEPS.values(), ids=STEPS)
def test_who_clearly_breaks_a_guard_is_neither_tested_nor_shipped_whatever_else_is_known(changes, action):
    step, plain = tell_steps(make_slow(**changes), ["latency <= +2%"])
    assert plain.action == action
    assert step.action == "do not ship"
    assert "test" not in step.sentence
    assert "it does not keep to the guard `latency <= +2%`" in step.sentence


def test_who_may_keep_to_a_guard_must_be_checked_first_and_hears_of_it():
    log = make_slow(rows=320)
    limit = float(np.mean(log["latency"][log["action"] == "d"]))
    step, plain = tell_steps(log, [f"latency <= {limit}"])
    assert step.action == plain.action == "check first"
    assert step.sentence.startswith(plain.sentence)
    assert "Besides, it keeps to all guards with a probability of" in step.sentence


def guard(*probabilities):
    """Return a target that breaks guards; None is the probability of one that the log cannot answer for."""
    lines = [GuardLine(f"g{n} <= 1", 2.0, None if one is None else 3.0, 1.0, one, "good") for n, one in probabilities]
    known = [one for _, one in probabilities]
    sure = None if None in known else min(known)
    return Guarded("d", passes=False, probability=sure, probability_better=sure, guards=lines)


@pytest.mark.parametrize("action", get_args(Action))
def test_no_step_ships_or_tests_what_breaks_a_guard(action):
    step = NextStep(action, "Do what is to be done.")
    broken = heed_guards(step, guard((1, 0.9), (2, 0.0)), 0.95)
    assert broken.action == "do not ship"
    assert "it does not keep to the guard `g2 <= 1`" in broken.sentence
    unknown = heed_guards(step, guard((1, 0.0), (2, None)), 0.95)
    assert unknown.action == ("log more" if action == "log more" else "do not ship")
    assert "this log cannot tell if it keeps to the guard `g2 <= 1`" in unknown.sentence
    doubtful = heed_guards(step, guard((1, 0.99), (2, 0.5)), 0.95)
    assert doubtful.action == ("A/B test" if action == "ship" else action)
    assert (
        "it keeps to all guards with a probability of 50 %, and is the least sure to keep to `g2 <= 1`"
        in doubtful.sentence
    )
