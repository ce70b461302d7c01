"""Small logs of many kinds: memory and local state the same answer and the same error."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import counterfold as cf

CANDIDATES: list[Any] = [
    "default",
    "plain",
    "paper",
    ["dr"],
    ["dm", "dr"],
    ["snips", "sndr"],
    ["switch-dr", "dm"],
    ["cab", "dr"],
    ["drps"],
    ["truncated-sndr"],
]

SELECTORS: list[Any] = [None, "ladder", "slope", cf.OCV(refit=False)]
"""Selectors that work alike on rows and on sums; the others refit the reward model in memory."""

MODELS = ["default", "shared-ridge", "ridge-per-action", "cross-fitted:model=ridge-per-action"]

ROWS = [5, 6, 7, 8, 10, 15, 20, 30, 50, 70, 100]

DIFFERENT_LOGS = 48
"""How many logs are drawn."""


def draw_probabilities(rng: np.random.Generator, possible: np.ndarray) -> np.ndarray:
    """Return random probabilities of the possible actions of each row."""
    raw = (rng.random(possible.shape) + 0.05) * possible
    return raw / raw.sum(axis=1, keepdims=True)


def draw_rewards(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """Return rewards that are 0 or 1, numbers, or small counts, not all of which are equal."""
    kind = rng.integers(3)
    if kind == 0:
        rewards = (rng.random(len(means)) < 1 / (1 + np.exp(-means))).astype(float)
    elif kind == 1:
        rewards = means + rng.standard_normal(len(means))
    else:
        rewards = rng.integers(0, 4, size=len(means)).astype(float)
    if rewards.min() == rewards.max():
        rewards[0] += 1
    return rewards


def draw_log(rng: np.random.Generator) -> cf.LogScan:
    """Return a small log, often without context, with only some actions available, or with propensities alone."""
    rows = int(rng.choice(ROWS))
    actions = int(rng.integers(2, 6))
    width = int(rng.choice([0, 0, 1, 3]))
    context = rng.standard_normal((rows, width))
    possible = np.ones((rows, actions), dtype=bool)
    has_available = rng.random() < 0.4
    if has_available:
        possible = rng.random((rows, actions)) < 0.7
        possible[np.arange(rows), rng.integers(actions, size=rows)] = True
    logging = draw_probabilities(rng, possible)
    target = draw_probabilities(rng, possible)
    action = np.array([rng.choice(actions, p=probs) for probs in logging])
    means = 0.3 * action + context.sum(axis=1)
    columns = {f"x{place}": context[:, place] for place in range(width)}
    columns |= {"action": action, "reward": draw_rewards(rng, means)}
    columns |= {f"t_{label}": target[:, label] for label in range(actions)}
    roles: dict[str, Any] = {"context": [f"x{place}" for place in range(width)]}
    if rng.random() < 0.6:
        columns |= {f"p_{label}": logging[:, label] for label in range(actions)}
        roles["logging_probs"] = "p"
    else:
        columns["propensity"] = logging[np.arange(rows), action]
    if has_available:
        columns |= {f"ok_{label}": possible[:, label].astype(int) for label in range(actions)}
        roles["available"] = "ok"
    return cf.LogScan(pd.DataFrame(columns), **roles)


def answer(scan: cf.LogScan, engine: str, options: dict[str, Any]) -> Any:
    """Return the answer of an engine in numbers, or the kind of error that it raises."""
    try:
        result = cf.evaluate(scan, "t", engine=engine, progress=False, **options)
    except cf.CounterfoldError as error:
        return type(error)
    return [result.value, result.stderr, result.interval.low, result.interval.high], result.verdict


@pytest.mark.filterwarnings("ignore::counterfold.SupportWarning")
@pytest.mark.parametrize("seed", range(DIFFERENT_LOGS))
def test_engines_state_the_same_error_on_small_logs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scan = draw_log(rng)
    options = {
        "candidates": CANDIDATES[rng.integers(len(CANDIDATES))],
        "selector": SELECTORS[rng.integers(len(SELECTORS))],
        "reward_model": MODELS[rng.integers(len(MODELS))],
    }
    if options["selector"] is None:
        del options["selector"]
    memory = answer(scan, "memory", options)
    local = answer(scan, "local", options)
    if isinstance(memory, type):
        assert local is memory
        return
    assert local[0] == pytest.approx(memory[0], rel=1e-7, abs=1e-9, nan_ok=True)
    assert local[1] == memory[1]
