"""Actions that were hardly explored, and a target that takes them often; a useful column that must be kept."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import Bandit, draw, make_bandit, softmax

LABELS = ("known 1", "known 2", "known 3", "new 1", "new 2")
ROWS = 800


def make_cold_start(rng):
    """Return a log that takes new actions in 0.5 % of its decisions, and a target that wants one in a sixth.

    Each new action is there, and by chance never where the target wants one, as in most such logs.
    """
    x = rng.normal(size=(ROWS, 3))
    known = softmax(x @ rng.normal(size=(3, 3)))
    logging = np.hstack([0.995 * known, np.full((ROWS, 2), 0.0025)])
    target = np.hstack([known, np.zeros((ROWS, 2))])
    wants_new = x[:, 0] > 0.967
    target[wants_new] = 0.0
    target[wants_new, 3 + (x[wants_new, 1] > 0)] = 1.0
    means = np.hstack([x @ rng.normal(size=(3, 3)) * 0.5, np.full((ROWS, 2), 1.5)])
    action = draw(logging, rng)
    while len(np.unique(action)) < len(LABELS) or (action[wants_new] >= 3).any():
        action = draw(logging, rng)
    reward = means[np.arange(ROWS), action] + rng.normal(size=ROWS)
    return Bandit(x, logging, target, action, means, reward, list(LABELS))


@trap("new actions have 0.5 % of the log, and the target wants them in a sixth of the rows", "effective-rows")
def cold_start(rng):
    bandit = make_cold_start(rng)
    spread = {f"logging_probs_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**spread, propensity=None), truth=bandit.truth)


@trap("new actions have 0.5 % of the log, the target wants them, and propensities alone are logged", "effective-rows")
def cold_start_with_propensities(rng):
    bandit = make_cold_start(rng)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: one column tells much of the rewards, and all other columns tell nothing", RIGHT)
def one_useful_column_of_many(rng):
    bandit = make_bandit(rng)
    noise = {f"noise{place}": rng.normal(size=len(bandit.x)) for place in range(12)}
    return Case(bandit.table(**noise), truth=bandit.truth)
