"""Whether several loggers decided in the same contexts at the same time, which weights by all of them assume."""

from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Floats, Ints
from counterfold.log.assignment.dependence import DependenceSums, DependenceTest
from counterfold.log.log import Log


class LoggerSuspicion(NamedTuple):
    """What loggers differ by, in words, and how likely chance alone is to look like it."""

    p: float
    what: str


def sum_loggers(log: Log, place: Ints | slice, features: Floats) -> DependenceSums | None:
    """Return sums that tell whether a feature depends on who decided, as if loggers were actions drawn by share."""
    if log.loggers is None or log.logger_shares is None:
        return None
    codes, probs = log.loggers.codes[place], np.tile(log.logger_shares, (len(features), 1))
    return DependenceTest(np.arange(len(log.logger_shares))).sum_codes(codes, features, probs)


def compare_loggers(sums: DependenceSums | None, names: tuple[str, ...], *, is_sorted: bool) -> LoggerSuspicion | None:
    """Return what loggers differ by most, its p-value multiplied by the number of features (Bonferroni)."""
    if sums is None:
        return None
    tested = DependenceTest(np.arange(sums.residuals.shape[1])).test(sums, design_effect=1.0)
    columns = [] if tested.columns is None else tested.columns.tolist()
    found = [LoggerSuspicion(p, f"column `{name}` differs") for name, p in zip(names, columns, strict=True)]
    if not is_sorted:
        found.append(LoggerSuspicion(tested.general[0].p, "they decided at different times"))
    worst = min(found, default=None)
    return None if worst is None else worst._replace(p=min(1.0, worst.p * len(found)))
