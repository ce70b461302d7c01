"""Scorers: from contexts to a score for every action, the higher the better; all but one are made of arrays alone."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints, is_numbers
from counterfold.base.errors import ModelError, blame
from counterfold.log.encoding.base import Split, split_number
from counterfold.policies.learned.trees import TreeNode, is_tree

SURE = 1 - 1e-6
"""An action that is taken in this share of the decisions of a leaf is the only one that it shows."""

Splits = Sequence[Callable[[float], Split]]
"""What a threshold of each column means."""

LEAST = 1e-12
"""What is added to probabilities of a user's classifier before their logarithm is taken."""


class Scorer(ABC):
    """Gives every action a score, by the context."""

    @property
    def heading(self) -> str:
        """Return what stands above its description, where the best action is taken."""
        return "by the highest of these scores:"

    @abstractmethod
    def score(self, context: Floats) -> Floats:
        """Return a score for every action (n x A)."""

    @abstractmethod
    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        """Return what people can read of it."""

    def read_tree(self, splits: Splits, labels: Sequence[str], prices: "Prices | None" = None) -> TreeNode | None:
        """Return the tree of questions that it is, if it is one, at some prices of actions."""
        return None

    @abstractmethod
    def weigh_features(self, width: int) -> Floats:
        """Return how much each of so many columns matters, with a sum of 1, or 0 if none does."""

    def is_sound(self, width: int, n_actions: int) -> bool:
        """Say whether it can score so many actions by so many columns; it may come from a file that is damaged."""
        return True

    def decide(self, context: Floats, possible: Bools, *, is_greedy: bool) -> Floats:
        """Return the probabilities of actions (n x A), 0 for those that are not possible."""
        return choose(self.score(context), possible, is_greedy=is_greedy)


class Prices(NamedTuple):
    """Prices of actions (m x A), each line of which holds in one of the `shares` of decisions."""

    values: Floats
    shares: Floats


@dataclass(frozen=True, eq=False)
class PricedScorer(Scorer):
    """Scores less a price for each action, so that a policy keeps to limits.

    There may be several `prices` (m x A), each of which holds in one of the `shares` of decisions.
    """

    scorer: Scorer
    prices: Floats
    shares: Floats

    @property
    def heading(self) -> str:
        return self.scorer.heading

    def score(self, context: Floats) -> Floats:
        return np.asarray(self.scorer.score(context) - self.shares @ self.prices)

    def decide(self, context: Floats, possible: Bools, *, is_greedy: bool) -> Floats:
        scores, found = self.scorer.score(context), np.zeros(possible.shape)
        for prices, share in zip(self.prices, self.shares, strict=True):
            found += share * choose(scores - prices, possible, is_greedy=is_greedy)
        return found

    def read_tree(self, splits: Splits, labels: Sequence[str], prices: Prices | None = None) -> TreeNode | None:
        return self.scorer.read_tree(splits, labels, Prices(self.prices, self.shares))

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        shares: dict[str, float] = {}  # prices that differ in more digits than are shown are one line
        for prices, share in zip(self.prices, self.shares, strict=True):
            known = ", ".join(f"{price:.3g} for {label}" for label, price in zip(labels, prices, strict=True) if price)
            shares[known] = shares.get(known, 0.0) + float(share)
        lines = [self.scorer.describe(features, labels)]
        for known, share in shares.items():
            often = "" if len(shares) == 1 else f" in {share:.0%} of the decisions"
            lines += [f"less the prices {known}{often}, to keep to limits"] if known else []
        return "\n".join(lines)

    def weigh_features(self, width: int) -> Floats:
        return self.scorer.weigh_features(width)

    def is_sound(self, width: int, n_actions: int) -> bool:
        fits = is_numbers(self.shares, len(self.shares)) and is_numbers(self.prices, len(self.shares), n_actions)
        return fits and self.scorer.is_sound(width, n_actions)


