"""Logs with a time: rewards that are not in yet, values that change, times that cannot be read; and honest ones."""

import numpy as np

from traps import REFUSED, RIGHT, Case, trap
from traps.rewards import make_clicks

START = np.datetime64("2024-02-05T00:00:00")
COLUMNS = {"time": "decided_at"}


def make_log(rng, clicks):
    """Return a log of clicks of 30 days, in no order, and the share of that time at which each row was decided."""
    logging, target = np.full((6000, 3), 1 / 3), np.tile([0.2, 0.3, 0.5], (6000, 1))
    share = rng.random(6000)
    rates = np.broadcast_to(clicks(share)[:, None], (6000, 3)) * np.array([1.0, 1.2, 1.5])
    return make_clicks(rng, logging, target, rates), share


def add_times(bandit, share, times=None):
    """Return the table of a log with the column of times."""
    times = START + (share * 30 * 86400).astype(int) if times is None else times
    return bandit.table().append_column("decided_at", [times])


@trap("the clicks of the last fifth of the log are not in yet, and are 0", "drift")
def rewards_that_are_not_in_yet(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    bandit.reward[share > 0.8] = 0.0
    return Case(add_times(bandit, share), truth=bandit.truth, columns=COLUMNS)


@trap("the clicks of the last fifth of the log are not in yet, and nobody named the column of times", "drift")
def rewards_that_are_not_in_yet_by_times_that_nobody_named(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    bandit.reward[share > 0.8] = 0.0
    return Case(add_times(bandit, share), truth=bandit.truth)


@trap("the clicks of the last fifth of the log are not in yet, and it has no times", "row-order")
def rewards_that_are_not_in_yet_without_times(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    bandit.reward[share > 0.8] = 0.0
    return Case(bandit.table().take(np.argsort(share)), truth=bandit.truth)


@trap("none: rows without times are in the order of their rewards, or of their actions", RIGHT)
def rows_in_the_order_of_rewards(rng):
    bandit, _ = make_log(rng, lambda share: np.full(len(share), 0.1))
    return Case(bandit.table().sort_by([("reward", "descending"), ("action", "ascending")]), truth=bandit.truth)


@trap("clicks become three times as common in the course of the log", "drift")
def clicks_that_become_common(rng):
    bandit, share = make_log(rng, lambda share: 0.1 + 0.2 * share)
    return Case(add_times(bandit, share), truth=bandit.truth, columns=COLUMNS)


@trap("none: times in no order, the last day with a few rows", RIGHT)
def times_in_no_order(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    share[:3] = 30.01 / 30
    return Case(add_times(bandit, share), truth=bandit.truth, columns=COLUMNS)


@trap("times are the time of day, without the day", REFUSED)
def times_of_day(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    return Case(add_times(bandit, share, ["12:30"] * 6000), columns=COLUMNS)


@trap("seconds since 1970 were read as milliseconds, so that all is decided in January 1970", REFUSED)
def seconds_as_milliseconds(rng):
    bandit, share = make_log(rng, lambda share: np.full(len(share), 0.1))
    times = (1_707_091_200 + (share * 30 * 86400).astype(int)).astype("datetime64[ms]")
    return Case(add_times(bandit, share, times), columns=COLUMNS)
