"""History: what was decided and earned in each hour or day, and tables of it by longer periods."""

from counterfold.history.history import HOURS, History, Period, Terms
from counterfold.history.means import Means

__all__ = ["HOURS", "History", "Means", "Period", "Terms"]
