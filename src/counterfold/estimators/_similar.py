"""What the estimators that pool similar actions share."""

import numpy as np

from counterfold.base.arrays import Floats, Ints, row_sums
from counterfold.estimators.rows import Rows


def pooled_weights(rows: Rows, spread: Floats) -> Floats:
    r"""Return the weights of the logged actions after both policies were spread over similar actions.

    $$w_i = \frac{\sum_a \pi(a \mid x_i)\, S(a, a_i)}{\sum_a \pi_0(a \mid x_i)\, S(a, a_i)}$$

    `spread` (A x A) is S; an action is always similar to itself.
    """
    near = spread.T[rows.actions]
    return row_sums(rows.target_probs, near) / row_sums(rows.logging_probs, near)


def same(codes: Ints) -> Floats:
    """Return 1 for pairs of actions with the same code and 0 for others (A x A)."""
    return np.asarray(codes[:, None] == codes, dtype=np.float64)


def distances(points: Floats) -> Floats:
    """Return the distances between all pairs of points (A x A), exactly 0 between equal ones."""
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(points)))


def clusters(points: Floats, number: int) -> Ints:
    """Return the cluster of each point: Ward's method merges the two nearest until `number` are left.

    It needs no seed, and a larger number only ever cuts clusters in two.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import pdist

    if len(points) <= number:
        return np.arange(len(points))
    tree = linkage(pdist(points), method="ward")
    return np.asarray(cut_tree(tree, n_clusters=[number]).ravel(), dtype=np.intp)


def cluster_grid(rows: Rows) -> list[int]:
    """Return 2, 4, 8 and so on, below the number of actions."""
    return [2**power for power in range(1, 20) if 2**power < rows.examples.n_actions] or [1]
