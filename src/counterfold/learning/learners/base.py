"""Learner: makes scores of actions from logged rows; TrainingRows: what it learns from."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar

import numpy as np

from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.errors import ParameterError, blame, is_own
from counterfold.base.messages import abbreviate, shorten
from counterfold.base.validation import freeze
from counterfold.learning.learners._feature_ridge import fit_reward_scorer, take_components
from counterfold.log.log import Log
from counterfold.models.base import Examples
from counterfold.models.cross_fitted import CrossFitted
from counterfold.models.shared_ridge import SharedRidge
from counterfold.policies.learned.scorers import LinearScorer, Scorer

SCORE_BITS = 37
"""The number of bits of the scores that trees are trained on."""

MAX_SETTING_LENGTH = 200
"""The largest number of characters of a setting in a name."""

PLACED = re.compile(r"<(?:<locals>\.|\w+\.)*(\w+) object at 0x\w+>| at 0x\w+(?=>)")
"""What Python writes of an object that has no text of its own: its class, and its place in memory."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    r"""The rows that a policy is trained on, and what several learners need of them.

    - `examples`: the rows as reward models see them, with the weights of a target that takes all actions equally often,
      so that models are right for all actions. They have no probabilities, because a policy does not see them either.
    - `propensity`: the probabilities of the logged actions.
    - `logging_probs`: the probabilities of all actions (n x A), without columns if they are unknown.
    - `allowed`: which actions a policy may take at all.
    - `action_features`: principal components of the features of actions (A x k), without columns if there are none.
    - `labels`: the labels of the actions as text.
    """

    examples: Examples
    propensity: Floats
    logging_probs: Floats
    allowed: Bools
    action_features: Floats
    labels: Sequence[str] = ()

    @classmethod
    def of(cls, log: Log, allowed: Bools) -> "TrainingRows":
        """Return all rows of a log."""
        n_actions = len(log.actions)
        nothing = np.empty((len(log), 0))
        ids = np.arange(len(log)) if log.row_numbers is None else log.row_numbers
        examples = Examples(
            ids=ids,
            units=ids if log.group is None else log.group,
            context=log.context,
            actions=log.action,
            rewards=log.reward,
            doses=nothing,
            importance=freeze(1 / (n_actions * log.propensity)),
            target_probs=nothing,
            logging_probs=nothing,
            n_actions=n_actions,
            counts=log.counts,
        )
        action_features = np.empty((n_actions, 0))
        if log.action_features is not None:
            action_features = take_components(log.action_features, examples.context.shape[1])
        return cls(
            examples=examples,
            propensity=log.propensity,
            logging_probs=nothing if log.logging_probs is None else log.logging_probs,
            allowed=allowed,
            action_features=action_features,
            labels=[str(label) for label in log.actions],
        )

    def __len__(self) -> int:
        return len(self.propensity)

    def take(self, index: Ints) -> "TrainingRows":
        """Return some of the rows."""
        return replace(
            self,
            examples=self.examples.take(index),
            propensity=self.propensity[index],
            logging_probs=self.logging_probs[index],
        )

    @property
    def context(self) -> Floats:
        """The contexts (n x d)."""
        return self.examples.context

    @cached_property
    def reward_scorer(self) -> LinearScorer:
        """The predicted reward of every action, by ridge regressions on all rows, and by features of the actions."""
        return fit_reward_scorer(self.examples, self.action_features)

    @cached_property
    def robust_scores(self) -> Floats:
        r"""The doubly robust score of every action (n x A), whose mean over rows estimates what taking it earns.

        $$\Gamma_{ia} = \hat q^{(-f(i))}(x_i, a) + \frac{1[a_i = a]}{p_i} (r_i - \hat q^{(-f(i))}(x_i, a))$$

        with predictions by models that never saw the row, and $1 / p_i$ at most the root of the number of rows, so that
        no row decides alone. They are rounded, because the last bits of a regression differ from one machine to
        another, and trees break ties by them.
        """
        scores = CrossFitted(SharedRidge()).predictions(self.examples)  # no target yet, where few rows could tell of it
        rows, actions = np.arange(len(self)), self.examples.actions
        weights = np.minimum(1 / self.propensity, max(np.sqrt(len(self)), 1.0))
        scores[rows, actions] += weights * (self.examples.rewards - scores[rows, actions])
        return round_scores(scores)


def mean_rewards(rows: TrainingRows) -> Floats:
    """Return the mean reward of each action; an action without rows has the least of the others."""
    examples = rows.examples
    counts = np.ones(len(rows)) if examples.counts is None else examples.counts
    n_rows = np.bincount(examples.actions, weights=counts, minlength=examples.n_actions)
    totals = np.bincount(examples.actions, weights=counts * examples.rewards, minlength=examples.n_actions)
    means = totals / np.where(n_rows > 0, n_rows, 1.0)
    return np.where(n_rows > 0, means, means[n_rows > 0].min())


def round_scores(scores: Floats) -> Floats:
    """Return scores with `SCORE_BITS` bits relative to their range, so that sums of a few thousand are exact.

    >>> round_scores(np.array([0.0, 1 / 3, 1.0])) * 2**36 % 1
    array([0., 0., 0.])
    """
    spread = float(np.ptp(scores)) if scores.size else 0.0
    if not 0 < spread < np.inf:
        return scores
    exponent = math.frexp(spread)[1] - SCORE_BITS
    return np.ldexp(np.round(np.ldexp(scores, -exponent)), exponent)


def example_training_rows() -> TrainingRows:
    """Return 40 rows with one column of context, by which the second of two actions was likelier where it is large.

    It earned more there, too: the context times 1 if it was taken, and 1 otherwise.
    """
    context = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    chance = 0.2 + 0.2 * context
    action = (np.tile(np.arange(10), 4) < 10 * chance - 0.5).astype(np.intp)
    probs = np.column_stack([1 - chance, chance])
    log = Log(context=context[:, None], action=action, reward=np.where(action, context, 1.0), logging_probs=probs)
    return TrainingRows.of(log, np.ones(2, dtype=bool))


class Learner(ABC):
    """A way to learn a policy, scikit-learn shaped: parameters are fields, and `fit` learns from rows."""

    extra: ClassVar[str | None] = None
    """The package that it needs besides those that are always there."""

    sees_rewards: bool = True
    """Whether it learns from rewards, so that what it learnt looks better on the same rows than it is."""

    complexity: int = 5
    """How hard a policy is to read: 0 for one action, 1 for a few conditions, 2 and 3 for linear scores, more for all
    others. Of policies that earn the same within noise, the one with the smallest number is preferred."""

    is_greedy: bool = True
    """Whether the action with the highest score is taken; otherwise probabilities are the softmax of the scores."""

    @property
    def name(self) -> str:
        """Return what it is called, with the settings that are not the usual ones."""
        name = type(self).__name__
        if not is_dataclass(self):  # a user's own learner need not be one
            return name
        own_settings = []
        for field in fields(self):
            value = getattr(self, field.name)
            if not is_usual(value, find_default(field)):
                own_settings.append(f"{field.name}={describe(value)}")
        return f"{name}({', '.join(own_settings)})" if own_settings else name

    def explain_lack(self, rows: TrainingRows) -> str | None:
        """Return why it does not apply to a log, if so."""
        return None

    @abstractmethod
    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        """Return the scores of actions that it learns from the rows."""


def name_with(learner: Learner, model: object, usual: object) -> str:
    """Return what a learner is called, with its model unless that is the usual one."""
    name = type(learner).__name__
    return name if is_usual(model, usual) else f"{name}({describe(model).removesuffix('()')})"


def find_default(field: Any) -> Any:
    """Return the default of a field of a dataclass."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def is_usual(value: object, usual: object) -> bool:
    """Say whether a setting is the usual one, by its text or because it equals it."""
    return describe(value) == describe(usual) or (value == usual) is True


