"""Self-normalised inverse propensity scores."""

from dataclasses import dataclass

from counterfold.arrays import Floats
from counterfold.estimators.base import Estimator, shares
from counterfold.rows import Rows


@dataclass(frozen=True)
class SNIPS(Estimator):
    r"""IPS divided by the mean weight: a weighted mean of the rewards.

    $$V = \frac{\sum_i w_i r_i}{\sum_i w_i}, \qquad v_i = V + \frac{w_i}{\bar w}\,(r_i - V)$$

    Never leaves the range of the rewards. If all weights are 0 it is 0, like IPS.

    Swaminathan, Joachims (2015), "The self-normalized estimator for counterfactual learning".

    >>> import counterfold as cf
    >>> cf.SNIPS().contributions(cf.example_rows()).round(3)
    array([ 0.489, -0.044,  0.844,  1.378])
    """

    def contributions(self, rows: Rows) -> Floats:
        """Return contributions linearised around the ratio."""
        share = shares(rows.weights)
        value = float((share * rows.rewards).mean())
        return value + share * (rows.rewards - value)