@dataclass(frozen=True, eq=False)
class LinearScorer(Scorer):
    """Scores that are linear in the context: `intercepts` (A) and `slopes` (d x A); `spread` is that of each column."""

    intercepts: Floats
    slopes: Floats
    spread: Floats

    @classmethod
    def of_scaled(cls, intercepts: Floats, slopes: Floats, centre: Floats, scale: Floats) -> "LinearScorer":
        """Return the same scores of columns as they are, from those of columns that were centred and scaled."""
        own = slopes / scale[:, None]
        return cls(intercepts - centre @ own, own, scale)

    def score(self, context: Floats) -> Floats:
        return np.asarray(context @ self.slopes + self.intercepts)

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        lines = []
        for label, level, slopes in zip(labels, self.intercepts, self.slopes.T, strict=True):
            order = np.argsort(-np.abs(slopes * self.spread), kind="stable")[:5]
            terms = "".join(f" {slopes[at]:+.3g} * {features[at]}" for at in order if slopes[at])
            lines.append(f"{label}: {level:.3g}{terms}{' + ...' if np.count_nonzero(slopes) > 5 else ''}")
        return "\n".join(lines)

    def weigh_features(self, width: int) -> Floats:
        apart = self.slopes - self.slopes.mean(axis=1, keepdims=True)  # what all actions share decides nothing
        return share_out(np.abs(apart * self.spread[:, None]).mean(axis=1))

    def is_sound(self, width: int, n_actions: int) -> bool:
        fits = is_numbers(self.intercepts, n_actions) and is_numbers(self.slopes, width, n_actions)
        return fits and is_numbers(self.spread, width)


