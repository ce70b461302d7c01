"""Results of every kind to draw and to show, each made once."""

import warnings
from functools import cache

import numpy as np
from scipy.stats import norm

import counterfold as cf

ROWS = 600
UGLY = "<script>alert('$1_0$')</script> with a label that is longer than any axis has room for"


def make_log(kinds=4, **more):
    """Return a log of a few actions, one of them with an ugly label, and a target."""
    rng = np.random.default_rng(0)
    context, shares = rng.normal(size=(ROWS, 2)), rng.dirichlet(np.full(kinds, 4.0))
    action = rng.choice(kinds, size=ROWS, p=shares)
    reward = (rng.random(ROWS) < 0.2 + 0.4 * (action == 1) * (context[:, 0] > 0)).astype(float)
    labels = [UGLY, *(f"item {number}" for number in range(1, kinds))]
    known = {"action": np.array(labels)[action], "actions": labels, "reward": reward, "context": context}
    probs = {} if "propensity" in more else {"logging_probs": np.tile(shares, (ROWS, 1))}
    odds = np.exp(np.outer(context[:, 0], np.arange(kinds) == 1) + 0.5 * (np.arange(kinds) == 1))
    return cf.Log(**known | probs | more), odds / odds.sum(axis=1, keepdims=True)


def evaluate(*settings, **more):
    return cf.evaluate(*make_log(**more), *settings)


def evaluate_doses():
    rng = np.random.default_rng(0)
    usual = rng.uniform(9, 12, size=ROWS)
    price = rng.normal(usual, 2.0)
    reward = price * (rng.random(ROWS) < norm.sf(price, 11, 3))
    log = cf.Log(context=usual[:, None], dose=price, reward=reward, propensity=norm.pdf(price, usual, 2.0))
    return cf.evaluate(log, usual + 0.5)


def evaluate_noisy():
    """Return an evaluation whose ladder was not climbed to its end."""
    rng = np.random.default_rng(5)
    shares, wanted = np.array([0.91, *[0.01] * 9]), np.array([0.54, 0.02, 0.02, 0.3, *[0.02] * 6])
    action = rng.choice(10, size=1500, p=shares)
    reward = 3 * rng.exponential(size=1500) + 2 * (action == 3)
    log = cf.Log(context=rng.normal(size=(1500, 3)), action=action, reward=reward, propensity=shares[action])
    return cf.evaluate(log, np.tile(wanted, (1500, 1)))


def make_rare_log():
    """Return a log that hardly ever did one of two things."""
    rng = np.random.default_rng(0)
    probs = np.tile([0.99, 0.01], (300, 1))
    return cf.Log(action=(rng.random(300) < 0.01).astype(int), reward=10 + rng.random(300), logging_probs=probs)


def evaluate_rewards():
    log, target = make_log()
    rng = np.random.default_rng(1)
    logged = np.arange(ROWS), log.action
    table = {"x": log.context[:, 0], "action": np.array(log.actions)[log.action], "click": log.reward}
    table |= {"balance": np.tile([1.0, -1.0], ROWS // 2), UGLY: 40 * log.reward + rng.normal(size=ROWS)}
    table |= {"propensity": log.propensity, "target": target[logged]}
    return cf.evaluate(table, reward=["click", UGLY, "balance"])


def compare():
    log, target = make_log()
    return cf.compare(log, {UGLY: target, "all alike": "uniform", "one": "item 1"}, baseline="all alike")


def learn_from(better=0.5):
    """Return a log in which one of two actions is better where a text says so; labels and texts are ugly."""
    rng = np.random.default_rng(0)
    kind, item = rng.choice([UGLY, "plain"], ROWS), rng.choice([UGLY, "other"], ROWS)
    reward = (rng.random(ROWS) < 0.2 + better * ((kind == UGLY) == (item == UGLY))).astype(float)
    noise = rng.normal(size=ROWS)
    return ({"kind": kind, "noise": noise, "action": item, "reward": reward, "propensity": np.full(ROWS, 0.5)},)


DAYS = np.datetime64("2024-02-26") + np.arange(ROWS).astype("timedelta64[h]")

MAKERS = {
    "ladder": lambda: evaluate(time=DAYS),
    "ocv": lambda: evaluate("plain", "ocv"),
    "no model": lambda: evaluate("default", "default", None, group=np.arange(ROWS) // 3),
    "many": lambda: evaluate("paper", kinds=40, kept=np.where(np.arange(ROWS) % 3, 0.5, 1.0)),
    "fitted": lambda: evaluate(propensity="fit"),
    "segments": lambda: evaluate(by={UGLY: np.arange(ROWS) % 3, "half": np.arange(ROWS) % 2}),
    "noisy": evaluate_noisy,
    "doses": evaluate_doses,
    "rare": lambda: cf.evaluate(make_rare_log(), 1),
    "rewards": evaluate_rewards,
    "comparison": compare,
    "learned": lambda: cf.learn(*learn_from(), ["policy-tree", "greedy-learner"], shares=1, progress=False),
    "policy": lambda: make("learned").policy,
    "kept": lambda: cf.learn(*learn_from(better=0.0), ["greedy-learner"], progress=False),
    "check": lambda: cf.check(*make_log(time=DAYS)),
}


@cache
def make(name):
    """Return a result by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.SupportWarning)
        return MAKERS[name]()
