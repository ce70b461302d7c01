"""BoostedScorer: for each action a sum of small trees, as arrays alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfold.base.arrays import Floats, Ints, is_numbers
from counterfold.policies.learned.scorers import Scorer, share_out

BLOCK = 1 << 13
"""How many rows are scored at a time, so that they stay in the processor's cache."""

MAX_LISTED_COLUMNS = 10
"""At most how many columns the description lists."""


@dataclass(frozen=True, eq=False)
class BoostedScorer(Scorer):
    """Scores that are sums of small trees; each tree adds to the score of one action.

    All trees have the same number of levels, and the children of node k are 2k + 1 and 2k + 2. A branch that ends
    earlier has thresholds above every number, and copies of its value below.

    - `levels` (A): the score of each action before any tree is added.
    - `action` (T): the action of each tree.
    - `feature` and `threshold` (T x nodes): rows go left where the column `feature` is at most `threshold`.
    - `values` (T x leaves): what each leaf adds, from left to right.
    - `gains` (d): how much each column improved the fit in all splits.
    """

    levels: Floats
    action: Ints
    feature: Ints
    threshold: Floats
    values: Floats
    gains: Floats

    @property
    def heading(self) -> str:
        return "by the highest predicted reward:"

    def score(self, context: Floats) -> Floats:
        scores = np.repeat(self.levels[:, None], len(context), axis=1)
        # as plain numbers, which are read one by one in much less time than those of arrays
        trees = list(zip(self.feature.tolist(), self.threshold.tolist(), self.values.tolist(), strict=True))
        actions = self.action.tolist()
        for start in range(0, len(context), BLOCK):
            columns = np.ascontiguousarray(context[start : start + BLOCK].T)
            block = scores[:, start : start + BLOCK]
            for action, tree in zip(actions, trees, strict=True):
                block[action] += read_node(*tree, 0, columns)
        return np.ascontiguousarray(scores.T)

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        shares = self.weigh_features(len(features))
        order = [at for at in np.argsort(-shares, kind="stable")[:MAX_LISTED_COLUMNS] if shares[at] > 0]
        parts = [f"{features[at]} {shares[at]:.0%}" for at in order]
        return f"boosted trees for each action, which look at: {', '.join(parts) or 'nothing'}"

    def weigh_features(self, width: int) -> Floats:
        return share_out(self.gains)

    def is_sound(self, width: int, n_actions: int) -> bool:
        n_trees = len(self.action)
        n_inner = self.feature.shape[1]
        return (
            is_numbers(self.levels, n_actions)
            and is_numbers(self.action, n_trees, kinds="i")
            and is_numbers(self.feature, n_trees, n_inner, kinds="i")
            and is_numbers(self.threshold, n_trees, n_inner)
            and is_numbers(self.values, n_trees, n_inner + 1)
            and is_numbers(self.gains, width)
            and (n_inner + 1).bit_count() == 1
            and bool((self.action >= 0).all() and (self.action < n_actions).all())
            and bool((self.feature >= 0).all() and (self.feature < width).all())
        )


def read_node(
    feature: Sequence[int], threshold: Sequence[float], values: Sequence[float], node: int, columns: Floats
) -> Floats | float:
    """Return what a node of a tree adds to the score of each row, or of all rows."""
    if node >= len(feature):
        return values[node - len(feature)]
    left = read_node(feature, threshold, values, 2 * node + 1, columns)
    if threshold[node] == NEVER_EXCEEDED:
        return left
    right = read_node(feature, threshold, values, 2 * node + 2, columns)
    return np.where(columns[feature[node]] <= threshold[node], left, right)


NEVER_EXCEEDED = float(np.finfo(np.float64).max)
"""The threshold of a branch that ended earlier: every row goes left."""
