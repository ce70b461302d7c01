"""Rows that are few enough to check a formula by hand."""

import numpy as np

from counterfold.estimators.rows import Rows
from counterfold.log.log import Log
from counterfold.models.base import Given, RewardModel
from counterfold.policies.given import as_target


def example_rows(model: RewardModel | None = None) -> Rows:
    """Return four rows with two actions, small enough to check a formula by hand.

    >>> rows = example_rows()
    >>> rows.weights, rows.rewards
    (array([0.5, 2. , 1. , 4. ]), array([0., 0., 1., 1.]))
    >>> rows.q_logged, rows.q_policy
    (array([0.8, 0.4, 0.6, 0.6]), array([0.56, 0.44, 0.6 , 0.52]))
    """
    log = Log(
        context=[[0.0], [1.0], [2.0], [3.0]],
        action=[0, 1, 0, 1],
        reward=[0.0, 0.0, 1.0, 1.0],
        logging_probs=[[0.8, 0.2], [0.6, 0.4], [0.5, 0.5], [0.8, 0.2]],
        action_features=[[1.0], [2.0]],
    )
    target = as_target([[0.4, 0.6], [0.2, 0.8], [0.5, 0.5], [0.2, 0.8]], log)
    return Rows.of(log, target, model or Given(np.array([[0.8, 0.4], [0.6, 0.4], [0.6, 0.6], [0.2, 0.6]])))


def example_doses(model: RewardModel | None = None) -> Rows:
    """Return four rows whose actions are doses.

    >>> rows = example_doses()
    >>> rows.dose, rows.target_doses.ravel(), rows.propensity
    (array([0., 1., 2., 3.]), array([0., 2., 2., 2.]), array([0.25, 0.25, 0.25, 0.25]))
    >>> rows.q_logged, rows.q_policy
    (array([0.2, 0.4, 0.6, 0.6]), array([0.2, 0.6, 0.6, 0.6]))
    """
    log = Log(dose=[0.0, 1.0, 2.0, 3.0], reward=[0.0, 1.0, 1.0, 0.0], propensity=[0.25, 0.25, 0.25, 0.25])
    target = as_target([0.0, 2.0, 2.0, 2.0], log)
    return Rows.of(log, target, model or Given(np.array([[0.2, 0.2], [0.4, 0.6], [0.6, 0.6], [0.6, 0.6]])))
