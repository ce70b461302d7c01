"""PolicyForest: many trees, for policies that no few conditions describe."""

from dataclasses import dataclass

from counterfold import checks
from counterfold.learners import _econml
from counterfold.learners.base import Learner, TrainingRows
from counterfold.policies.scorers import ForestScorer, Scorer


@dataclass(frozen=True)
class PolicyForest(Learner):
    """Take the action whose doubly robust score is the highest on average over the trees of a forest.

    Each tree is grown by EconML on half of the rows, one half of which splits and the other half tells scores.
    """

    trees: int = 100
    smallest_leaf: int = 10
    extra = "learn"

    def __post_init__(self) -> None:
        checks.whole(1, trees=self.trees, smallest_leaf=self.smallest_leaf)

    def explain_lack(self, rows: TrainingRows) -> str | None:
        return _econml.explain_lack(rows)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from econml.policy import PolicyForest as Grown

        trees = 4 * -(-self.trees // 4)  # EconML grows them by fours
        leaf = min(self.smallest_leaf, max(1, len(rows) // 16))
        grown = Grown(trees, min_samples_leaf=leaf, random_state=seed, n_jobs=1)
        grown.fit(rows.context, rows.robust_scores[:, rows.allowed], sample_weight=rows.examples.counts)
        count, width = rows.examples.n_actions, rows.context.shape[1]
        return ForestScorer([_econml.take_tree(one, rows.allowed, count, width) for one in grown.estimators_])
