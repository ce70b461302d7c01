"""Policy: what to do in any context, as probabilities of all actions; it can be read, and saved without code."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfold.base import validation
from counterfold.base.arrays import Bools, Floats, is_numbers
from counterfold.base.atomic_files import require_place, write_whole
from counterfold.base.display import Plotted
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import list_names, list_some, show
from counterfold.policies.learned.available import read_available
from counterfold.policies.learned.features import Features
from counterfold.policies.learned.scorers import Scorer, explore_evenly
from counterfold.policies.learned.trees import TreeNode
from counterfold.policies.training_rows import LearntRows

ENDINGS = (".skops",)
"""How the name of a file with a policy ends."""


@dataclass(frozen=True, eq=False)
class Policy(Plotted):
    r"""A policy that was learnt from a log: the probability of each of its actions, by the context.

    $$\pi(a \mid x) = (1 - e) \bigl[ c\, \operatorname{softmax}_a(s(x, a)) + (1 - c)\, \hat\pi_0(a \mid x) \bigr]
      + \frac{e}{A(x)}$$

    where $s$ are the scores of `scorer`, of which one that `is_greedy` takes the highest alone, $c$ is the `share` of
    decisions that it takes itself, and $\hat\pi_0$ what was learnt of the logging policy by the scores of `logger`.
    A share `explore`, $e$, of the decisions is made at random among the $A(x)$ actions that can be taken, so that their
    log can judge other policies. Actions that are not `allowed` have probability 0. `learnt_rows` tell the rows that it
    was learnt from, on which `evaluate` refuses to value it. It can be a target of that as it is, or from the file that
    `save` writes: `cf.Skops("policy.skops")`.
    """

    labels: list[Any]
    features: Features
    scorer: Scorer
    is_greedy: bool
    allowed: Bools
    share: float
    logger: Scorer
    learnt_rows: LearntRows | None = None
    explore: float = 0.0

    @property
    def classes_(self) -> NDArray[Any]:
        """Return the labels of the actions, in the order of the columns of probabilities."""
        return np.array(self.labels)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Return the columns that it looks at, where contexts have names."""
        if not self.features.are_named:
            raise AttributeError("feature_names_in_")
        return np.array(self.features.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Return how many columns it looks at."""
        return len(self.features.names)

    def predict_proba(self, context: Any, available: Any = None) -> Floats:
        """Return the probability of every action (n x A) in some contexts.

        These are as they were in the log: a data frame or a mapping with the same columns, in any order, or a matrix if
        the log had one. `available` says which actions can be taken where, if not all can: columns of true and false
        by the labels of the actions, or a matrix (n x A) in their order.
        """
        numbers = self.features.encode(context)
        return self.decide(numbers, read_available(available, self.labels, len(numbers)))

    def decide(self, numbers: Floats, available: Bools | None = None) -> Floats:
        """Return the probability of every action in contexts that are encoded already."""
        possible = np.broadcast_to(self.allowed, (len(numbers), len(self.labels)))
        possible = possible if available is None else possible & available
        if not possible.any(axis=1).all():
            row = int(np.argmin(possible.any(axis=1)))
            raise DataError(
                f"every row must have an action that is allowed and available, got none first at row {row}."
            )
        probs = self.scorer.decide(numbers, possible, is_greedy=self.is_greedy)
        if self.share < 1:
            probs = self.share * probs + (1 - self.share) * self.logger.decide(numbers, possible, is_greedy=False)
        return explore_evenly(np.asarray(probs), possible, self.explore)

    def predict(self, context: Any, available: Any = None) -> NDArray[Any]:
        """Return the most likely action in each context, among those that can be taken there.

        If it is not always taken, as under limits, where a share is left to the logger, or where something is explored,
        that is another policy than the one that was valued: `draw` decides as that one does.
        """
        return np.asarray(self.classes_[self.predict_proba(context, available).argmax(axis=1)])

    def draw(self, context: Any, seed: Any = None, available: Any = None) -> tuple[NDArray[Any], Floats]:
        """Return an action for each context, drawn by its probability, and that probability, to be logged with it.

        `seed` is a whole number, or a generator of numpy's, which draws anew in every call.
        """
        if seed is not None and not isinstance(seed, np.random.Generator):
            validation.seeds(seed=seed)
        probs = self.predict_proba(context, available)
        below = probs.cumsum(axis=1)
        point = np.random.default_rng(seed).random(len(probs)) * below[:, -1]
        taken = (below <= point[:, None]).sum(axis=1)
        return self.classes_[taken], probs[np.arange(len(probs)), taken]

    def __repr__(self) -> str:
        return f"Policy({len(self.labels)} actions: {list_some(self.shown_labels, 8)})"

    def describe(self) -> str:
        """Return what people can read of the policy: a tree as nested conditions, others by what they look at most."""
        labels, tree = self.shown_labels, self.tree
        heading = self.scorer.heading if self.is_greedy else "by the softmax of these scores:"
        text = self.scorer.describe(self.features.shown, labels) if tree is None else str(tree)
        lines = [heading, text] if heading else [text]
        if self.share < 1:
            lines.append(f"{1 - self.share:.0%} of the decisions as the log took them, as far as its context tells")
        if self.explore:
            lines.append(f"{self.explore:.0%} of the decisions at random, so that their log can judge other policies")
        if not self.allowed.all():
            never = [label for label, good in zip(labels, self.allowed, strict=True) if not good]
            lines.append(f"never {', '.join(never)}")
        return "\n".join(lines)

    @property
    def shown_labels(self) -> list[str]:
        """Return the labels of the actions as people read them."""
        return [show(str(one)) for one in self.labels]

    @property
    def tree(self) -> TreeNode | None:
        """Return the questions by which it decides, if it is a tree."""
        return self.scorer.read_tree(self.features.splits, self.shown_labels)

    @property
    def importance(self) -> Mapping[str, float]:
        """Return how much each column of the context matters to the scores; the shares add up to 1, or are all 0."""
        shares = self.scorer.weigh_features(len(self.features.columns))
        return dict(zip(self.features.columns, shares.tolist(), strict=True))

    def require_sound(self) -> None:
        """Refuse what no policy of `learn` is; whoever asks expects any error, as a damaged file may hold anything."""
        width, n_actions = len(self.features.columns), len(self.labels)
        parts = {
            "labels": self.classes_.shape == (n_actions,),
            "features": self.features.is_sound,
            "scorer": self.scorer.is_sound(width, n_actions),
            "logger": self.logger.is_sound(width, n_actions),
            "allowed": is_numbers(self.allowed, n_actions, kinds="b") and self.allowed.any(),
            "share": 0 <= self.share <= 1,
            "explore": 0 <= self.explore <= 1,
            "is_greedy": isinstance(self.is_greedy, bool),
            "learnt_rows": self.learnt_rows is None or self.learnt_rows.is_sound,
        }
        damaged = [name for name, is_sound in parts.items() if not is_sound]
        if damaged:
            raise ValueError(f"the policy is damaged: {list_names(damaged)}")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the policy into a file of skops, which holds no code; an existing file is replaced as a whole."""
        write_whole("path", require_writable("path", path), self.dump())

    def dump(self) -> bytes:
        """Return what `save` writes."""
        from skops import io

        return bytes(io.dumps(self))


def require_writable(argument: str, path: Any) -> Path:
    """Return where a policy goes; refuse what is no place for one, and say what is not installed."""
    if find_spec("skops") is None:
        raise ParameterError("a file of skops needs skops: pip install 'counterfold[skops]'.")
    return require_place(argument, path, ENDINGS)
