"""Rows of one village or school that were decided, or measured, together, in columns that nobody named as groups."""

import numpy as np
import pyarrow as pa

from traps import RIGHT, Case, trap

ROWS = 3000


def make_trial(rng, clusters, *, assigns_clusters, spread, trend=None):
    """Return a trial with half of the rows, or of the clusters, treated; its cluster of each row, and the truth.

    Clusters have levels of their own with that spread, or levels that follow a trend.
    """
    cluster = rng.integers(clusters, size=ROWS)
    age = rng.normal(size=ROWS)
    levels = spread * rng.normal(size=clusters) if trend is None else trend(np.arange(clusters))
    is_treated = (rng.random(clusters) < 0.5)[cluster] if assigns_clusters else rng.random(ROWS) < 0.5
    reward = age + 0.3 * is_treated + levels[cluster] + rng.normal(size=ROWS)
    columns = {"age": age, "arm": np.where(is_treated, "treated", "control"), "reward": reward}
    columns |= {"propensity": np.full(ROWS, 0.5)}
    return columns, cluster, 0.3


def case(columns, truth):
    """Return a case that asks for the value of treating everybody, in a population of such clusters."""
    return Case(pa.table(columns), target="treated", truth=truth, columns={"action": "arm"})


@trap("whole villages were treated, and `village` is not named as a group", "unnamed-groups")
def villages_that_were_treated_as_a_whole(rng):
    columns, village, truth = make_trial(rng, 60, assigns_clusters=True, spread=0.7)
    return case(columns | {"village": [f"village {one}" for one in village]}, truth)


@trap("rewards of a village have a level in common, and `village` is not named as a group", "unnamed-groups")
def villages_with_rewards_in_common(rng):
    columns, village, truth = make_trial(rng, 60, assigns_clusters=False, spread=0.7)
    return case(columns | {"village": [f"village {one}" for one in village]}, truth)


@trap("whole schools were treated, and their number is not named as a group", "unnamed-groups")
def schools_that_were_treated_as_a_whole(rng):
    columns, school, truth = make_trial(rng, 80, assigns_clusters=True, spread=0.7)
    return case(columns | {"schoolid": rng.permutation(9000)[:80][school]}, truth)


@trap("rewards of a school have a level in common, and its number is not named as a group", "unnamed-groups")
def schools_with_rewards_in_common(rng):
    columns, school, truth = make_trial(rng, 80, assigns_clusters=False, spread=0.7)
    return case(columns | {"schoolid": rng.permutation(9000)[:80][school]}, truth)


@trap("one decision was made for all rows of a `cell`, a column that is not called like a group", "unnamed-groups")
def cells_that_were_decided_as_a_whole(rng):
    columns, cell, truth = make_trial(rng, 60, assigns_clusters=True, spread=0.7)
    return case(columns | {"cell": [f"c{one}" for one in cell]}, truth)


@trap("rewards of a `cell`, a number, have a level in common that no model of numbers can learn", "unnamed-groups")
def numbered_cells_with_rewards_in_common(rng):
    columns, cell, truth = make_trial(rng, 60, assigns_clusters=False, spread=1.0)
    return case(columns | {"cell": rng.permutation(9000)[:60][cell]}, truth)


@trap("none: rewards differ by city, which is context and no group", RIGHT)
def cities_that_differ(rng):
    columns, city, truth = make_trial(rng, 30, assigns_clusters=False, spread=0.0, trend=lambda one: (one % 5 - 2) / 4)
    return case(columns | {"city": [f"city {one}" for one in city]}, truth)


@trap("none: rewards follow a curve over the years of age", RIGHT)
def years_with_a_curve(rng):
    def follow(years):
        return np.cos(2 * np.pi * (years + 0.5) / 60)

    columns, years, truth = make_trial(rng, 60, assigns_clusters=False, spread=0.0, trend=follow)
    return case(columns | {"years": 20 + years}, truth)


@trap("none: whole schools were treated, and are named as groups", RIGHT)
def schools_that_are_named(rng):
    columns, school, truth = make_trial(rng, 80, assigns_clusters=True, spread=0.7)
    named = {"action": "arm", "group": "schoolid"}
    return Case(pa.table(columns | {"schoolid": school}), target="treated", truth=truth, columns=named)
