"""Scorers: from contexts to a score for every action, the higher the better; all but one are made of arrays alone."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfold.arrays import Floats, Ints
from counterfold.errors import ModelError, blame

LEAST = 1e-12
"""What is added to probabilities of a user's classifier before their logarithm is taken."""


class Scorer(ABC):
    """Gives every action a score, by the context."""

    heading: ClassVar[str] = "by the highest of these scores:"
    """What stands above its description, where the best action is taken."""

    @abstractmethod
    def score(self, context: Floats) -> Floats:
        """Return a score for every action (n x A)."""

    @abstractmethod
    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        """Return what people can read of it."""

    @abstractmethod
    def weigh_features(self, width: int) -> Floats:
        """Return how much each of so many columns matters, with a sum of 1, or 0 if none does."""


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


@dataclass(frozen=True, eq=False)
class TreeScorer(Scorer):
    """A decision tree: in node k, rows with `feature[k]` at most `threshold[k]` go `left[k]`, others `right[k]`.

    `feature` is -1 in leaves. `values` (nodes x A) are the mean scores of the rows there, and `gains` how much each
    column's splits earn in all.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    values: Floats
    gains: Floats
    heading = ""

    def score(self, context: Floats) -> Floats:
        node = np.zeros(len(context), dtype=np.intp)
        rows = np.arange(len(context))
        while len(rows := rows[self.feature[node[rows]] >= 0]):
            at = node[rows]
            goes_left = context[rows, self.feature[at]] <= self.threshold[at]
            node[rows] = np.where(goes_left, self.left[at], self.right[at])
        return np.asarray(self.values[node])

    def describe(self, features: Sequence[str], labels: Sequence[str]) -> str:
        return "\n".join(self._describe_node(0, features, labels))

    def _describe_node(self, node: int, features: Sequence[str], labels: Sequence[str]) -> list[str]:
        at = int(self.feature[node])
        if at < 0:
            return [f"take {labels[int(self.values[node].argmax())]}"]
        sides = int(self.left[node]), int(self.right[node])
        left, right = (self._describe_node(side, features, labels) for side in sides)
        if left == right:
            return left  # they differ in what they expect, and not in what they do
        condition = f"if {features[at]} <= {self.threshold[node]:.4g}:"
        return [condition, *(f"  {line}" for line in left), "else:", *(f"  {line}" for line in right)]

    def weigh_features(self, width: int) -> Floats:
        return share_out(self.gains)


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


@dataclass(frozen=True, eq=False)
class ClassifierScorer(Scorer):
    """The logarithms of the probabilities that a fitted classifier gives its classes, which are codes of actions."""

    model: Any
    n_actions: int

    def score(self, context: Floats) -> Floats:
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


def share_out(weights: Floats) -> Floats:
    """Return weights with a sum of 1, unless all are 0."""
    total = weights.sum()
    return np.asarray(weights / total if total else weights)
