"""From the reference's data to the package's rows."""

import counterfold as cf
from counterfold.models import as_model
from counterfold.target import as_target


def log_of(data, **more):
    return cf.Log(
        context=data.x,
        action=data.a,
        reward=data.r,
        logging_probs=data.logging,
        actions=range(data.logging.shape[1]),
        **more,
    )


def rows_of(data, model=None, **more):
    log = log_of(data, **more)
    return cf.Rows.of(log, as_target(data.target, log), as_model(cf.RidgePerAction() if model is None else model, log))
