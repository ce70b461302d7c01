"""Self-normalised inverse propensity scores."""

from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, ratio
from counterfold.estimators._ratio import Ratio
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class SNIPS(Ratio):
    r"""IPS divided by the mean weight: a weighted mean of the rewards.

    $$V = \frac{\sum_i w_i r_i}{\sum_i w_i}, \qquad v_i = V + \frac{w_i}{\bar w}\,(r_i - V)$$

    Never leaves the range of the rewards. If all weights are 0 it is 0, like IPS.

    Swaminathan, Joachims (2015), "The self-normalized estimator for counterfactual learning".

    >>> import counterfold as cf
    >>> cf.SNIPS().contributions(cf.example_rows()).round(3)
    array([ 0.489, -0.044,  0.844,  1.378])
    """

    def terms(self, rows: Rows) -> Floats:
        return np.stack([rows.weights * rows.rewards, rows.weights])

    def linearise(self, means: Floats) -> tuple[Floats, Floats]:
        value, share = ratio(means[0], means[1]), ratio(np.ones_like(means[1]), means[1])
        return value, np.stack([share, -value * share])
