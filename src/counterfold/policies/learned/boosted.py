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
        for start in range(0, len(context), BLOCK):
            columns = np.ascontiguousarray(context[start : start + BLOCK].T)
            block = scores[:, start : start + BLOCK]
            for tree, action in enumerate(self.action.tolist()):
                block[action] += self._read_node(tree, 0, columns)
        return np.ascontiguousarray(scores.T)

    def _read_node(self, tree: int, node: int, columns: Floats) -> Floats:
        """Return what a node of a tree adds to the score of each row."""
        n_inner = self.feature.shape[1]
        if node >= n_inner:
            return np.asarray(self.values[tree, node - n_inner])
        threshold = self.threshold[tree, node]
        left = self._read_node(tree, 2 * node + 1, columns)
        if threshold == NEVER_EXCEEDED:
            return left
        right = self._read_node(tree, 2 * node + 2, columns)
        return np.where(columns[self.feature[tree, node]] <= threshold, left, right)

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


NEVER_EXCEEDED = float(np.finfo(np.float64).max)
"""The threshold of a branch that ended earlier: every row goes left."""