def describe(value: object) -> str:
    """Return a setting as text that is the same in every run.

    >>> describe({"a": object()}), describe(len)
    ("{'a': object}", '<built-in function len>')
    """
    return abbreviate(PLACED.sub(r"\1", " ".join(repr(value).split())), MAX_SETTING_LENGTH)


def fit_learner(learner: Learner, rows: TrainingRows, seed: int) -> Scorer:
    """Return what a learner learns from the rows; a user's own may raise anything, or return no scores."""
    if is_own(type(learner)):
        return learner.fit(rows, seed)
    name = type(learner).__name__
    with blame(ParameterError, "the learner {}", name):
        scorer: Any = learner.fit(rows, seed)
    if not isinstance(scorer, Scorer):
        raise ParameterError(
            f"the learner {name} must return a `Scorer` of `policies/scorers.py`, got {shorten(scorer)}."
        )
    with blame(ParameterError, "the scorer of the learner {}", name):
        scores = np.asarray(scorer.score(rows.context[:1]), dtype=np.float64)
    if scores.shape != (1, rows.examples.n_actions) or not np.isfinite(scores).all():
        rule = f"return a finite score for each of {rows.examples.n_actions} actions"
        raise ParameterError(f"the learner {name} must {rule}, got {shorten(scores)} in a row.")
    return scorer
