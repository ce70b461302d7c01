"""IPS on features of actions."""

import math
from dataclasses import dataclass

import numpy as np

from counterfold import checks
from counterfold.arrays import Floats
from counterfold.estimators._reweighted import Reweighted
from counterfold.estimators._similar import match_codes, pooled_weights
from counterfold.rows import Rows


@dataclass(frozen=True)
class MIPS(Reweighted):
    r"""IPS on what actions are like instead of which they are: actions with the same features count as one.

    $$v_i = \frac{\sum_a \pi(a \mid x_i)\, 1[e_a = e_{a_i}]}{\sum_a \pi_0(a \mid x_i)\, 1[e_a = e_{a_i}]}\, r_i$$

    $e_a$ are the first `dimensions` of the log's action features. Unbiased when the action matters for the reward only
    through these features, also where single actions lack support. Features that set every action apart leave IPS.

    Saito, Joachims (2022), "Off-policy evaluation for large action spaces via embeddings".

    >>> import counterfold as cf
    >>> cf.MIPS().contributions(cf.example_rows())
    array([0., 0., 1., 4.])
    """

    dimensions: float = math.inf
    limits = {0: "the mean reward"}
    needs = ("target_probs", "logging_probs", "action_features")

    def __post_init__(self) -> None:
        checks.whole_or_infinite(0, dimensions=self.dimensions)

    def reweigh(self, rows: Rows) -> Floats:
        used = rows.action_features[:, : int(min(self.dimensions, rows.action_features.shape[1]))]
        if used.shape[1] == 0:
            return np.ones(len(rows))
        codes = np.unique(used, axis=0, return_inverse=True)[1].reshape(-1)
        return pooled_weights(rows, match_codes(codes))

    @classmethod
    def grid(cls, rows: Rows) -> list[float]:
        return [*range(rows.action_features.shape[1], 0, -1)]
