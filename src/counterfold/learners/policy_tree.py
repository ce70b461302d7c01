"""PolicyTree: a shallow tree of conditions that people can read."""

from dataclasses import dataclass

from counterfold import checks
from counterfold.learners import _econml
from counterfold.learners.base import Learner, TrainingRows
from counterfold.policies.scorers import Scorer
from counterfold.seeding import narrow_seed


@dataclass(frozen=True)
class PolicyTree(Learner):
    r"""Split contexts by a few conditions such that one action for each part earns the most, by doubly robust scores.

    $$\max_{\text{tree}} \sum_i \Gamma_{i, \pi(x_i)}$$

    Athey, Wager (2021), "Policy learning with observational data". Trees are grown greedily by EconML, on all rows.

    >>> from counterfold.learners.base import example_training_rows
    >>> scorer = PolicyTree(depth=1, smallest_leaf=5).fit(example_training_rows(), 0)
    >>> print(scorer.describe(["hour"], ["a", "b"]))
    if hour <= 1.5:
      take a
    else:
      take b
    """

    depth: int = 2
    smallest_leaf: int = 50
    extra = "learn"

    def __post_init__(self) -> None:
        checks.whole(1, depth=self.depth, smallest_leaf=self.smallest_leaf)

    def explain_lack(self, rows: TrainingRows) -> str | None:
        return _econml.explain_lack(rows)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        from econml.policy import PolicyTree as Grown

        leaf = min(self.smallest_leaf, max(1, len(rows) // 4))
        grown = Grown(max_depth=self.depth, min_samples_leaf=leaf, honest=False, random_state=narrow_seed(seed))
        grown.fit(rows.context, rows.robust_scores[:, rows.allowed], sample_weight=rows.examples.counts)
        return _econml.take_tree(grown, rows.allowed)
