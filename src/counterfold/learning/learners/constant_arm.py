"""ConstantArm: the same action everywhere, the simplest policy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold.base.messages import show
from counterfold.learning.learners.base import Learner, TrainingRows
from counterfold.log.labels import write_label
from counterfold.policies.learned.scorers import Scorer, TreeScorer


@dataclass(frozen=True)
class ConstantArm(Learner):
    r"""Take one action in every context: the one that is named, or the best one by doubly robust scores.

    $$\pi(x) = \arg\max_a \frac{1}{n} \sum_i \Gamma_{ia}$$

    Dudík, Langford, Li (2011), "Doubly robust policy evaluation and learning".

    Where it is not available, or limits do not allow it, the next best one is taken. In `learn`, one that names no
    action stands for every action, each of which competes.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> print(ConstantArm().fit(example_training_rows(), 0).describe(["hour"], ["a", "b"]))
    take b
    >>> print(ConstantArm("0").fit(example_training_rows(), 0).describe(["hour"], ["a", "b"]))
    take a
    """

    action: Any = None
    complexity = 0

    @property
    def name(self) -> str:
        return type(self).__name__ if self.action is None else f"always {show(write_label(self.action))}"

    def explain_lack(self, rows: TrainingRows) -> str | None:
        if self.action is None:
            return None
        label = write_label(self.action)
        if label not in rows.labels:
            return "takes an action that is not in the log"
        return None if rows.allowed[list(rows.labels).index(label)] else "takes an action that is not allowed"

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        means = np.average(rows.robust_scores, axis=0, weights=rows.examples.counts)
        if self.action is not None:
            spread = float(np.ptp(means)) or 1.0
            means[list(rows.labels).index(write_label(self.action))] = means.max() + spread
        leaf = np.full(1, -1, dtype=np.intp)
        return TreeScorer(
            feature=leaf,
            threshold=np.zeros(1),
            left=leaf,
            right=leaf,
            values=means[None, :],
            gains=np.zeros(rows.context.shape[1]),
            rows=np.array([float(len(rows))]),
        )
