"""Inverse propensity scores."""

from dataclasses import dataclass

from counterfold.base.arrays import Floats
from counterfold.estimators.base import Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class IPS(Estimator):
    r"""Reweight every reward by how much likelier the target was to take the logged action.

    $$v_i = w_i\, r_i$$

    Unbiased when the propensities are right and nothing lacks support; noisy when weights are large.

    Robins, Rotnitzky, Zhao (1994), "Estimation of regression coefficients when some regressors are not always
    observed".

    >>> import counterfold as cf
    >>> cf.IPS().contributions(cf.example_rows())
    array([0., 0., 1., 4.])
    """

    def contributions(self, rows: Rows) -> Floats:
        return rows.weights * rows.rewards
