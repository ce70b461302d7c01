"""A log with scores and a policy for every action, whose targets can be worked out by hand."""

import numpy as np
import pyarrow as pa

ROWS = 600
LABELS = ("red", "green", "big blue")
CONTEXT = ("age", "height")


def make_columns(labels=LABELS, rows=ROWS, seed=0):
    """Return the columns of a log by name, with matrices for what has a number per action."""
    rng = np.random.default_rng(seed)
    logging, policy = (rng.dirichlet([4.0, 2.0, 3.0], size=rows) for _ in range(2))
    code = (logging.cumsum(axis=1) > rng.random((rows, 1))).argmax(axis=1)
    age, height = rng.normal(size=(2, rows))
    scores = np.round(rng.normal(size=(rows, 3)), 1)
    scores[: rows // 10, 1] = scores[: rows // 10, 0]  # ties
    return {
        "age": age,
        "height": height,
        "city": np.where(height > 0, "Paris", "Rome"),
        "action": np.array(labels)[code],
        "reward": (age > 0) * (code == 1) + 0.3 * code + rng.normal(size=rows),
        "propensity": logging[np.arange(rows), code],
        "logging_probs": logging,
        "policy": policy,
        "score": scores,
        "chosen": np.array(labels)[policy.argmax(axis=1)],
    }


def make_table(columns, labels=LABELS, layout="struct"):
    """Return columns as a table; matrices are structs, maps, lists or spread columns."""
    plain = {}
    for name, values in columns.items():
        if values.ndim == 1:
            plain[name] = pa.array(values.tolist())
        elif layout == "spread":
            plain |= {f"{name}_{label}": values[:, place] for place, label in enumerate(labels)}
        elif layout == "lists":
            plain[name] = pa.array(values.tolist())
        else:
            objects = [dict(zip(map(str, labels), row, strict=True)) for row in values.tolist()]
            kind = pa.map_(pa.string(), pa.float64()) if layout == "maps" else None
            plain[name] = pa.array([list(one.items()) for one in objects] if kind else objects, kind)
    return pa.table(plain)


def be_greedy(scores, can_choose=1):
    """Return the greedy policy by a plain loop."""
    probs = np.zeros(scores.shape)
    can_choose = np.broadcast_to(can_choose, scores.shape)
    for row in range(len(scores)):
        able = [place for place in range(scores.shape[1]) if can_choose[row, place]]
        best = max(scores[row, place] for place in able)
        winners = [place for place in able if scores[row, place] == best]
        for place in winners:
            probs[row, place] = 1 / len(winners)
    return probs


def be_soft(scores, temperature, can_choose=1):
    """Return the policy of a softmax by a plain loop."""
    probs = np.zeros(scores.shape)
    can_choose = np.broadcast_to(can_choose, scores.shape)
    for row in range(len(scores)):
        odds = [
            np.exp(score / temperature) if can else 0.0 for score, can in zip(scores[row], can_choose[row], strict=True)
        ]
        probs[row] = np.array(odds) / sum(odds)
    return probs
