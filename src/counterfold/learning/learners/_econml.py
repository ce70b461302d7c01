"""What policy trees and forests of EconML share: they are learnt there, and kept as arrays here."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from counterfold.base.arrays import Bools
from counterfold.learning.learners.base import TrainingRows
from counterfold.policies.learned.scorers import TreeScorer

MOST = 100
"""How many actions trees are learnt for at most: they take room and time for each."""

NEED = "needs EconML: pip install 'counterfold[learn]'"


def explain_lack(rows: TrainingRows) -> str | None:
    """Return why trees cannot be learnt, if so."""
    if find_spec("econml") is None:
        return NEED
    if not rows.context.shape[1]:
        return "needs a context"
    count = int(rows.allowed.sum())
    return f"takes at most {MOST} actions, of which there are {count}" if count > MOST else None


def take_tree(fitted: Any, allowed: Bools) -> TreeScorer:
    """Return a tree of EconML as arrays; actions that are not allowed have the worst of all scores."""
    tree = fitted.tree_
    known = np.asarray(tree.value, dtype=np.float64)[:, :, 0]
    values = np.full((len(known), len(allowed)), known.min() if known.size else 0.0)
    values[:, np.flatnonzero(allowed)] = known
    feature = np.where(tree.children_left < 0, -1, tree.feature).astype(np.intp)
    left, right = (np.asarray(side, dtype=np.intp) for side in (tree.children_left, tree.children_right))
    gains = np.asarray(tree.compute_feature_importances(normalize=False), dtype=np.float64)
    threshold = np.asarray(tree.threshold, dtype=np.float64)
    rows = np.asarray(tree.weighted_n_node_samples, dtype=np.float64)
    return TreeScorer(feature, threshold, left, right, values, np.maximum(gains, 0.0), rows)
