"""Questions of which the answer is used for a decision: the policy that logged, and logs that are too small."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import make_bandit
from traps.rewards import make_clicks


def make_copy(bandit):
    """Return a table with propensities alone, and a copy of them in single precision."""
    table = bandit.table(**{f"target_{label}": None for label in bandit.labels})
    return table.append_column("copy", [bandit.propensity.astype(np.float32).astype(float)])


@trap("none: the target is the policy that logged, of which only propensities are known, or a copy of these", RIGHT)
def policy_that_logged(rng):
    return Case(make_copy(make_bandit(rng)), target="logger", baseline="copy", truth=0.0)


@trap("none: the same, where rewards lie around a million", RIGHT)
def policy_that_logged_with_an_offset(rng):
    bandit = make_bandit(rng)
    bandit.reward += 1e6
    return Case(make_copy(bandit), target="logger", baseline="copy", truth=0.0)


@trap("1,000 impressions with some 10 clicks, for a policy that is 44 % better", "small-log")
def few_clicks_for_a_better_policy(rng):
    rate = 0.01
    logging = np.full((1000, 2), 0.5)
    target = np.tile([0.0, 1.0], (1000, 1))
    bandit = make_clicks(rng, logging, target, np.tile([0.56 * rate, 1.44 * rate], (1000, 1)))
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: some 400 clicks, for a policy that is as good as the log's: the difference is small either way", RIGHT)
def many_clicks_for_an_equal_policy(rng):
    bandit = make_clicks(rng, np.full((20_000, 2), 0.5), np.tile([0.2, 0.8], (20_000, 1)), 0.02)
    return Case(bandit.table(), truth=bandit.truth)
