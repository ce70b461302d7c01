"""Rewards that few rows carry, and differences of policies that are nearly the same: honest intervals, not alarms."""

import numpy as np
import pyarrow as pa

from traps import RIGHT, Case, trap
from traps.bandits import draw, make_bandit


@trap("none: one customer in twenty buys, for very different amounts", RIGHT)
def rare_purchases(rng):
    bandit = make_bandit(rng, rows=8000, sharpness=0.5)
    means = 0.05 * np.exp(0.3 * (bandit.means - bandit.means.mean()))
    bought = rng.random(8000) < means[np.arange(8000), bandit.action]
    bandit.means, bandit.reward = 40 * means, bought * 40 * np.exp(1.2 * rng.normal(size=8000) - 0.72)
    return Case(bandit.table(reward=bandit.reward), truth=bandit.truth)


@trap("none: the same policy under two names is compared with itself", RIGHT)
def the_same_policy_twice(rng):
    bandit = make_bandit(rng)
    copy = {f"again_{label}": bandit.target[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**copy), truth=0.0, baseline="again", columns={"ignore": ["target", "again"]})


@trap("none: two policies that differ by one decision in a hundred are compared", RIGHT)
def policies_one_percent_apart(rng):
    bandit = make_bandit(rng)
    other = 0.99 * bandit.target + 0.01 * bandit.logging
    truth = bandit.truth - float((other * bandit.means).sum(axis=1).mean())
    near = {f"near_{label}": other[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**near), truth=truth, baseline="near", columns={"ignore": ["target", "near"]})


@trap("none: clicks are rare, but there are hundreds of them", RIGHT)
def rare_clicks(rng):
    rows, actions = 40_000, 5
    rates = np.array([0.004, 0.006, 0.008, 0.01, 0.012])
    logging = np.full((rows, actions), 1 / actions)
    action = draw(logging, rng)
    reward = (rng.random(rows) < rates[action]).astype(float)
    target = np.tile([0.0, 0.0, 0.1, 0.3, 0.6], (rows, 1))
    columns = {"action": action, "reward": reward, "propensity": np.full(rows, 0.2)}
    spread = {f"target_{label}": target[:, label] for label in range(actions)}
    return Case(pa.table(columns | spread), truth=float(target[0] @ rates))