@dataclass(frozen=True, eq=False)
class TreeScorer(Scorer):
    """A decision tree: in node k, rows with `feature[k]` at most `threshold[k]` go `left[k]`, others `right[k]`.

    `feature` is -1 in leaves. `values` (nodes x A) are the mean scores of the rows there, `rows` how many these are,
    and `gains` how much each column's splits earn in all.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    values: Floats
    gains: Floats
    rows: Floats

    @property
    def heading(self) -> str:
        return ""

    def score(self, context: Floats) -> Floats:
        node = np.zeros(len(context), dtype=np.intp)
        rows = np.arange(len(context))
        while len(rows := rows[self.feature[node[rows]] >= 0]):
            at = node[rows]
            goes_left = context[rows, self.feature[at]] <= self.threshold[at]
            node[rows] = np.where(goes_left, self.left[at], self.right[at])
        return np.asarray(self.values[node])

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        return str(self.read_tree([partial(split_number, name) for name in features], labels))

    def read_tree(self, splits: Splits, labels: Sequence[str], prices: Prices | None = None) -> TreeNode:
        known = Prices(np.zeros((1, len(labels))), np.ones(1)) if prices is None else prices
        best = (self.values[:, None, :] - known.values).argmax(axis=2)  # at each of the prices, in each node
        often = (np.eye(len(labels))[best] * known.shares[:, None]).sum(axis=1)
        taken = [write_shares(labels, line) for line in often.tolist()]
        return self._read_node(0, splits, taken)

    def _read_node(self, node: int, splits: Splits, taken: Sequence[str]) -> TreeNode:
        at, share = int(self.feature[node]), float(self.rows[node] / self.rows[0])
        if at < 0:
            return TreeNode(taken[node], share)
        left, right = (self._read_node(int(side[node]), splits, taken) for side in (self.left, self.right))
        if str(left) == str(right):  # they differ in what they expect, and not in what they do
            return left.join(right)
        split = splits[at](float(self.threshold[node]))
        both = (left, right) if split.holds_below else (right, left)
        return TreeNode(split.words, share, *both, split.otherwise)

    def weigh_features(self, width: int) -> Floats:
        return share_out(self.gains)

    def is_sound(self, width: int, n_actions: int) -> bool:
        nodes = len(self.feature)
        return (
            all(is_numbers(one, nodes, kinds="i") for one in (self.feature, self.left, self.right))
            and all(is_numbers(one, nodes) for one in (self.threshold, self.rows))
            and is_numbers(self.values, nodes, n_actions)
            and is_numbers(self.gains, width)
            and bool((self.feature < width).all())
            and is_tree(self.feature >= 0, self.left, self.right)
        )


@dataclass(frozen=True, eq=False)
class ForestScorer(Scorer):
    """The mean scores of several trees."""

    trees: list[TreeScorer]

    def score(self, context: Floats) -> Floats:
        return np.asarray(sum(tree.score(context) for tree in self.trees) / len(self.trees))

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        shares = self.weigh_features(len(features))
        order = [at for at in np.argsort(-shares, kind="stable")[:10] if shares[at] > 0]
        parts = [f"{features[at]} {shares[at]:.0%}" for at in order]
        return f"{len(self.trees)} trees, which look at: {', '.join(parts) or 'nothing'}"

    def weigh_features(self, width: int) -> Floats:
        return share_out(np.sum([tree.weigh_features(width) for tree in self.trees], axis=0))

    def is_sound(self, width: int, n_actions: int) -> bool:
        return len(self.trees) > 0 and all(tree.is_sound(width, n_actions) for tree in self.trees)


@dataclass(frozen=True, eq=False)
class ClassifierScorer(Scorer):
    """The logarithms of the probabilities that a fitted classifier gives its classes, which are codes of actions."""

    model: Any
    n_actions: int

    def score(self, context: Floats) -> Floats:
        if not len(context):
            return np.empty((0, self.n_actions))
        name = type(self.model).__name__
        with blame(ModelError, "the method `predict_proba` of `{}`", name):
            found = np.asarray(self.model.predict_proba(context), dtype=np.float64)
            codes = np.asarray(self.model.classes_, dtype=np.intp)
        if found.shape != (len(context), len(codes)) or not np.isfinite(found).all() or (found < 0).any():
            rule = f"predict a probability for each of {len(codes)} classes in each of {len(context)} rows"
            raise ModelError(f"the classifier {name} must {rule}, got shape {found.shape}.")
        probs = np.zeros((len(context), self.n_actions))
        probs[:, codes] = found
        return np.log(probs + LEAST)

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        return f"the classifier {self.model!r}"

    def weigh_features(self, width: int) -> Floats:
        shown = getattr(self.model, "feature_importances_", None)
        if shown is None and hasattr(self.model, "coef_"):
            shown = np.abs(np.atleast_2d(self.model.coef_)).mean(axis=0)
        return np.zeros(width) if shown is None else share_out(np.asarray(shown, dtype=np.float64))

    def is_sound(self, width: int, n_actions: int) -> bool:
        return bool(self.n_actions == n_actions)


def write_shares(labels: Sequence[str], often: Sequence[float]) -> str:
    """Return what is taken how often, or the only thing that is.

    >>> write_shares(["a", "b"], [0.25, 0.75]), write_shares(["a", "b"], [0.0, 1.0])
    ('a (25%) or b (75%)', 'b')
    """
    sure = next((label for label, share in zip(labels, often, strict=True) if share > SURE), None)
    return sure or " or ".join(f"{label} ({share:.0%})" for label, share in zip(labels, often, strict=True) if share)


def share_out(weights: Floats) -> Floats:
    """Return weights with a sum of 1, unless all are 0."""
    total = weights.sum()
    return np.asarray(weights / total if total else weights)


def share_evenly(possible: Bools) -> Floats:
    """Return probabilities that are the same for all possible actions of a row (n x A)."""
    return np.asarray(possible / possible.sum(axis=1, keepdims=True))


def explore_evenly(probs: Floats, possible: Bools, share: float) -> Floats:
    """Return decisions (n x A), of which a share is made at random among the possible actions."""
    return probs if share == 0 else (1 - share) * probs + share * share_evenly(possible)


def choose(scores: Floats, possible: Bools, *, is_greedy: bool) -> Floats:
    """Return the probabilities that scores give to possible actions: a softmax, or the best one alone."""
    masked = np.where(possible, scores, -np.inf)
    if is_greedy:
        return np.asarray(np.eye(scores.shape[1])[masked.argmax(axis=1)])
    shifted = np.exp(masked - masked.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
