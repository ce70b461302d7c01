"""History: what was decided and earned in each hour or day, and tables of it by longer periods."""

from counterfold.history.history import HOURS, PERIODS, History, Period, Terms
from counterfold.history.means import Means
from counterfold.history.pieces import PIECES

__all__ = ["HOURS", "PERIODS", "PIECES", "History", "Means", "Period", "Terms"]
