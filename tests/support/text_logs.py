"""A log whose policy and rewards depend on a text, a number with gaps and a date, for tests of encoded context."""

import numpy as np
import pyarrow as pa

ACTIONS = ("red", "green", "blue")
CITIES = ("Paris", "Rome", "Oslo", "Bern")


def softmax(scores):
    """Return probabilities."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def make_log(rows=1500, seed=0, *, full=True, **more):
    """Return a log as a table: text `city`, number `age` with gaps, bool `new` with gaps, `since`, an identifier."""
    rng = np.random.default_rng(seed)
    code, age = rng.choice(4, size=rows, p=[0.4, 0.3, 0.2, 0.1]), rng.normal(size=rows)
    wanted = rng.normal(size=(4, 3))
    probs, target = softmax(0.5 * age[:, None] * [0, 1, -1] + wanted[code]), softmax(2 * wanted[code])
    action = (probs.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    reward = rng.normal(size=(4, 3))[code, action] + age * 0.3 + rng.normal(size=rows)
    gaps = rng.random((2, rows))
    columns = {
        "city": [None if gap < 0.05 else CITIES[one] for one, gap in zip(code, gaps[1], strict=True)],
        "age": [None if gap < 0.1 else one for one, gap in zip(age.tolist(), gaps[0], strict=True)],
        "new": [None if gap > 0.9 else one > 0 for one, gap in zip(age.tolist(), gaps[0], strict=True)],
        "since": (np.datetime64("2024-01-01", "us") + np.arange(rows) * np.timedelta64(5, "h")).tolist(),
        "customer": [f"customer {row}" for row in range(rows)],
        "action": [ACTIONS[one] for one in action],
        "reward": reward.tolist(),
        "propensity": probs[np.arange(rows), action].tolist(),
    }
    if full:
        columns |= {f"target_{label}": target[:, place].tolist() for place, label in enumerate(ACTIONS)}
    else:
        columns |= {"target": target[np.arange(rows), action].tolist()}
    return pa.table({name: column for name, column in (columns | more).items() if column is not None})
