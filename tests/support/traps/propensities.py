"""Propensities that are not those with which the actions were drawn."""

import numpy as np

from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import draw, make_bandit, softmax


def log_as(bandit, logged, *, alone=False):
    """Return the bandit's log with other propensities: those of all actions, or of the logged ones alone."""
    changes = {"propensity": logged[np.arange(len(logged)), bandit.action] if alone else None}
    if not alone:
        changes |= {f"logging_probs_{label}": logged[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**changes), truth=bandit.truth)


def use_frequencies(bandit, _rng):
    counts = np.bincount(bandit.action, minlength=len(bandit.labels))
    return np.tile(counts / counts.sum(), (len(bandit.action), 1))


def swap_columns(bandit, rng):
    swapped = bandit.logging.copy()
    some = rng.random(len(swapped)) < 1 / 3
    swapped[some, 0], swapped[some, 1] = bandit.logging[some, 1], bandit.logging[some, 0]
    return swapped


def forget_exploration(bandit, _rng):
    return (bandit.logging - 0.1 / 3) / 0.9


def raise_to(power):
    def change(bandit, _rng):
        raised = bandit.logging**power
        return raised / raised.sum(axis=1, keepdims=True)

    return change


def shift_rows(bandit, _rng):
    return np.roll(bandit.logging, 1, axis=0)


def roll_columns(bandit, _rng):
    return np.roll(bandit.logging, 1, axis=1)


MISTAKES = {
    "frequencies": ("how often each action was taken, in place of its probability", use_frequencies),
    "swapped_columns": ("two columns of probabilities swapped in a third of the rows", swap_columns),
    "forgotten_exploration": ("the probabilities without the exploration of 10 %", forget_exploration),
    "softened": ("the square roots of the probabilities, normalised", raise_to(0.5)),
    "sharpened": ("the squares of the probabilities, normalised", raise_to(2.0)),
    "neighbours": ("the probabilities of the row before", shift_rows),
    "other_actions": ("the columns of probabilities in another order", roll_columns),
}


def spoil(name, mistake, change, alone):
    def build(rng):
        bandit = make_bandit(rng, rows=3000, sharpness=1.5)
        return log_as(bandit, change(bandit, rng), alone=alone)

    build.__name__ = f"{name}_alone" if alone else name
    what = f"{mistake}, and only for the logged actions" if alone else mistake
    ends = "mean-weight" if build.__name__ == "softened_alone" else "propensities"  # no action has too many rows
    trap(f"logged as propensities: {what}", ends)(build)


for name, (mistake, change) in MISTAKES.items():
    for alone in (False, True):
        spoil(name, mistake, change, alone)


def change_halfway(rng, alone):
    bandit = make_bandit(rng, labels=("old", "new"))
    bandit.logging = np.where((np.arange(2000) < 1000)[:, None], [[0.7, 0.3]], [[0.3, 0.7]])
    bandit.action = draw(bandit.logging, rng)
    bandit.reward = bandit.means[np.arange(2000), bandit.action] + 0.5 * rng.normal(size=2000)
    return log_as(bandit, np.full((2000, 2), 0.5), alone=alone)


@trap("a policy that changed half-way, while the log says 0.5 throughout", "propensities")
def changed_halfway(rng):
    return change_halfway(rng, alone=False)


@trap(
    "a policy that changed half-way, while the log says 0.5 throughout, and only for the logged actions", "propensities"
)
def changed_halfway_alone(rng):
    return change_halfway(rng, alone=True)


@trap("a policy that looked at one column, while the log says that it did not", "outcome-context")
def one_column_forgotten(rng):
    bandit = make_bandit(rng)
    bandit.logging = softmax(np.column_stack([bandit.x[:, 0], 0 * bandit.x[:, 0], -bandit.x[:, 0]]))
    bandit.action = draw(bandit.logging, rng)
    bandit.reward = bandit.means[np.arange(2000), bandit.action] + 0.5 * rng.normal(size=2000)
    return log_as(bandit, np.tile(bandit.logging.mean(axis=0), (2000, 1)))


@trap("the propensities are one column of several, each of which is about one action", REFUSED)
def propensities_of_one_action(rng):
    bandit = make_bandit(rng, labels=(0, 1, 2))
    spread = {f"p_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(propensity=None, **spread), truth=bandit.truth, columns={"propensity": "p_1"})


@trap("none: a policy that nearly always takes its best action", RIGHT)
def clean_sharp_policy(rng):
    bandit = make_bandit(rng, rows=3000, sharpness=4.0)
    bandit.target = 0.5 * bandit.logging + 0.5 / 3
    return log_as(bandit, bandit.logging)


@trap("none: a policy that learns while it acts", RIGHT)
def clean_learning_policy(rng):
    bandit = make_bandit(rng, rows=3000)
    means, counts = np.zeros(3), np.ones(3)
    for row in range(3000):
        bandit.logging[row] = 0.7 * softmax(2 * means[None] / counts)[0] + 0.1
        bandit.action[row] = draw(bandit.logging[row : row + 1], rng)[0]
        bandit.reward[row] = bandit.means[row, bandit.action[row]] + 0.5 * rng.normal()
        means[bandit.action[row]] += bandit.reward[row]
        counts[bandit.action[row]] += 1
    return log_as(bandit, bandit.logging)


@trap("none: an action that was not always there, which only the propensities show", RIGHT)
def clean_unavailable_action(rng):
    bandit = make_bandit(rng, rows=3000)
    there = np.column_stack([np.ones((3000, 2)), np.arange(3000) > 1500])
    bandit.logging, bandit.target = (probs * there for probs in (bandit.logging, bandit.target))
    bandit.logging, bandit.target = (
        probs / probs.sum(axis=1, keepdims=True) for probs in (bandit.logging, bandit.target)
    )
    bandit.action = draw(bandit.logging, rng)
    bandit.reward = bandit.means[np.arange(3000), bandit.action] + 0.5 * rng.normal(size=3000)
    return log_as(bandit, bandit.logging, alone=True)


@trap("none: probabilities rounded to four digits", RIGHT)
def clean_rounded_probabilities(rng):
    bandit = make_bandit(rng, rows=20_000)
    return log_as(bandit, np.round(bandit.logging, 4))


@trap("none: the rows are sorted by action, as after a grouping", RIGHT)
def rows_sorted_by_action(rng):
    bandit = make_bandit(rng)
    spread = {f"logging_probs_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**spread).sort_by("action"), truth=bandit.truth)


@trap("none: the rows are sorted by reward, the best first", RIGHT)
def rows_sorted_by_reward(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table().sort_by([("reward", "descending")]), truth=bandit.truth)
