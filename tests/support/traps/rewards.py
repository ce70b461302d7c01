"""Rewards that are missing, mistyped, or so rare that a few of them are all the answer; and honest ones like them."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import Bandit, draw, make_bandit


def make_clicks(rng, logging, target, clicks):
    """Return a log of clicks whose rate (a number, or n x A) is known, with two numbers as context."""
    logging, target = (np.asarray(policy, dtype=float) for policy in (logging, target))
    rows, action = len(logging), draw(logging, rng)
    means = np.broadcast_to(clicks, logging.shape)
    reward = (rng.random(rows) < means[np.arange(rows), action]).astype(float)
    labels = [f"item {place}" for place in range(logging.shape[1])]
    return Bandit(rng.normal(size=(rows, 2)), logging, target, action, means, reward, labels)


@trap("the target shows one item of 34, and none of its rows has a click", "few-rewards")
def no_click_on_what_the_target_shows(rng):
    bandit = make_clicks(rng, np.full((10_000, 34), 1 / 34), np.zeros((10_000, 34)), 0.005)
    clicks = np.bincount(bandit.action, bandit.reward, 34)
    never = int(clicks.argmin())
    bandit.reward[bandit.action == never] = 0.0
    bandit.target[:, never] = 1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("one of 38 clicks, on an action that was rarely tried, supplies half of the answer", "few-rewards")
def one_click_supplies_half(rng):
    bandit = make_clicks(rng, np.tile([0.99, 0.01], (7600, 1)), np.tile([0.7, 0.3], (7600, 1)), 0.005)
    bandit.reward[:] = 0.0
    bandit.reward[rng.permutation(np.flatnonzero(bandit.action == 0))[:37]] = 1.0
    bandit.reward[np.flatnonzero(bandit.action == 1)[0]] = 1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("rewards are nearly all 0: three of 5,000 rows have a sale", "few-rewards")
def three_sales(rng):
    bandit = make_clicks(rng, np.full((5000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (5000, 1)), 0.001)
    bandit.reward[:] = 0.0
    bandit.reward[rng.permutation(5000)[:3]] = 1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("nearly every session ends well (1), and none of the few that failed had the target's action", "few-rewards")
def no_failure_on_what_the_target_does(rng):
    bandit = make_clicks(rng, np.tile([0.9, 0.1], (4000, 1)), np.tile([0.0, 1.0], (4000, 1)), 0.995)
    bandit.reward[bandit.action == 1] = 1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("5 % of visitors buy, for amounts so different that one purchase is most of all revenue", "few-rewards")
def one_large_purchase(rng):
    bandit = make_clicks(rng, np.full((2000, 2), 0.5), np.tile([0.4, 0.6], (2000, 1)), 0.05)
    bandit.reward *= np.exp(1.2 * rng.normal(size=2000))
    bandit.reward[np.flatnonzero(bandit.reward)[0]] = 1.5 * bandit.reward.sum()
    return Case(bandit.table(), truth=0.05 * float(np.exp(0.72)))


@trap("one reward was typed as 1e12", "outlying-rewards")
def one_absurd_reward(rng):
    bandit = make_bandit(rng)
    bandit.reward[1234] = 1e12
    return Case(bandit.table(), truth=bandit.truth)


@trap("three amounts are in thousandths", "outlying-rewards")
def three_amounts_in_another_unit(rng):
    bandit = make_bandit(rng)
    bandit.reward[[5, 700, 1900]] = 1000 * np.abs(bandit.reward[[5, 700, 1900]]) + 500
    return Case(bandit.table(), truth=bandit.truth)


@trap("amounts are in euros at first, and in cents from some row on", "row-order")
def amounts_in_cents_from_some_row_on(rng):
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (4000, 1)), [0.4, 0.5, 0.6])
    bandit.reward[2800:] *= 100
    return Case(bandit.table(), truth=bandit.truth)


@trap("-999 stands for a missing reward, in 1 % of the rows", "outlying-rewards")
def missing_rewards_are_minus_999(rng):
    bandit = make_bandit(rng)
    bandit.reward[rng.random(2000) < 0.01] = -999.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("-1 stands for a missing click, in 5 % of the rows", "outlying-rewards")
def missing_clicks_are_minus_1(rng):
    bandit = make_clicks(rng, np.full((3000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (3000, 1)), [0.1, 0.2, 0.3])
    bandit.reward[rng.random(3000) < 0.05] = -1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("-1 stands for a revenue that is not known yet, in 5 % of the rows", "outlying-rewards")
def missing_revenue_is_minus_1(rng):
    bandit = make_clicks(rng, np.full((3000, 2), 0.5), np.tile([0.2, 0.8], (3000, 1)), 0.3)
    bandit.reward *= np.exp(rng.normal(size=3000))
    bandit.reward[rng.random(3000) < 0.05] = -1.0
    return Case(bandit.table(), truth=0.3 * float(np.exp(0.5)))


@trap("999999 stands for no limit, in eight rows", "outlying-rewards")
def no_limit_is_999999(rng):
    bandit = make_clicks(rng, np.full((3000, 2), 0.5), np.tile([0.2, 0.8], (3000, 1)), 0.3)
    bandit.reward *= np.exp(rng.normal(size=3000))
    bandit.reward[:8] = 999_999.0
    return Case(bandit.table(), truth=0.3 * float(np.exp(0.5)))


def make_stars(rng):
    """Return a log of ratings from 1 to 5 whose means are known."""
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (4000, 1)), [0.3, 0.5, 0.6])
    bandit.reward = 2 + 2 * bandit.reward + rng.integers(-1, 2, size=4000)
    bandit.means = 2 + 2 * bandit.means
    return bandit


@trap("9 stands for an unknown click, in 5 % of the rows", "outlying-rewards")
def unknown_clicks_are_9(rng):
    bandit = make_clicks(rng, np.full((3000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (3000, 1)), [0.1, 0.2, 0.3])
    bandit.reward[rng.random(3000) < 0.05] = 9.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("5000 stands for a time-out among clicks, in 5 % of the rows", "outlying-rewards")
def clicks_that_timed_out_are_5000(rng):
    bandit = make_clicks(rng, np.full((3000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (3000, 1)), [0.1, 0.2, 0.3])
    bandit.reward[rng.random(3000) < 0.05] = 5000.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("8 and 9 stand for answers that were not given, among ratings from 1 to 5", "outlying-rewards")
def missing_ratings_are_8_and_9(rng):
    bandit, missing = make_stars(rng), rng.random(4000)
    bandit.reward = np.where(missing < 0.05, 8.0, np.where(missing < 0.1, 9.0, bandit.reward))
    return Case(bandit.table(), truth=bandit.truth)


@trap("-1 stands for a rating that was not given, among those from 1 to 5", "outlying-rewards")
def missing_ratings_are_minus_1(rng):
    bandit = make_stars(rng)
    bandit.reward[rng.random(4000) < 0.05] = -1.0
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: a click counts 1 and a purchase 10", RIGHT)
def clicks_and_purchases(rng):
    bandit = make_clicks(rng, np.full((10_000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (10_000, 1)), [0.1, 0.2, 0.3])
    bandit.reward *= np.where(rng.random(10_000) < 0.2, 10.0, 1.0)
    return Case(bandit.table(), truth=2.8 * bandit.truth)


@trap("none: ratings from 1 to 5", RIGHT)
def ratings(rng):
    bandit = make_stars(rng)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: rewards are counts, of which a few are large", RIGHT)
def counts_with_a_tail(rng):
    bandit = make_clicks(rng, np.full((10_000, 2), 0.5), np.tile([0.3, 0.7], (10_000, 1)), 0.5)
    bandit.reward *= rng.negative_binomial(0.5, 0.3, size=10_000)
    return Case(bandit.table(), truth=0.5 * 0.5 * 0.7 / 0.3)


@trap("none: clicks are rare, but there are hundreds of them", RIGHT)
def enough_rare_clicks(rng):
    bandit = make_clicks(rng, np.full((20_000, 4), 0.25), np.tile([0.1, 0.2, 0.3, 0.4], (20_000, 1)), 0.02)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: nearly every reward is 1, and enough are not", RIGHT)
def failures_are_rare(rng):
    rates = [0.97, 0.98, 0.99]
    bandit = make_clicks(rng, np.full((8000, 3), 1 / 3), np.tile([0.1, 0.2, 0.7], (8000, 1)), rates)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: rewards have heavy tails", RIGHT)
def heavy_tails(rng):
    bandit = make_bandit(rng, noise=0.0)
    bandit.reward += rng.standard_t(2.5, size=2000)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: some customers send back what they bought, so some rewards are negative", RIGHT)
def honest_refunds(rng):
    bandit = make_clicks(rng, np.full((10_000, 2), 0.5), np.tile([0.3, 0.7], (10_000, 1)), 0.2)
    refund = np.where(rng.random(10_000) < 0.1, -0.2, 1.0)
    bandit.reward *= refund * np.round(20 * np.exp(0.5 * rng.normal(size=10_000)), 2)
    return Case(bandit.table(), truth=0.2 * 20 * float(np.exp(0.125)) * 0.88)


@trap("none: a few prices, one of them much higher than the others", RIGHT)
def a_few_prices(rng):
    bandit = make_clicks(rng, np.full((10_000, 2), 0.5), np.tile([0.3, 0.7], (10_000, 1)), 0.2)
    prices, shares = np.array([9.99, 19.0, 99.0, 999.0]), [0.5, 0.3, 0.19, 0.01]
    bandit.reward *= rng.choice(prices, size=10_000, p=shares)
    return Case(bandit.table(), truth=0.2 * float(prices @ shares))


@trap("none: rewards are -1 or 1, and never 0", RIGHT)
def rewards_of_both_signs(rng):
    rates = [0.3, 0.5, 0.6]
    bandit = make_clicks(rng, np.full((4000, 3), 1 / 3), np.tile([0.2, 0.2, 0.6], (4000, 1)), rates)
    bandit.reward = 2 * bandit.reward - 1
    return Case(bandit.table(), truth=2 * bandit.truth - 1)
