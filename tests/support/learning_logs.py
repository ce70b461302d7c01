"""Logs to learn from: with a gain that is easy to see, or with none at all."""

import numpy as np

import counterfold as cf


def draw_log(seed=0, rows=400, effect=1.0, **changes):
    """Return a log in which action 1 earns `effect` times the first column more than 0, and 2 never earns anything."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(rows, 2))
    probs = np.tile([0.5, 0.3, 0.2], (rows, 1))
    action = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    reward = effect * np.where(action == 1, context[:, 0], 0.0) + 0.5 * rng.normal(size=rows)
    return cf.Log(**{"context": context, "action": action, "reward": reward, "logging_probs": probs} | changes)
