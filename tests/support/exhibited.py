"""A log of four actions, one of which was never taken, and what is found on it: what tables of figures show."""

import numpy as np

import counterfold as cf

LABELS = ("a", "b", "c", "d")
ROWS = 600


def draw_log(rows=ROWS, seed=0, **more):
    """Return a log of so many rows, and the probabilities of a target."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(rows, 2))
    logging = np.tile([0.5, 0.3, 0.2, 0.0], (rows, 1))
    action = rng.choice(4, size=rows, p=logging[0])
    reward = (rng.random(rows) < 0.2 + 0.1 * action).astype(float)
    target = np.where(context[:, :1] > 0, [0.1, 0.8, 0.1, 0.0], [0.1, 0.1, 0.8, 0.0])
    given = {"context": context, "action": np.array(LABELS)[action], "reward": reward, "logging_probs": logging}
    return cf.Log(**given, actions=LABELS, **more), target


LOG, TARGET = draw_log()
FOUND = cf.evaluate(LOG, TARGET)
WEIGHTS = TARGET[np.arange(ROWS), LOG.action] / LOG.propensity
