"""The reward model, corrected cluster by cluster of actions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._similar import cluster_grid, clusters, pooled_weights, same
from counterfold.estimators.base import MORE_CLUSTERS_THAN_ACTIONS, Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class OffCEM(Estimator):
    r"""Doubly robust with weights of clusters: they correct what a cluster has in common, the model does the rest.

    $$v_i = \hat q_i^\pi + \frac{\sum_a \pi(a \mid x_i)\, 1[c_a = c_{a_i}]}
      {\sum_a \pi_0(a \mid x_i)\, 1[c_a = c_{a_i}]}\, (r_i - \hat q_i)$$

    Ward's method cuts the log's action features into `clusters`; as many as there are actions leave DR. Unbiased when
    the model gets the differences within clusters right. Its authors fit for just that, in two steps: differences of
    rewards of pairs of actions within a cluster, then what a cluster has in common. Here the model is any reward model
    of the package, fitted to rewards in one step.

    Saito, Ren, Joachims (2023), "Off-policy evaluation for large action spaces via conjunct effect modeling".

    >>> import counterfold as cf
    >>> cf.OffCEM(clusters=1).contributions(cf.example_rows())
    array([-0.24,  0.04,  1.  ,  0.92])
    """

    clusters: int = 8
    limits = {1: "DM plus the mean residual", MORE_CLUSTERS_THAN_ACTIONS: "dr"}
    needs = ("target_probs", "logging_probs", "model", "action_features")

    def __post_init__(self) -> None:
        validation.whole(1, clusters=self.clusters)

    def contributions(self, rows: Rows) -> Floats:
        weights = pooled_weights(rows, same(clusters(rows.action_features, self.clusters)))
        return rows.q_policy + weights * rows.residuals

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(number) for number in reversed(cluster_grid(rows))]
