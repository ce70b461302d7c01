"""Text and gaps among the context: outcomes, names of the action, what the old policy looked at."""

import numpy as np

from traps import RIGHT, Case, trap
from traps.bandits import draw, make_bandit, softmax

CITIES = ("Paris", "Rome", "Oslo")


def make_towns(rng, rows=4000, gaps=0.0):
    """Return a bandit whose policy and rewards go by a text, and the text, which may be missing."""
    bandit, code = make_bandit(rng, rows), rng.integers(3, size=rows)
    is_missing = rng.random(rows) < gaps
    effects = np.concatenate([rng.normal(size=(3, 3)), np.zeros((1, 3))])[np.where(is_missing, 3, code)]
    bandit.logging = 0.9 * softmax(bandit.x @ rng.normal(size=(3, 3)) + 1.5 * effects) + 0.1 / 3
    bandit.action, bandit.means = draw(bandit.logging, rng), bandit.means + effects
    bandit.reward = bandit.means[np.arange(rows), bandit.action] + 0.5 * rng.normal(size=rows)
    return bandit, [None if gone else CITIES[one] for one, gone in zip(code, is_missing, strict=True)]


@trap("a text that says what came of it: bought or left", RIGHT)
def status_after_the_decision(rng):
    bandit = make_bandit(rng)
    bought = bandit.reward > 1.5
    bandit.reward = bought.astype(float)
    chance = bandit.means[:, :, None] + 0.5 * np.random.default_rng(0).normal(size=400) > 1.5
    bandit.means = chance.mean(axis=2)
    return Case(bandit.table(status=np.where(bought, "bought", "left")), truth=bandit.truth)


@trap("the name of the item beside its number", RIGHT)
def name_of_the_action(rng):
    bandit = make_bandit(rng)
    names = np.array(["Shirt, red", "Shirt, green", "Shirt, blue"])[bandit.action]
    return Case(bandit.table(item_name=names), truth=bandit.truth)


@trap("how the customer paid, which is missing of those who did not buy", RIGHT)
def gap_without_a_reward(rng):
    bandit = make_bandit(rng)
    bandit.reward = np.where(bandit.reward > 2.0, 1.0, 0.0)
    chance = bandit.means[:, :, None] + 0.5 * np.random.default_rng(0).normal(size=400) > 2.0
    bandit.means = chance.mean(axis=2)
    paid = [("card", "cash")[row % 2] if one else None for row, one in enumerate(bandit.reward)]
    return Case(bandit.table(paid_by=paid), truth=bandit.truth)


@trap("no propensities, and the old policy went by the city, which is text", "fitted-propensities")
def city_that_the_policy_looked_at(rng):
    bandit, city = make_towns(rng)
    return Case(bandit.table(propensity=None, city=city), truth=bandit.truth, columns={"propensity": "fit"})


@trap("none: a city that rewards depend on, missing in some rows", RIGHT)
def city_with_gaps(rng):
    bandit, city = make_towns(rng, gaps=0.2)
    return Case(bandit.table(city=city), truth=bandit.truth)


@trap("none: a number that is missing in a fifth of the rows", RIGHT)
def number_with_gaps(rng):
    bandit = make_bandit(rng)
    gone = rng.random(len(bandit.reward)) < 0.2
    return Case(
        bandit.table(x1=[None if one else x for x, one in zip(bandit.x[:, 1], gone, strict=True)]), truth=bandit.truth
    )
