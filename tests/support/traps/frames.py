"""Frames of pandas: rows that belong together by their index, not by their place; and columns of several roles."""

import numpy as np
import pandas as pd

import counterfold as cf
from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import make_bandit


def make_frames(rng):
    """Return a bandit, its log as a frame and its target's probabilities as another one."""
    bandit = make_bandit(rng)
    frame = pd.DataFrame(bandit.columns(**{f"target_{label}": None for label in bandit.labels}))
    return bandit, frame, pd.DataFrame(bandit.target, columns=bandit.labels)


def make_log(frame, **changes):
    """Return a log of a frame's columns."""
    columns = {name: frame[name] for name in ("action", "reward", "propensity")}
    return cf.Log(**columns | {"context": frame[["x0", "x1", "x2"]]} | changes)


@trap("none: a target frame has the log's index in another order, which puts it right", RIGHT)
def target_frame_in_another_order(rng):
    bandit, frame, target = make_frames(rng)
    return Case(make_log(frame), target.sample(frac=1, random_state=0), truth=bandit.truth)


@trap("none: the same where the log is a frame, too, whose columns are named", RIGHT)
def target_frame_beside_a_frame(rng):
    bandit, frame, target = make_frames(rng)
    return Case(frame, target.sample(frac=1, random_state=0), truth=bandit.truth)


@trap("the log was shuffled, and the target's rows were numbered anew", REFUSED)
def target_frame_numbered_anew(rng):
    bandit, frame, target = make_frames(rng)
    return Case(make_log(frame.sample(frac=1, random_state=0)), target, truth=bandit.truth)


@trap("the target is of other rows than the log", REFUSED)
def target_frame_of_other_rows(rng):
    bandit, frame, target = make_frames(rng)
    return Case(make_log(frame[::2]), target[1::2], truth=bandit.truth)


@trap("the log is of plain arrays, and the target a shuffled frame", REFUSED)
def target_frame_shuffled_beside_arrays(rng):
    bandit, frame, target = make_frames(rng)
    columns = {name: frame[name].to_numpy() for name in ("action", "reward", "propensity")}
    log = make_log(frame, **columns, context=frame[["x0", "x1", "x2"]].to_numpy())
    return Case(log, target.sample(frac=1, random_state=0), truth=bandit.truth)


@trap("none: plain arrays go by position", RIGHT)
def target_array_beside_frames(rng):
    bandit, frame, target = make_frames(rng)
    log = make_log(frame.set_axis(np.arange(len(frame)) + 7), actions=bandit.labels)
    return Case(log, target.to_numpy(), truth=bandit.truth)


@trap("none: log and target are the same part of a frame", RIGHT)
def target_frame_of_the_same_rows(rng):
    bandit, frame, target = make_frames(rng)
    kept = frame["x0"] > 0
    truth = float((bandit.target * bandit.means).sum(axis=1)[kept.to_numpy()].mean())
    return Case(make_log(frame[kept]), target[kept], truth=truth)


@trap("none: the rewards come sorted, and their index tells where they belong", RIGHT)
def rewards_in_another_order(rng):
    bandit, frame, target = make_frames(rng)
    labelled = frame.set_axis([f"visit {row}" for row in range(len(frame))])
    target = target.set_axis(labelled.index)
    return Case(make_log(labelled, reward=labelled["reward"].sort_values()), target, truth=bandit.truth)


@trap("the rewards come sorted and numbered anew", REFUSED)
def rewards_numbered_anew(rng):
    bandit, frame, target = make_frames(rng)
    sorted_rewards = frame["reward"].sort_values().reset_index(drop=True)
    shuffled = frame.sample(frac=1, random_state=0)
    return Case(lambda: make_log(shuffled, reward=sorted_rewards), target, truth=bandit.truth)


@trap("labels that the target would take, in another order than the log", RIGHT)
def chosen_labels_in_another_order(rng):
    bandit, frame, _ = make_frames(rng)
    best = bandit.means.argmax(axis=1)
    chosen = pd.Series([bandit.labels[code] for code in best]).sample(frac=1, random_state=0)
    return Case(make_log(frame), chosen, truth=float(bandit.means.max(axis=1).mean()))


# columns of several roles


@trap("the reward is named as the propensity, too", REFUSED)
def reward_named_as_propensity(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(reward=np.clip(bandit.reward, 0.01, 1)), columns={"propensity": "reward"})


@trap("the propensity is named as the reward", REFUSED)
def propensity_named_as_reward(rng):
    return Case(make_bandit(rng).table(), columns={"reward": "propensity"})


@trap("the action is named as the reward", REFUSED)
def action_named_as_reward(rng):
    return Case(make_bandit(rng, labels=(0, 1, 2)).table(), columns={"reward": "action"})


@trap("the reward is named as the target", REFUSED)
def reward_named_as_target(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(reward=(bandit.reward > 1).astype(float)), "reward")


@trap("the target's columns are named as context", REFUSED)
def target_named_as_context(rng):
    return Case(make_bandit(rng).table(), columns={"context": ["x0", "target_red"]})


@trap("the propensity is named as context, from which the action follows", REFUSED)
def propensity_named_as_context(rng):
    return Case(make_bandit(rng).table(), columns={"context": ["x0", "propensity"]})


@trap("the reward is a copy of the propensity under another name", REFUSED)
def reward_is_a_copy_of_the_propensity(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(reward=bandit.propensity))


@trap("none: the target is the policy that logged", RIGHT)
def propensity_named_as_target(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(), "propensity", truth=float((bandit.logging * bandit.means).sum(axis=1).mean()))
