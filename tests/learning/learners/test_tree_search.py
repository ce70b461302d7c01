"""The search for a policy tree finds the splits that a loop over all of them finds."""

import numpy as np
import pytest

from counterfold.learning.learners._tree_search import MAX_BINS, TreeSearch, find_thresholds


def find_best_by_loop(context, scores, counts, smallest):
    """Return the largest total score of two parts with an action each, over all splits of all columns."""
    weighted = scores * counts[:, None]
    best = (0.0, None, None)
    for column in range(context.shape[1]):
        for value in sorted(set(context[:, column].tolist()))[:-1]:
            left = [row for row in range(len(context)) if context[row, column] <= value]
            right = [row for row in range(len(context)) if context[row, column] > value]
            if min(len(left), len(right)) < smallest:
                continue
            total = max(weighted[left].sum(axis=0)) + max(weighted[right].sum(axis=0)) - max(weighted.sum(axis=0))
            if total > best[0] + 1e-12:
                best = (total, column, value)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_the_first_split_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    context = np.round(rng.normal(size=(60, 3)), 1)
    scores, counts = rng.normal(size=(60, 4)), rng.integers(1, 4, 60).astype(float)
    split = TreeSearch.of(context, scores, counts, 7).find_split(np.arange(60))
    gain, column, value = find_best_by_loop(context, scores, counts, 7)
    assert split.gain == pytest.approx(gain)
    assert split.column == column
    above = context[:, column][context[:, column] > value].min()
    assert value <= split.threshold < above


def test_a_tree_has_leaves_that_are_large_enough_and_scores_of_their_rows():
    rng = np.random.default_rng(0)
    context, scores = rng.normal(size=(300, 2)), rng.normal(size=(300, 3))
    scores[:, 1] += np.where(context[:, 0] > 0, 1.0, -1.0)
    search = TreeSearch.of(context, scores, None, 20)
    search.grow(np.arange(300), 3)
    tree = search.collect(2)
    assert tree.is_sound(2, 3)
    leaves = tree.feature < 0
    assert tree.rows[leaves].min() >= 20
    assert tree.rows[leaves].sum() == 300
    found = tree.score(context)
    for line in np.unique(found, axis=0):
        rows = (found == line).all(axis=1)
        np.testing.assert_allclose(line, scores[rows].mean(axis=0))


def test_nothing_is_split_where_nothing_is_gained():
    search = TreeSearch.of(np.zeros((40, 2)), np.random.default_rng(0).normal(size=(40, 2)), None, 5)
    search.grow(np.arange(40), 2)
    assert search.collect(2).feature.tolist() == [-1]


def test_columns_of_many_values_are_cut_at_quantiles():
    column = np.random.default_rng(0).normal(size=5000)
    thresholds = find_thresholds(column)
    assert MAX_BINS - 3 < len(thresholds) < MAX_BINS
    assert not np.isin(thresholds, column).any()
    shares = np.diff(np.searchsorted(np.sort(column), thresholds)) / len(column)
    assert shares.max() < 1.2 / MAX_BINS
    heavy = np.concatenate([np.zeros(9000), column[:500]])
    assert len(find_thresholds(heavy)) > 10
