"""The log of `other_tools`, its target with the labels of each tool, and what tests of several tools share."""

import json

import numpy as np
import pytest

import counterfold as cf
from other_tools import (
    MODELS,
    WANTED,
    make_event,
    make_rows,
)

ROWS = make_rows()
NUMBERED, COUNTED, NAMED = dict(enumerate(WANTED, 1)), dict(enumerate(WANTED)), dict(zip(MODELS, WANTED, strict=True))
TRACES = {"format": "router-traces"}
SETTINGS = {
    "candidates": ["ips", "snips", "dr"],
    "selector": "ocv",
    "reward_model": "ridge-per-action",  # which sees no policies: not all formats tell all probabilities
    "progress": False,
}


def as_feedback(rows=ROWS):
    actions = np.array([row["action"] for row in rows])
    pi_b = np.array([row["probs"] for row in rows])
    return {
        "n_rounds": len(rows),
        "n_actions": 3,
        "context": np.array([[row["age"], row["hour"]] for row in rows]),
        "action_context": np.eye(3),
        "action": actions,
        "position": None,
        "reward": np.array([row["reward"] for row in rows]),
        "expected_reward": np.zeros((len(rows), 3)),
        "pi_b": pi_b[:, :, None],
        "pscore": pi_b[np.arange(len(rows)), actions],
    }


def evaluate_plainly():
    """Return the answer on the log in memory, from arrays."""
    feedback = as_feedback()
    context = dict(zip(("User.age", "hour"), feedback["context"].T.astype(float), strict=True))
    log = {"action": feedback["action"], "reward": feedback["reward"], "propensity": feedback["pscore"], **context}
    return cf.evaluate(log, COUNTED, **SETTINGS)


def event_lines(changes, rows=ROWS):
    """Return events with changes to some, {place: {field: value}}; `...` leaves a field out, a text is the line."""
    made = [changes.get(place, {}) for place in range(len(rows))]
    return [
        one if isinstance(one, str) else json.dumps(make_event(row, **one)) for row, one in zip(rows, made, strict=True)
    ]


def refuse(path, *parts, **more):
    """Require that both engines refuse a file with a sentence that has these parts, and no other."""
    for engine in ("memory", "local"):
        with pytest.raises(cf.DataError) as caught:
            cf.evaluate(path, NUMBERED, engine=engine, progress=False, **more)
        assert all(part in str(caught.value) for part in parts), str(caught.value)
        assert "\n" not in str(caught.value)


def list_notes(result):
    return [one.problem for one in result.diagnostics.findings if one.name == "as-read"]
