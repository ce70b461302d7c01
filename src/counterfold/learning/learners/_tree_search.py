"""Greedy search for a policy tree: the splits after which one action for each part has the largest total score."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.policies.learned.scorers import TreeScorer

MAX_BINS = 256
"""Into how many bins the values of a column are cut at most; columns with fewer different values are cut exactly."""


class Split(NamedTuple):
    """A split of some rows: what it gains, the column, the last bin that goes left, and its threshold."""

    gain: float
    column: int
    last_bin: int
    threshold: float


@dataclass(frozen=True, eq=False)
class TreeSearch:
    """Rows to split: the bin of each row in each column (d x n), the scores of all actions (n x A).

    - `thresholds`: for each column, the thresholds between neighbouring bins.
    - `counts`: how many decisions each row stands for.
    - `smallest_leaf`: the fewest rows in a leaf.
    """

    bins: list[Ints]
    thresholds: list[Floats]
    scores: Floats
    counts: Floats
    smallest_leaf: int
    nodes: list["Node"] = field(default_factory=list)

    @classmethod
    def of(cls, context: Floats, scores: Floats, counts: Floats | None, smallest_leaf: int) -> "TreeSearch":
        """Return the search on some rows."""
        row_counts = np.ones(len(scores)) if counts is None else counts
        thresholds = [find_thresholds(column) for column in context.T]
        bins = [np.searchsorted(cuts, column) for cuts, column in zip(thresholds, context.T, strict=True)]
        return cls(bins, thresholds, scores * row_counts[:, None], row_counts, smallest_leaf)

    def grow(self, index: Ints, depth: int) -> int:
        """Add the best tree of some rows to the nodes, parents before children, and return the place of its root."""
        place = len(self.nodes)
        split = self.find_split(index) if depth else None
        node = Node(index=index, split=split)
        self.nodes.append(node)
        if split is not None:
            goes_left = self.bins[split.column][index] <= split.last_bin
            node.left = self.grow(index[goes_left], depth - 1)
            node.right = self.grow(index[~goes_left], depth - 1)
        return place

    def find_split(self, index: Ints) -> Split | None:
        """Return the split of some rows with the largest gain; nothing where none gains anything."""
        if len(index) < 2 * self.smallest_leaf:
            return None
        scores = np.ascontiguousarray(self.scores[index].T)
        totals = scores.sum(axis=1)
        best: Split | None = None
        for column, cuts in enumerate(self.thresholds):
            if not len(cuts):
                continue
            bins = self.bins[column][index]
            sums = np.array([np.bincount(bins, weights=line, minlength=len(cuts) + 1) for line in scores])
            n_left = np.bincount(bins, minlength=len(cuts) + 1).cumsum()[:-1]
            left = sums.cumsum(axis=1)[:, :-1]
            gains = left.max(axis=0) + (totals[:, None] - left).max(axis=0) - totals.max()
            is_large = (n_left >= self.smallest_leaf) & (len(index) - n_left >= self.smallest_leaf)
            gains = np.where(is_large, gains, 0.0)
            last_bin = int(gains.argmax())
            if gains[last_bin] > (0.0 if best is None else best.gain):
                best = Split(float(gains[last_bin]), column, last_bin, float(cuts[last_bin]))
        return best

    def collect(self, width: int) -> TreeScorer:
        """Return the tree that was grown as arrays, with the mean scores of each node."""
        gains = np.zeros(width)
        for node in self.nodes:
            if node.split is not None:
                gains[node.split.column] += node.split.gain
        totals = np.array([self.scores[node.index].sum(axis=0) for node in self.nodes])
        rows = np.array([self.counts[node.index].sum() for node in self.nodes])
        return TreeScorer(
            feature=np.array([-1 if node.split is None else node.split.column for node in self.nodes], dtype=np.intp),
            threshold=np.array([0.0 if node.split is None else node.split.threshold for node in self.nodes]),
            left=np.array([node.left for node in self.nodes], dtype=np.intp),
            right=np.array([node.right for node in self.nodes], dtype=np.intp),
            values=totals / rows[:, None],
            gains=gains,
            rows=rows,
        )


@dataclass(eq=False)
class Node:
    """The rows that come to a node, how it splits them if it does, and the places of its children."""

    index: Ints
    split: Split | None
    left: int = -1
    right: int = -1


def find_thresholds(column: Floats) -> Floats:
    """Return the thresholds between values of a column: all midpoints, or so many quantiles if there are too many.

    >>> find_thresholds(np.array([3.0, 1.0, 2.0, 1.0]))
    array([1.5, 2.5])
    """
    values = np.unique(column)
    if len(values) > MAX_BINS:
        places = np.linspace(0, len(column) - 1, MAX_BINS + 1)[1:-1].astype(np.intp)
        lower = np.unique(np.sort(column)[places])
        upper = values[np.minimum(np.searchsorted(values, lower, side="right"), len(values) - 1)]
        middle = lower + (upper - lower) / 2
        return middle[upper > lower]
    return values[:-1] + (values[1:] - values[:-1]) / 2


def widen_tree(tree: TreeScorer, allowed: Bools) -> TreeScorer:
    """Return a tree of the allowed actions as one of all actions; the others have the worst of all scores."""
    values = np.full((len(tree.values), len(allowed)), tree.values.min())
    values[:, allowed] = tree.values
    return replace(tree, values=values)
