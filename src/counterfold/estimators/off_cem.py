"""The reward model, corrected cluster by cluster of actions."""

from counterfold.arrays import Floats
from counterfold.estimators._similar import Clustered
from counterfold.estimators.base import MANY
from counterfold.rows import Rows


class OffCEM(Clustered):
    r"""Doubly robust with weights of clusters: they correct what a cluster has in common, the model does the rest.

    $$v_i = \hat q_i^\pi + \frac{\sum_a \pi(a \mid x_i)\, 1[c_a = c_{a_i}]}
      {\sum_a \pi_0(a \mid x_i)\, 1[c_a = c_{a_i}]}\, (r_i - \hat q_i)$$

    Ward's method cuts the log's action features into `clusters`; as many as there are actions leave DR. Unbiased when
    the model gets the differences within clusters right.

    Saito, Ren, Joachims (2023), "Off-policy evaluation for large action spaces via conjunct effect modeling".

    >>> import counterfold as cf
    >>> cf.OffCEM(clusters=1).contributions(cf.example_rows())
    array([-0.24,  0.04,  1.  ,  0.92])
    """

    corrects = True
    limits = {1: "DM plus the mean residual", MANY: "dr"}
    needs = ("target_probs", "logging_probs", "model", "action_features")

    def points(self, rows: Rows) -> Floats:
        return rows.action_features
