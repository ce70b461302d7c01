"""Rows that are there several times, and groups that say nothing; and honest logs like them."""

import numpy as np
import pyarrow as pa

from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import make_bandit
from traps.rewards import make_clicks


def repeat(bandit, times, **changes):
    """Return the table of a log with every row so many times."""
    table = bandit.table(**changes)
    return table.take(np.repeat(np.arange(table.num_rows), times))


@trap("every row is there four times", "repeated-rows")
def each_row_four_times(rng):
    bandit = make_bandit(rng)
    return Case(repeat(bandit, 4), truth=bandit.truth)


@trap("every row is there twice, in a log of clicks without context", "repeated-rows")
def clicks_twice_without_context(rng):
    bandit = make_clicks(rng, rng.dirichlet(np.full(4, 9.0), size=2000), np.full((2000, 4), 0.25), 0.2)
    return Case(repeat(bandit, 2, x0=None, x1=None), truth=bandit.truth)


@trap("a join with another table multiplied the rows, each up to four times", "repeated-rows")
def a_join_that_multiplied_rows(rng):
    bandit = make_bandit(rng)
    return Case(repeat(bandit, rng.integers(1, 5, size=2000)), truth=bandit.truth)


@trap("a fifth of the clicks were delivered twice", "repeated-rows")
def clicks_that_were_delivered_twice(rng):
    bandit = make_clicks(rng, np.full((5000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (5000, 1)), [0.1, 0.2, 0.3])
    return Case(repeat(bandit, 1 + bandit.reward.astype(int) * (rng.random(5000) < 0.2)), truth=bandit.truth)


@trap("a sixth of the few clicks of a long log were delivered twice", "repeated-rows")
def rare_clicks_that_were_delivered_twice(rng):
    bandit = make_clicks(rng, np.full((40_000, 2), 0.5), np.tile([0.3, 0.7], (40_000, 1)), 0.02)
    return Case(repeat(bandit, 1 + bandit.reward.astype(int) * (rng.random(40_000) < 1 / 6)), truth=bandit.truth)


@trap("none: 4 % of the rows were delivered twice, whatever they earned (a note says so)", RIGHT)
def a_few_rows_that_were_delivered_twice(rng):
    bandit = make_clicks(rng, np.full((5000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (5000, 1)), [0.1, 0.2, 0.3])
    return Case(repeat(bandit, 1 + (rng.random(5000) < 0.04)), truth=bandit.truth)


def draw_moments(rng, count):
    """Return seconds of a month, in any order."""
    return np.datetime64("2026-01-01") + rng.integers(30 * 86_400, size=count).astype("timedelta64[s]")


@trap("half of the rows were delivered again, with a time of their own", "repeated-rows")
def rows_that_were_delivered_again_later(rng):
    bandit = make_bandit(rng)
    table = repeat(bandit, 1 + (rng.random(2000) < 0.5))
    return Case(table.append_column("ts", pa.array(draw_moments(rng, table.num_rows))), truth=bandit.truth)


@trap("none: users come back at other times, and each time the action is drawn anew", RIGHT)
def users_who_come_back_later(rng):
    bandit = make_clicks(rng, np.full((4000, 2), 0.5), np.tile([0.3, 0.7], (4000, 1)), [0.2, 0.4])
    bandit.x = rng.normal(size=(800, 2))[rng.integers(800, size=4000)]
    return Case(bandit.table(ts=draw_moments(rng, 4000)), truth=bandit.truth)


@trap("all rows belong to one group", REFUSED)
def one_group(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(group=["all"] * 2000), truth=bandit.truth)


@trap("rows belong to five groups", "few-groups")
def five_groups(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(group=np.arange(2000) % 5), truth=bandit.truth)


@trap("none: every row is a group of its own (a note says so)", RIGHT)
def every_row_its_own_group(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(group=np.arange(2000)), truth=bandit.truth)


@trap("none: with few different contexts and clicks many rows are the same by chance", RIGHT)
def equal_rows_by_chance(rng):
    bandit = make_clicks(rng, np.full((4000, 2), 0.5), np.tile([0.3, 0.7], (4000, 1)), [0.2, 0.4])
    bandit.x = rng.integers(2, size=(4000, 2)).astype(float)
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: users come back several times, and each time the action is drawn anew", RIGHT)
def users_who_come_back(rng):
    bandit = make_clicks(rng, np.full((4000, 2), 0.5), np.tile([0.3, 0.7], (4000, 1)), [0.2, 0.4])
    bandit.x = rng.normal(size=(800, 2))[rng.integers(800, size=4000)]
    return Case(bandit.table(), truth=bandit.truth)


@trap("none: users come back, each in a `group`, and their clicks have little to do with each other", RIGHT)
def users_as_groups(rng):
    bandit = make_bandit(rng, rows=4000)
    return Case(bandit.table(group=[f"user {one}" for one in rng.integers(300, size=4000)]), truth=bandit.truth)


@trap("users come back, some click always and others never, and nobody named them as groups", "unnamed-groups")
def users_that_nobody_named(rng):
    user, rates = rng.integers(300, size=4000), rng.beta(0.4, 1.2, size=300)
    bandit = make_clicks(rng, np.full((4000, 2), 0.5), np.tile([0.3, 0.7], (4000, 1)), rates[user][:, None] * [1, 1])
    return Case(bandit.table(user_id=user), truth=bandit.truth)


@trap("none: users come back and are no groups, but their clicks have nothing to do with each other", RIGHT)
def users_without_a_taste(rng):
    bandit = make_clicks(rng, np.full((4000, 2), 0.5), np.tile([0.3, 0.7], (4000, 1)), [0.2, 0.4])
    return Case(bandit.table(user_id=rng.integers(800, size=4000)), truth=bandit.truth)


@trap("a column `kept` says which rows somebody kept for later, and is no probability", REFUSED)
def kept_that_is_no_probability(rng):
    bandit = make_bandit(rng)
    return Case(bandit.table(kept=rng.random(2000) < 0.5), truth=bandit.truth)


@trap("a join by user gave each of three decisions the rewards of all three", "repeated-rows")
def rewards_joined_by_user(rng):
    bandit = make_bandit(rng)
    decision = np.repeat(np.arange(1998), 3)
    other = np.repeat(np.arange(0, 1998, 3), 9) + np.tile([0, 1, 2], 1998)
    table = bandit.table().take(decision)
    place = table.column_names.index("reward")
    return Case(table.set_column(place, "reward", pa.array(bandit.reward[other])), truth=bandit.truth)
