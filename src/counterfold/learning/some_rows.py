"""Some rows of a log as a log of their own, which knows nothing of the others."""

from copy import copy

from counterfold.base.arrays import Ints
from counterfold.base.per_row import take_fields
from counterfold.log.log import Log


def take_rows(log: Log, index: Ints) -> Log:
    """Return some rows of a log; they keep their places in it, and so their folds.

    >>> import numpy as np
    >>> log = Log(action=["a", "b", "a"], reward=[1.0, 0.0, 0.5], propensity=[0.5, 0.5, 0.8])
    >>> some = take_rows(log, np.array([0, 2]))
    >>> some, some.reward
    (Log(2 rows, 2 actions, 0 context columns, propensities only), array([1. , 0.5]))
    """
    some = copy(log)
    vars(some).clear()
    vars(some).update(take_fields(log, index))
    some.row_numbers = index if log.row_numbers is None else some.row_numbers
    some.index = None  # of all rows
    return some
