"""What policy trees and forests of EconML share: they are learnt there, and kept as arrays here."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from counterfold.base.arrays import Bools
from counterfold.learning.learners.base import TrainingRows
from counterfold.policies.learned.scorers import TreeScorer

MAX_ACTIONS = 100
"""The largest number of actions: trees take room and time for each."""

NEED = "needs EconML: pip install 'counterfold[learn]'"


def explain_lack(rows: TrainingRows) -> str | None:
    """Return why trees cannot be learnt, if so."""
    if find_spec("econml") is None:
        return NEED
    if not rows.context.shape[1]:
        return "needs a context"
    n_allowed = int(rows.allowed.sum())
    return f"takes at most {MAX_ACTIONS} actions, of which there are {n_allowed}" if n_allowed > MAX_ACTIONS else None


def take_tree(fitted: Any, allowed: Bools) -> TreeScorer:
    """Return a tree of EconML as arrays; actions that are not allowed have the worst of all scores."""
    tree = fitted.tree_
    own_values = np.asarray(tree.value, dtype=np.float64)[:, :, 0]
    values = np.full((len(own_values), len(allowed)), own_values.min() if own_values.size else 0.0)
    values[:, np.flatnonzero(allowed)] = own_values
    gains = np.asarray(tree.compute_feature_importances(normalize=False), dtype=np.float64)
    return TreeScorer(
        feature=np.where(tree.children_left < 0, -1, tree.feature).astype(np.intp),
        threshold=np.asarray(tree.threshold, dtype=np.float64),
        left=np.asarray(tree.children_left, dtype=np.intp),
        right=np.asarray(tree.children_right, dtype=np.intp),
        values=values,
        gains=np.maximum(gains, 0.0),
        rows=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
    )
