"""History: what was decided and earned in each hour or day, and tables of it by longer periods."""

from counterfold.evidence.history.changes import FEWEST, Change, compare_periods, find_end
from counterfold.evidence.history.history import HOURS, PERIODS, History, Period, PeriodName, Terms
from counterfold.evidence.history.means import Means, Squares, Weights
from counterfold.evidence.history.pieces import PIECES

__all__ = [
    "FEWEST",
    "HOURS",
    "PERIODS",
    "PIECES",
    "Change",
    "History",
    "Means",
    "Period",
    "PeriodName",
    "Squares",
    "Terms",
    "Weights",
    "compare_periods",
    "find_end",
]
