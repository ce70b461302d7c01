"""PolicyForest: many trees, for policies that no few conditions describe."""

from dataclasses import dataclass

from counterfold.base import validation
from counterfold.base.seeding import narrow_seed
from counterfold.learning.learners import _econml
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.policies.learned.scorers import ForestScorer, Scorer


@dataclass(frozen=True)
class PolicyForest(Learner):
    """Take the action whose doubly robust score is the highest on average over the trees of a forest.

    Zhou, Athey, Wager (2023), "Offline multi-action policy learning: generalization and optimization".

    Each tree is grown by EconML on half of the rows, one half of which splits and the other half tells scores.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> scores = PolicyForest(trees=8).fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]]))
    >>> scores.argmax(axis=1)
    array([0, 1])
    """

    trees: int = 60
    smallest_leaf: int = 10
    extra = "learn"

    def __post_init__(self) -> None:
        validation.whole(1, trees=self.trees, smallest_leaf=self.smallest_leaf)

    def explain_lack(self, rows: TrainingRows) -> str | None:
        return _econml.explain_lack(rows)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from econml.policy import PolicyForest as Grown

        trees = 4 * -(-self.trees // 4)  # EconML grows them by fours
        leaf = min(self.smallest_leaf, max(1, len(rows) // 16))
        grown = Grown(trees, min_samples_leaf=leaf, random_state=narrow_seed(seed), n_jobs=1)
        grown.fit(rows.context, rows.robust_scores[:, rows.allowed], sample_weight=rows.examples.counts)
        return ForestScorer([_econml.take_tree(one, rows.allowed) for one in grown.estimators_])
