"""From the reference's data to the package's rows, and how close two arrays must be."""

import numpy as np

import counterfold as cf
import reference
from counterfold.evaluation.assembly import check_targets
from counterfold.models import as_model
from counterfold.policies.given import as_target


def log_of(data, **more):
    return cf.Log(
        context=data.x,
        action=data.a,
        reward=data.r,
        logging_probs=data.logging,
        actions=range(data.logging.shape[1]),
        action_features=data.features,
        **more,
    )


def rows_of(data, model=None, **more):
    log = log_of(data, **more)
    return cf.Rows.of(log, as_target(data.target, log), as_model(cf.RidgePerAction() if model is None else model, log))


def diagnose(log, target):
    """Return what the diagnostics say of a target, without an answer."""
    return check_targets(log, {"target": target})["reward"].targets["target"]


def evaluate_as_paper(log, target, candidates="plain", selector="ocv", reward_model="ridge-per-action", **more):
    """Evaluate as the paper does: a ridge regression for each action on the rows it predicts, and its OCV."""
    return cf.evaluate(log, target, candidates, selector, reward_model, **more)


def estimate_as_paper(log, target, estimator):
    """Estimate with the paper's reward model."""
    return cf.estimate(log, target, estimator, reward_model="ridge-per-action")


def dose_log(data, **more):
    return cf.Log(context=data.x, dose=data.d, reward=data.r, propensity=data.density, **more)


def dose_rows(data, model="default", **more):
    log = dose_log(data, **more)
    target = as_target(data.target, log)
    return cf.Rows.of(log, target, as_model(model, log, target.draws))


def several_loggers(data, seed=0):
    """Return what a log needs to know of three policies, the second of which is the data's own in every row it has."""
    rng = np.random.default_rng(seed)
    probs = {"a": rng.dirichlet(np.full(data.logging.shape[1], 3.0), size=len(data.r)), "b": data.logging.copy()}
    probs["c"] = rng.dirichlet(np.full(data.logging.shape[1], 1.0), size=len(data.r))
    logger = np.array(["a", "b", "c"])[rng.integers(3, size=len(data.r))]
    data.logging = np.array([probs[label][row] for row, label in enumerate(logger)])
    data.a = np.array([rng.choice(len(row), p=row) for row in data.logging])
    return {"logger": logger, "logger_probs": probs}


def rows_for(kind, seed, **size):
    """Return random rows of a log whose actions are what the estimator takes."""
    if "labels" in kind.kinds:
        return rows_of(reference.random_data(seed, **size))
    return dose_rows(reference.random_doses(seed, **size))


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)


def near(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)
