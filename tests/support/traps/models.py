"""Reward models that return what is no reward, and target doses that no logged dose is near."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import counterfold as cf
from counterfold.models.base import TrainedModel
from traps import REFUSED, RIGHT, Case, trap
from traps.bandits import make_bandit


class Constant(RegressorMixin, BaseEstimator):
    """A regressor that predicts the same number everywhere."""

    def __init__(self, value=0.0, shape=1):
        self.value, self.shape = value, shape

    def fit(self, _features, _rewards):
        return self

    def predict(self, features):
        return np.full((len(features), self.shape) if self.shape > 1 else len(features), self.value)


@dataclass(frozen=True)
class Wide(TrainedModel):
    """A model with a column too few, which numpy would spread over all actions."""

    def fit(self, _examples):
        return lambda rows: np.ones((len(rows), 1))


def modelled(rng, model):
    """Return a clean log that is evaluated with a reward model."""
    bandit = make_bandit(rng)
    return Case(bandit.table(), truth=bandit.truth, options={"reward_model": model})


@trap("the reward model predicts NaN", REFUSED)
def model_that_predicts_nan(rng):
    return modelled(rng, Constant(np.nan))


@trap("the reward model predicts infinity", REFUSED)
def model_that_predicts_infinity(rng):
    return modelled(rng, Constant(np.inf))


@trap("the reward model predicts 1e300", REFUSED)
def model_that_predicts_huge_rewards(rng):
    return modelled(rng, Constant(1e300))


@trap("the reward model predicts 1e12 for rewards near 1", RIGHT)
def model_that_predicts_large_rewards(rng):
    return modelled(rng, Constant(1e12))


@trap("the reward model predicts two numbers per row", REFUSED)
def model_of_two_numbers(rng):
    return modelled(rng, Constant(1.0, shape=2))


@trap("the user's own reward model predicts one number per row, not one per action", REFUSED)
def own_model_of_one_number(rng):
    return modelled(rng, Wide())


@trap("the same, cross-fitted", REFUSED)
def own_model_of_one_number_in_folds(rng):
    return modelled(rng, cf.CrossFitted(Wide()))


@trap("none: a reward model that knows nothing", RIGHT)
def model_that_predicts_nothing(rng):
    return modelled(rng, Constant(0.0))


@trap("given predictions hold NaN", REFUSED)
def predictions_with_nan(rng):
    bandit = make_bandit(rng)
    q = bandit.means.copy()
    q[5, 1] = np.nan
    log = cf.Log(
        context=bandit.x, action=bandit.action, reward=bandit.reward, propensity=bandit.propensity, actions=range(3)
    )
    return Case(log, bandit.target, truth=bandit.truth, options={"reward_model": q})


# doses


def make_doses(rng, rows=1500):
    """Return the columns of a log of prices near 10, with a target that is known to be worth a number."""
    x = rng.normal(size=rows)
    dose = 10 + 0.5 * x + rng.normal(size=rows)
    density = np.exp(-0.5 * (dose - 10 - 0.5 * x) ** 2) / np.sqrt(2 * np.pi)
    reward = 5 - 0.5 * (dose - 11) ** 2 + 0.1 * rng.normal(size=rows)
    return {"x": x, "dose": dose, "reward": reward, "propensity": density, "target": 10.5 + 0.3 * x}


def dose_case(columns, truth=None):
    """Return a log of doses in memory, as the local engine reads none."""
    log = cf.Log(context=columns["x"][:, None], **{name: columns[name] for name in ("dose", "reward", "propensity")})
    return Case(log, columns["target"], truth=truth)


@trap("none: prices within the logged ones", RIGHT)
def doses_within_the_logged_ones(rng):
    columns = make_doses(rng)
    return dose_case(columns, float((5 - 0.5 * (columns["target"] - 11) ** 2).mean()))


@trap("one of the target's prices is a million", REFUSED)
def one_dose_of_a_million(rng):
    columns = make_doses(rng)
    columns["target"][7] = 1e6
    return dose_case(columns)


@trap("the target's prices are in cents, the logged ones in dollars", REFUSED)
def doses_in_other_units(rng):
    columns = make_doses(rng)
    return dose_case(columns | {"target": 100 * columns["target"]})


@trap("a fifth of the target's prices is far above all logged ones", "missing-support")
def doses_beyond_the_logged_ones(rng):
    columns = make_doses(rng)
    columns["target"][::5] = 25.0
    return dose_case(columns, float((5 - 0.5 * (columns["target"] - 11) ** 2).mean()))


@trap("a few of the target's prices are far above all logged ones", "missing-support")
def some_doses_beyond_the_logged_ones(rng):
    columns = make_doses(rng)
    columns["target"][::100] = 25.0
    return dose_case(columns, float((5 - 0.5 * (columns["target"] - 11) ** 2).mean()))
