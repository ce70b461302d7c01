"""Some rows of a log as a log of their own, which knows nothing of the others."""

from copy import copy
from dataclasses import replace

from counterfold.arrays import Ints
from counterfold.checks import freeze
from counterfold.log import Log

BY_ROW = ("reward", "propensity", "context", "action", "group", "available", "logging_probs", "units", "kept")
"""What a log of actions holds for every row; some of it may be missing."""


def take_rows(log: Log, index: Ints) -> Log:
    """Return some rows of a log of actions; they keep their places in it, and so their folds.

    >>> import numpy as np
    >>> log = Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    >>> some = take_rows(log, np.array([0, 2]))
    >>> some, some.reward
    (Log(2 rows, 2 actions, 0 context columns, propensities only), array([1. , 0.5]))
    """
    some = copy(log)
    vars(some).pop("counts", None)  # known of all rows
    for name in BY_ROW:
        if (known := getattr(log, name)) is not None:
            setattr(some, name, freeze(known[index]))
    some.row_numbers = index if log.row_numbers is None else log.row_numbers[index]
    if log.loggers is not None:
        some.loggers = replace(log.loggers, codes=log.loggers.codes[index], probs=log.loggers.probs[:, index])
    if log.time is not None:
        some.time = replace(log.time, values=log.time.values[index])
    some.identifiers = {name: one[index] for name, one in log.identifiers.items()}
    some.segments = tuple(one._replace(codes=one.codes[index]) for one in log.segments)
    some.index = None
    return some
