"""LoggedValue: what the log itself earned, to compare a target with."""

from dataclasses import dataclass

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.rows import Rows


@dataclass(frozen=True)
class LoggedValue(Estimator):
    """The mean reward of the log, which is the value of the policy that logged it.

    >>> from counterfold.rows import example_rows
    >>> LoggedValue().value(example_rows())
    0.5
    """

    kinds = ("labels", "doses")

    def contributions(self, rows: Rows) -> Floats:
        return rows.rewards
