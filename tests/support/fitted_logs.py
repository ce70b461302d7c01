"""A log whose propensities are known, though nobody logged them."""

import numpy as np

import counterfold as cf
from counterfold.simulation import draw_actions, softmax

ROWS = 1200
LABELS = np.array(["a", "b", "c"])


def draw(seed=0, rows=ROWS, *, bend=False):
    """Return contexts, codes of actions, their probabilities (n x 3), rewards and a target (n x 3)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 2))
    seen = np.column_stack([x[:, 0] * x[:, 1], np.abs(x[:, 1])]) if bend else x
    logging = softmax(seen @ np.array([[1.0, -1.0, 0.0], [0.0, 0.5, -0.5]]) * (2 if bend else 1))
    action = draw_actions(logging, rng.random(rows))
    reward = x[:, 0] * (action == 1) + 0.5 * (action == 2) + rng.normal(size=rows)
    return x, action, logging, reward, softmax(x @ np.array([[0.0, 1.0, 0.5], [1.0, 0.0, -0.5]]))


def make_log(**more):
    x, action, _, reward, target = draw()
    return cf.Log(**{"context": x, "action": action, "reward": reward, "propensity": "fit"} | more), target
