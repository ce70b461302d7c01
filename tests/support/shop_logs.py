"""Logs of a shop: new visitors like a discount, older ones free delivery; of which policies are learnt."""

import numpy as np
import pandas as pd

import counterfold as cf

CHANCES = {"standard": 0.5, "discount": 0.3, "delivery": 0.2}
ROLES = {"action": "offer", "reward": "bought", "propensity": "p", "progress": False}


def draw_shop(seed=0, rows=600):
    """Return a log as a data frame."""
    rng = np.random.default_rng(seed)
    visitor, age = rng.choice(["new", "known"], rows), rng.integers(18, 75, rows)
    offer = rng.choice(list(CHANCES), rows, p=list(CHANCES.values()))
    likes = ((visitor == "new") & (offer == "discount")) | ((age > 55) & (offer == "delivery"))
    bought = (rng.random(rows) < np.where(likes, 0.6, 0.1)).astype(int)
    joined = pd.date_range("2024-01-01", periods=rows, freq="D")
    known = {"visitor": visitor, "age": age, "joined": joined, "offer": offer, "bought": bought}
    return pd.DataFrame({**known, "p": [CHANCES[one] for one in offer]})


def learn_shop(log=None, learner="greedy-learner", **settings):
    """Return a policy that was learnt from a log, that of `draw_shop` by default."""
    return cf.learn(draw_shop() if log is None else log, learner, shares=1, **ROLES, **settings).attempted
