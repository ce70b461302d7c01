"""Logs of policies that tried nothing else, in all rows or in some."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import make_bandit


def explore_nowhere(bandit, where):
    """Let the log have been certain of what it did in some rows."""
    bandit.logging = bandit.logging.copy()
    bandit.logging[where] = np.eye(len(bandit.labels))[bandit.action[where]]
    return bandit


@trap("the log tried nothing else: the propensity is 1 in every row", "missing-support")
def propensity_1_everywhere(rng):
    bandit = explore_nowhere(make_bandit(rng), slice(None))
    return Case(bandit.table(), truth=bandit.truth)


@trap("the propensity is 1 in every row, and the target is known for the logged actions alone", "missing-support")
def propensity_1_and_a_target_of_logged_actions(rng):
    bandit = explore_nowhere(make_bandit(rng), slice(None))
    logged = bandit.target[np.arange(2000), bandit.action]
    none = {f"target_{label}": None for label in bandit.labels}
    return Case(bandit.table(pi=logged, **none), target="pi", truth=bandit.truth)


@trap("the log tried nothing else: its probabilities are 0 or 1", "missing-support")
def certain_logging_probabilities(rng):
    bandit = explore_nowhere(make_bandit(rng), slice(None))
    spread = {f"logging_probs_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**spread), truth=bandit.truth)


@trap("the log explored in half of the rows only", "missing-support")
def exploration_in_half_of_the_rows(rng):
    bandit = explore_nowhere(make_bandit(rng), slice(None, None, 2))
    return Case(bandit.table(), truth=bandit.truth)


@trap(
    "the log explored in half of the rows only, and the target is known for the logged actions alone", "missing-support"
)
def exploration_in_half_of_the_rows_and_a_target_of_logged_actions(rng):
    bandit = explore_nowhere(make_bandit(rng), slice(None, None, 2))
    logged = bandit.target[np.arange(2000), bandit.action]
    none = {f"target_{label}": None for label in bandit.labels}
    return Case(bandit.table(pi=logged, **none), target="pi", truth=bandit.truth)


@trap("none: where the log did not explore, the target does the same", RIGHT)
def the_target_keeps_to_the_log(rng):
    where = slice(None, None, 2)
    bandit = make_bandit(rng)
    best = bandit.means.argmax(axis=1)
    bandit.action[where] = best[where]
    bandit.reward = bandit.means[np.arange(2000), bandit.action] + 0.5 * rng.normal(size=2000)
    bandit = explore_nowhere(bandit, where)
    bandit.target[where] = bandit.logging[where]
    return Case(bandit.table(), truth=bandit.truth)
