"""PolicyTree: a shallow tree of conditions that people can read."""

from dataclasses import dataclass

import numpy as np

from counterfold.base import validation
from counterfold.learning.learners._tree_search import TreeSearch, widen_tree
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.policies.learned.scorers import Scorer

MAX_ACTIONS = 100
"""For at most how many allowed actions a tree is grown: it takes room and time for each."""


@dataclass(frozen=True)
class PolicyTree(Learner):
    r"""Split contexts by a few conditions such that one action for each part earns the most, by doubly robust scores.

    $$\max_{\text{tree}} \sum_i \Gamma_{i, \pi(x_i)}$$

    Athey, Wager (2021), "Policy learning with observational data". Trees are grown greedily on all rows, one
    condition after the other.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> scorer = PolicyTree(depth=1, smallest_leaf=5).fit(example_training_rows(), 0)
    >>> print(scorer.describe(["hour"], ["a", "b"]))
    if hour <= 1.5:
      take a
    else:
      take b
    """

    depth: int = 2
    smallest_leaf: int = 50
    complexity = 1

    def __post_init__(self) -> None:
        validation.whole(1, depth=self.depth, smallest_leaf=self.smallest_leaf)

    def explain_lack(self, rows: TrainingRows) -> str | None:
        if not rows.context.shape[1]:
            return "needs a context"
        n_allowed = int(rows.allowed.sum())
        return f"takes at most {MAX_ACTIONS} actions, got {n_allowed}" if n_allowed > MAX_ACTIONS else None

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        leaf = min(self.smallest_leaf, max(1, len(rows) // 4))
        scores = rows.robust_scores[:, rows.allowed]
        search = TreeSearch.of(rows.context, scores, rows.examples.counts, leaf)
        search.grow(np.arange(len(rows)), self.depth)
        return widen_tree(search.collect(rows.context.shape[1]), rows.allowed)
