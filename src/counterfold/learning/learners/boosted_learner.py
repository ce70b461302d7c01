"""BoostedLearner: the action with the highest reward by boosted trees, for rewards that no line describes."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from counterfold.base import validation
from counterfold.base.arrays import Floats, Ints
from counterfold.base.errors import ModelError, ParameterError
from counterfold.base.seeding import narrow_seed
from counterfold.learning.learners.base import Learner, TrainingRows, mean_rewards
from counterfold.policies.learned.boosted import NEVER_EXCEEDED, BoostedScorer
from counterfold.policies.learned.scorers import Scorer

MAX_ACTIONS = 100
"""For at most how many allowed actions trees are boosted: each action takes its own time."""

MAX_DEPTH = 8
"""The deepest trees: every tree takes room for all leaves that it could have."""

CHECKED_ROWS = 100
"""In how many rows the arrays are compared with what scikit-learn predicts."""

TOLERANCE = 1e-6
"""How far the arrays may be from scikit-learn's predictions, in standard deviations of the rewards."""


@dataclass(frozen=True)
class BoostedLearner(Learner):
    r"""Take the action whose predicted reward is the highest, by boosted trees for each action.

    $$\pi(x) = \arg\max_a \hat q_a(x), \qquad \hat q_a(x) = \bar r_a + \eta \sum_t f_{at}(x)$$

    Friedman (2001), "Greedy function approximation: a gradient boosting machine". Künzel, Sekhon, Bickel, Yu (2019),
    "Metalearners for estimating heterogeneous treatment effects using machine learning", call it a T-learner.

    scikit-learn's `HistGradientBoostingRegressor` grows the trees, from the rows of each action alone. The policy keeps
    them as arrays, so that its file holds no types of scikit-learn.

    - `rounds`: how many trees each action has.
    - `depth`: how many conditions lie between the root of a tree and a leaf, at most.
    - `rate`: the factor of each tree.
    - `smallest_leaf`: the fewest rows in a leaf. An action with fewer than twice as many rows predicts its mean reward.

    >>> from counterfold.learning.learners.base import example_training_rows
    >>> import numpy as np
    >>> learner = BoostedLearner(smallest_leaf=2)
    >>> learner.fit(example_training_rows(), 0).score(np.array([[0.0], [3.0]])).argmax(axis=1)
    array([0, 1])
    """

    rounds: int = 60
    depth: int = 3
    rate: float = 0.1
    smallest_leaf: int = 20
    complexity = 4

    def __post_init__(self) -> None:
        validation.whole(1, rounds=self.rounds, depth=self.depth, smallest_leaf=self.smallest_leaf)
        validation.positive(rate=self.rate)
        if self.depth > MAX_DEPTH:
            raise ParameterError(f"`depth` must be at most {MAX_DEPTH}, got {self.depth}.")

    def explain_lack(self, rows: TrainingRows) -> str | None:
        if not rows.context.shape[1]:
            return "needs a context"
        n_allowed = int(rows.allowed.sum())
        return f"takes at most {MAX_ACTIONS} actions, got {n_allowed}" if n_allowed > MAX_ACTIONS else None

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        examples = rows.examples
        counts = examples.counts
        means = mean_rewards(rows)
        # Trees are grown on standardised rewards, because scikit-learn keeps gradients in single precision.
        centre = float(np.average(examples.rewards, weights=counts))
        scale = float(examples.rewards.std()) or 1.0
        standardised = (examples.rewards - centre) / scale
        levels = means.copy()
        gains = np.zeros(rows.context.shape[1])
        trees: list[Tree] = []
        with find_thread_pools().limit(limits=1, user_api="openmp"):  # its sums depend on the number of threads
            for action in np.flatnonzero(rows.allowed).tolist():
                index = np.flatnonzero(examples.actions == action)
                rewards = standardised[index]
                if len(index) < 2 * self.smallest_leaf or rewards.min() == rewards.max():
                    continue
                own_counts = None if counts is None else counts[index]
                model = self.grow(rows.context[index], rewards, own_counts, seed)
                levels[action] = centre + scale * float(np.ravel(model._baseline_prediction)[0])  # noqa: SLF001
                for (predictor,) in model._predictors:  # noqa: SLF001
                    trees.append(lay_out_tree(predictor.nodes, self.depth, action, scale))
                    add_gains(gains, predictor.nodes, scale)
                own = join_trees(levels, gains, trees[-len(model._predictors) :], self.depth)  # noqa: SLF001
                check_arrays(own, model, rows.context[index[:CHECKED_ROWS]], action, centre, scale)
        return join_trees(levels, gains, trees, self.depth)

    def grow(self, context: Floats, rewards: Floats, counts: Floats | None, seed: int) -> Any:
        """Return scikit-learn's model of the rewards of one action."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(
            max_iter=self.rounds,
            max_depth=self.depth,
            max_leaf_nodes=None,
            learning_rate=self.rate,
            min_samples_leaf=self.smallest_leaf,
            early_stopping=False,
            random_state=narrow_seed(seed),
        )
        return model.fit(context, rewards, sample_weight=counts)


@cache
def find_thread_pools() -> ThreadpoolController:
    """Return what limits the threads of scikit-learn, which is loaded first."""
    import sklearn.ensemble  # noqa: F401 (its library of threads must be there to be found)

    return ThreadpoolController()


class Tree(NamedTuple):
    """A tree in the layout of a `BoostedScorer`."""

    action: int
    feature: Ints
    threshold: Floats
    values: Floats


def lay_out_tree(nodes: Any, depth: int, action: int, scale: float) -> Tree:
    """Return a tree of scikit-learn in the layout of a `BoostedScorer`, its values in units of the rewards."""
    n_inner = 2**depth - 1
    feature = np.zeros(n_inner, dtype=np.intp)
    threshold = np.full(n_inner, NEVER_EXCEEDED)
    values = np.zeros(n_inner + 1)
    columns = nodes["feature_idx"].tolist()
    cuts = nodes["num_threshold"].tolist()
    node_values = (scale * nodes["value"]).tolist()
    is_leaf = nodes["is_leaf"].tolist()
    left = nodes["left"].tolist()
    right = nodes["right"].tolist()
    waiting = [(0, 0)]
    while waiting:
        source, target = waiting.pop()
        if target >= n_inner:
            values[target - n_inner] = node_values[source]
        elif is_leaf[source]:  # both branches below end in the same value
            waiting += [(source, 2 * target + 1), (source, 2 * target + 2)]
        else:
            feature[target] = columns[source]
            threshold[target] = cuts[source]
            waiting += [(left[source], 2 * target + 1), (right[source], 2 * target + 2)]
    return Tree(action, feature, threshold, values)


def add_gains(gains: Floats, nodes: Any, scale: float) -> None:
    """Add how much the splits of a tree improve the fit, by column."""
    inner = nodes[nodes["is_leaf"] == 0]
    np.add.at(gains, inner["feature_idx"], np.maximum(inner["gain"], 0.0) * scale**2)


def join_trees(levels: Floats, gains: Floats, trees: list[Tree], depth: int) -> BoostedScorer:
    """Return trees as one scorer."""
    n_inner = 2**depth - 1
    return BoostedScorer(
        levels=levels.copy(),
        action=np.array([tree.action for tree in trees], dtype=np.intp),
        feature=np.array([tree.feature for tree in trees], dtype=np.intp).reshape(-1, n_inner),
        threshold=np.array([tree.threshold for tree in trees], dtype=np.float64).reshape(-1, n_inner),
        values=np.array([tree.values for tree in trees], dtype=np.float64).reshape(-1, n_inner + 1),
        gains=gains.copy(),
    )


def check_arrays(own: BoostedScorer, model: Any, context: Floats, action: int, centre: float, scale: float) -> None:
    """Require that the arrays predict what scikit-learn does: how it keeps its trees is not part of its promises."""
    expected = centre + scale * model.predict(context)
    difference = np.abs(own.score(context)[:, action] - expected).max() / scale
    if not difference <= TOLERANCE:
        import sklearn

        rule = "read the trees of HistGradientBoostingRegressor"
        way = "Leave BoostedLearner out of `learners`"
        raise ModelError(f"BoostedLearner cannot {rule} of scikit-learn {sklearn.__version__}. {way}.")
