"""Mistakes that a table shows only to who looks for them: caps, shifts, labels that were reused, robots, the future."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import draw, make_bandit, softmax
from traps.rewards import make_clicks


def make_amounts(rng, rows=4000):
    """Return a log of purchases by a third of the visitors, for very different amounts."""
    bandit = make_bandit(rng, rows=rows)
    levels = np.exp(0.5 * bandit.means)
    amounts = np.exp(1.2 * rng.normal(size=rows) - 0.72)
    bandit.reward = (rng.random(rows) < 0.3) * amounts * levels[np.arange(rows), bandit.action]
    bandit.means = 0.3 * levels
    return bandit


@trap("amounts are capped at their 95th percentile", "capped-rewards")
def amounts_that_are_capped(rng):
    bandit = make_amounts(rng)
    bandit.reward = np.minimum(bandit.reward, np.quantile(bandit.reward[bandit.reward > 0], 0.95))
    return Case(bandit.table(), truth=bandit.truth)


@trap("rewards of both signs are capped at 2.5", "capped-rewards")
def rewards_that_are_capped(rng):
    bandit = make_bandit(rng)
    bandit.reward = np.minimum(bandit.reward, 2.5)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: the reward is the share of a film that was watched, and many watched it to its end", RIGHT)
def films_that_were_watched_to_their_end(rng):
    rates = np.array([0.2, 0.3, 0.4])
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (4000, 1)), rates)
    bandit.reward = np.where(bandit.reward == 1, 1.0, rng.random(4000))
    bandit.means = rates + (1 - rates) / 2 + np.zeros((4000, 3))
    return Case(bandit.table(), truth=bandit.truth)


def draw_again(bandit, logging, rng):
    """Give a bandit another logging policy, and draw its actions and rewards with that."""
    bandit.logging = logging
    bandit.action = draw(logging, rng)
    bandit.reward = bandit.means[np.arange(len(logging)), bandit.action] + 0.5 * rng.normal(size=len(logging))


@trap("propensities are clipped at 0.05, and those of other actions are not logged", "clipped-propensities")
def propensities_that_are_clipped(rng):
    bandit = make_bandit(rng, rows=6000)
    draw_again(bandit, softmax(3.0 * bandit.x), rng)
    return Case(bandit.table(propensity=np.maximum(bandit.propensity, 0.05)), truth=bandit.truth)


@trap("none: a floor of the propensities is the exploration of the policy that acted", RIGHT)
def a_floor_of_exploration(rng):
    bandit = make_bandit(rng, rows=6000)
    draw_again(bandit, 0.85 * softmax(12.0 * bandit.x) + 0.05, rng)
    return Case(bandit.table(), truth=bandit.truth)


@trap("each reward was written into the next row", "shifted-rewards")
def rewards_of_the_row_before(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(reward=np.roll(bandit.reward, 1)), truth=bandit.truth)


@trap("none: rows of one user follow each other, and a user's rows resemble each other", RIGHT)
def neighbours_that_resemble_each_other(rng):
    bandit = make_bandit(rng)
    user = np.arange(2000) // 5
    levels = rng.normal(size=400)
    bandit.reward += 0.3 * levels[user]
    return Case(bandit.table(group=user), truth=bandit.truth)


@trap("the labels of actions were given to others half-way", "changed-actions")
def labels_that_were_reused(rng):
    bandit = make_bandit(rng, rows=4000)
    is_late = np.arange(4000) >= 2000
    truth = bandit.truth
    bandit.action = np.where(is_late, (bandit.action + 1) % 3, bandit.action)
    bandit.logging = np.where(is_late[:, None], np.roll(bandit.logging, 1, axis=1), bandit.logging)
    return Case(bandit.table(), truth=truth)


@trap("none: all actions earn more and more, and the policy that logged changed half-way", RIGHT)
def all_actions_earn_more(rng):
    bandit = make_bandit(rng, rows=4000)
    is_late = np.arange(4000) >= 2000
    turned = np.where(is_late[:, None], np.roll(bandit.logging, 1, axis=1), bandit.logging)
    bandit.means += np.linspace(0, 0.5, 4000)[:, None]
    draw_again(bandit, turned, rng)
    return Case(bandit.table(), truth=bandit.truth)


def add_robot(rng, level):
    """Return a log of clicks in which a tenth of the rows are a robot's, and the value for the other ones."""
    rates = np.array([0.1, 0.2, 0.3])
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (4000, 1)), rates)
    is_robot = rng.random(4000) < 0.1
    bandit.x[is_robot] = [0.25, -1.5]
    bandit.reward[is_robot] = level
    return bandit


@trap("a robot that never clicks is a tenth of the rows", "repeated-context")
def a_robot_that_never_clicks(rng):
    bandit = add_robot(rng, 0.0)
    return Case(bandit.table(), truth=bandit.truth)


@trap("a robot that always clicks is a tenth of the rows", "repeated-context")
def a_robot_that_always_clicks(rng):
    bandit = add_robot(rng, 1.0)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: nothing is known of a fifth of the visitors, who click like the others", RIGHT)
def visitors_of_whom_nothing_is_known(rng):
    rates = np.array([0.1, 0.2, 0.3])
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (4000, 1)), rates)
    bandit.x[rng.random(4000) < 0.2] = 0.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("the target was made when it was known what had come of a fifth of the decisions", "informed-target")
def a_target_that_knows_what_came_of_it(rng):
    bandit = make_bandit(rng, rows=4000)
    truth = bandit.truth
    is_known = rng.random(4000) < 0.2
    is_good = bandit.reward > np.median(bandit.reward)
    logged = np.eye(3)[bandit.action]
    others = (1 - logged) / 2
    best = np.where(is_good[:, None], logged, others)
    bandit.target = np.where(is_known[:, None], 0.9 * best + 0.1 / 3, bandit.target)
    spread = {f"logging_probs_{label}": bandit.logging[:, place] for place, label in enumerate(bandit.labels)}
    return Case(bandit.table(**spread), truth=truth)


def make_doses(rng):
    """Return a log whose reward is 1 if the dose was right, and the dose that turned out to be."""
    bandit = make_clicks(rng, np.tile([0.3, 0.5, 0.2], (3000, 1)), np.full((3000, 3), 1 / 3), 0.0)
    dose = rng.gamma(4.0, 8.0, size=3000)
    right = np.digitize(dose, np.quantile(dose, [0.25, 0.75]))
    bandit.reward = (bandit.action == right).astype(float)
    return bandit, dose, right


@trap("a column holds the dose that turned out to be right, which is known weeks later", "future-columns")
def a_column_of_the_future(rng):
    bandit, dose, _ = make_doses(rng)
    return Case(bandit.table(therapeutic_dose=dose))


@trap("the target always takes the dose that turned out to be right", "perfect-value")
def a_target_that_is_always_right(rng):
    bandit, _, right = make_doses(rng)
    bandit.target = np.eye(3)[right]
    return Case(bandit.table())
