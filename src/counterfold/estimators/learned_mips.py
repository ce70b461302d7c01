"""IPS on features of actions that the reward model learnt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from counterfold.base import validation
from counterfold.base.arrays import Floats
from counterfold.estimators._similar import cluster_grid, clusters, pooled_weights, same
from counterfold.estimators.base import MORE_CLUSTERS_THAN_ACTIONS, Estimator
from counterfold.estimators.rows import Rows


@dataclass(frozen=True)
class LearnedMIPS(Estimator):
    r"""IPS on clusters of actions that the reward model finds alike, when no features of the actions are given.

    $$v_i = \frac{\sum_a \pi(a \mid x_i)\, 1[c_a = c_{a_i}]}{\sum_a \pi_0(a \mid x_i)\, 1[c_a = c_{a_i}]}\, r_i,
      \qquad c = \text{clusters of } e_a = \bigl(\hat q(x_1, a), \dots, \hat q(x_n, a)\bigr)$$

    An action's learnt embedding is its predicted rewards in all rows; for linear models that is its coefficients, seen
    through the contexts at hand. Ward's method cuts the embeddings into `clusters`; as many as there are actions leave
    IPS.

    Cief, Golebiowski, Schmidt, Abedjan, Bekasov (2024), "Learning action embeddings for off-policy evaluation", with
    clusters in place of its estimated density of the embeddings.

    >>> import counterfold as cf
    >>> cf.LearnedMIPS(clusters=2).contributions(cf.example_rows())
    array([0., 0., 1., 4.])
    """

    clusters: int = 8
    rowwise = False
    limits = {1: "the mean reward", MORE_CLUSTERS_THAN_ACTIONS: "ips"}
    needs = ("target_probs", "logging_probs", "model")

    def __post_init__(self) -> None:
        validation.whole(1, clusters=self.clusters)

    def contributions(self, rows: Rows) -> Floats:
        return pooled_weights(rows, same(clusters(rows.embeddings, self.clusters))) * rows.rewards

    @classmethod
    def candidates(cls, rows: Rows) -> Sequence[Self]:
        return [cls(number) for number in reversed(cluster_grid(rows))]
