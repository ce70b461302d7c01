"""Rows: the data of one log, one target and one reward model that estimators use."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterfold.base.arrays import Floats, Ints, row_sums, stack_columns, take_rows
from counterfold.base.cached import cached_property, copy_with
from counterfold.base.errors import ModelError, blame
from counterfold.base.validation import SMALLEST_SPREAD, freeze
from counterfold.estimators.needs import KINDS, NEEDS, Need
from counterfold.log import kernels
from counterfold.log.log import Kind, Log
from counterfold.log.logger_checks import Loggers
from counterfold.log.propensities import Precision
from counterfold.models.base import Examples, Lazy, Pulls, Refits, RewardModel, check_predictions
from counterfold.policies.given.base import Target
from counterfold.policies.training_rows import LearntRows

USUAL_SHARE = 0.8
"""A reward is the usual one if at least this share of the rows has it."""

FIELDS_BY_ROW = (
    "weights",
    "propensity",
    "unsupported",
    "groups",
    "row_numbers",
    "counts",
    "times",
    "identifiers",
    "segments",
    "recognised",
)
"""The fields of `Rows` with one line per row, apart from the examples of the reward model. Some may be missing."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The vectors that formulas are written in; reward predictions are computed when first needed.

    Some data is optional, and `has` returns whether it is available.

    - `examples`: the rows as reward models see them, with rewards, actions and the probabilities of both policies.
      `target_probs` and `logging_probs` (n x A) have no columns if only the probabilities of logged actions are
      available. Where actions are doses, the columns of `q` and `target_probs` are the logged dose and the doses of the
      target.
    - `weights`: the importance weights; for doses they are smoothed by the rule of thumb.
    - `propensity`: the probability of the logged action.
    - `action_features` (A x k): without columns if there are none.
    - `unsupported`: per row, the target's probability of actions that the log could never take, if it can be computed.
    - `loggers`: the logging policies, if there are several.
    - `model`: the reward model. `q` (n x A), `q_logged` (its prediction for the logged action) and `q_policy` (its mean
      under the target) need one.
    - `groups`: the group of each row, if rows belong to groups.
    - `row_numbers`: the places of the rows in the log.
    - `labels`: the actions by their codes.
    - `counts`: the number of decisions that each row stands for, if some rows were more likely to be kept than others.
    - `precision`: the precision of propensities that were counted in draws or rounded.
    - `times`: when each row was decided, in microseconds since 1970. They give only the order unless `has_days`.
    - `identifiers` (n x k): hashes of users or sessions that nobody named as groups; -1 where one is missing.
    - `segments` (n x k): the segment of each row in each of k columns, if the user asked for segments.
    - `recognised` (n x k x 3): the relation of each row to each policy of a mixed target that was trained on
      `learnt_rows`.
    - `refit`: predictions of a model that was refitted on these rows; computed when first needed.
    - `whole`: all rows, or the sample of them, for formulas that need more than these rows.
    - `stands_for`: the number of rows in the log if these are a sample of it.
    """

    examples: Examples
    weights: Floats
    propensity: Floats
    action_features: Floats
    unsupported: Floats | None
    loggers: Loggers | None
    model: RewardModel | None
    groups: Ints | None
    row_numbers: Ints
    labels: tuple[Any, ...] = ()
    counts: Floats | None = None
    precision: Precision | None = None
    times: Floats | None = None
    has_days: bool = False
    identifiers: Ints | None = None
    segments: Ints | None = None
    recognised: Ints | None = None
    learnt_rows: tuple[LearntRows, ...] = ()
    refit: Lazy | None = None
    whole: "Rows | None" = None
    stands_for: int | None = None

    @classmethod
    def of(cls, log: Log, target: Target, model: RewardModel | None) -> "Rows":
        """Return all rows of a log."""
        ids = freeze(np.arange(len(log)))
        doses, target_probs = target.lay_out(log)
        n_actions = doses.shape[1] or len(log.actions)
        weights = target.logged / log.propensity
        # The square of a smaller weight would be 0.
        weights = freeze(np.where(weights < SMALLEST_SPREAD, 0.0, weights))
        examples = Examples(
            ids=ids,
            units=log.row_units if log.group is None else log.group,
            context=log.context,
            actions=log.action,
            rewards=log.reward,
            doses=doses,
            importance=weights,
            target_probs=target_probs,
            logging_probs=np.empty((len(log), 0)) if log.logging_probs is None else log.logging_probs,
            n_actions=n_actions,
            counts=log.counts,
            normal_scores=log.normal_scores,
        )
        return cls(
            examples=examples,
            weights=weights,
            propensity=log.propensity,
            action_features=np.empty((n_actions, 0)) if log.action_features is None else log.action_features,
            unsupported=target.find_unsupported(log),
            loggers=log.loggers,
            model=model,
            groups=log.group,
            row_numbers=ids if log.row_numbers is None else log.row_numbers,
            labels=log.actions,
            counts=log.counts,
            precision=log.precision,
            times=None if log.time is None else log.time.values,
            has_days=log.time is not None and log.time.has_days,
            identifiers=stack_columns(list(log.identifiers.values())),
            segments=stack_columns([segment.codes for segment in log.segments]),
            recognised=target.recognised,
            learnt_rows=target.learnt_rows,
        )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rewards(self) -> Floats:
        """The rewards that were logged."""
        return self.examples.rewards

    @property
    def target_probs(self) -> Floats:
        """The target's probability of every action (n x A)."""
        return self.examples.target_probs

    @property
    def logging_probs(self) -> Floats:
        """The logging policy's probability of every action (n x A)."""
        return self.examples.logging_probs

    @cached_property
    def usual_reward(self) -> float:
        """The reward of nearly all rows, such as that of no click; 0 if no reward is so common."""
        if self.whole is not None:
            return self.whole.usual_reward
        if self.counts is None:
            # A reward that most rows have is also the median, which needs no sorting.
            middle = len(self) // 2
            median = float(np.partition(self.rewards, middle)[middle])
            is_usual = np.count_nonzero(self.rewards == median) >= USUAL_SHARE * len(self)
            return median if is_usual else 0.0
        values, places = np.unique(self.rewards, return_inverse=True)
        counts = np.bincount(places, self.counts)
        is_usual = counts.max() >= USUAL_SHARE * counts.sum()
        return float(values[counts.argmax()]) if is_usual else 0.0

    @cached_property
    def weighted_reward(self) -> float:
        """The weighted mean reward of all rows, or of the sample that stands for them; 0 if all weights are 0."""
        if self.whole is not None:
            return self.whole.weighted_reward
        total = float(self.masses.sum())
        return float(self.masses @ self.rewards) / total if total else 0.0

    @cached_property
    def by_weight(self) -> Ints:
        """The places of the rows in the order of their weights."""
        return np.argsort(self.weights)

    @cached_property
    def order(self) -> Ints | None:
        """The places of the rows in the order of time, ties in the order of the log; None if time is unknown."""
        return None if self.times is None else np.argsort(self.times, kind="stable")

    @property
    def actions(self) -> Ints:
        """The codes of the actions that were logged."""
        return self.examples.actions

    @property
    def kind(self) -> Kind:
        """Whether actions are labels or doses."""
        return "doses" if self.examples.doses.size else "labels"

    @property
    def dose(self) -> Floats:
        """The doses that were logged, where actions are doses."""
        return self.examples.doses[:, 0]

    @property
    def target_doses(self) -> Floats:
        """The doses that the target would give (n x m), where actions are doses."""
        return self.examples.doses[:, 1:]

    @property
    def bandwidth(self) -> float | None:
        """The largest distance to the target's dose at which a logged dose has a weight; None if actions are labels."""
        return kernels.choose_bandwidth(self.dose) if self.kind == "doses" else None

    @property
    def masses(self) -> Floats:
        """The weights, times the number of decisions that each row stands for: the factor of its reward in a sum."""
        return self.weights if self.counts is None else self.weights * self.counts

    def add_up(self, values: Floats) -> float:
        """Return the sum of a value per row over decisions."""
        if self.counts is None:
            return float(values.sum())
        return float(values @ self.counts)

    def average(self, values: Floats) -> Floats:
        """Return the mean of values per row (... x n) over decisions."""
        if self.counts is None:
            return np.asarray(values.mean(axis=-1))
        return np.asarray(values @ self.counts / self.counts.sum())

    @property
    def even_rows(self) -> bool:
        """Whether all rows stand for the same number of decisions."""
        return self.counts is None

    @property
    def all_rows(self) -> bool:
        """Whether these are rows of the log itself and not a sample of it."""
        return self.stands_for is None

    @cached_property
    def q(self) -> Floats:
        """The predicted reward of every action (n x A)."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        with blame(ModelError, "the reward model {}", self.model.name):
            predictions = self.fitted.predictions(self.examples) if self.refit is None else self.refit()
        return check_predictions(predictions, self.examples)

    @cached_property
    def fitted(self) -> RewardModel:
        """The reward model, trained on these rows if it then predicts each row by itself."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        return self.model.settle(self.examples)

    @cached_property
    def known_pulls(self) -> dict[tuple[float, ...], Pulls]:
        """A cache by caps: how far rows move TruncatedSNDR through the training of the model."""
        return {}

    @cached_property
    def q_logged(self) -> Floats:
        """The predicted reward of the logged action."""
        return self.q[np.arange(len(self)), self.actions]

    @cached_property
    def residuals(self) -> Floats:
        """The reward of the logged action minus its prediction."""
        return self.rewards - self.q_logged

    @property
    def total(self) -> int:
        """The number of rows in the log, of which these may be a sample."""
        return self.stands_for or len(self)

    @cached_property
    def predicted_range(self) -> tuple[float, float]:
        """The least and the largest predicted reward of an action that either policy may take."""
        if self.whole is not None:
            return self.whole.predicted_range
        possible = self.q[(self.target_probs > 0) | (self.logging_probs > 0)]
        return float(possible.min()), float(possible.max())

    @cached_property
    def embeddings(self) -> Floats:
        """A vector of each action (A x at most A), with the same distances as between the columns of `q`."""
        if self.whole is not None:
            return self.whole.embeddings
        return np.transpose(np.linalg.qr(self.q, mode="r"))

    @cached_property
    def q_policy(self) -> Floats:
        """The predicted reward under the target policy."""
        return row_sums(self.target_probs, self.q)

    def has(self, need: Need) -> bool:
        """Return whether optional data is available."""
        value = getattr(self, need)
        if isinstance(value, np.ndarray):
            return value.size > 0
        return value is not None and value is not False

    def explain_lack(self, needs: Iterable[Need], kinds: Iterable[Kind] = ("labels", "doses")) -> str | None:
        """Return why something with these needs that supports these kinds of actions does not apply, or None."""
        if self.kind not in kinds:
            return KINDS[self.kind]
        for need in needs:
            if not self.has(need):
                return NEEDS[need]
        return None

    def with_policies(self, logging_probs: Floats, target_probs: Floats | None = None) -> "Rows":
        """Return the same rows as if this policy (n x A) had logged them; the target can be replaced as well."""
        logged_actions = (np.arange(len(self)), self.actions)
        propensity = logging_probs[logged_actions]
        if target_probs is None:
            weights = self.weights * self.propensity / propensity
            target_probs = self.target_probs
        else:
            weights = target_probs[logged_actions] / propensity
        examples = replace(
            self.examples,
            logging_probs=logging_probs,
            target_probs=target_probs,
            importance=weights,
        )
        return replace(self, propensity=propensity, weights=weights, examples=examples)

    def take(self, index: Ints | slice, refit: Lazy | None = None) -> "Rows":
        """Return some of the rows, with the reward model refitted on them; a slice copies nothing."""
        taken: dict[str, Any] = {}
        for name in FIELDS_BY_ROW:
            values = getattr(self, name)
            if values is not None:
                taken[name] = take_rows(values, index)
        return copy_with(self, examples=self.examples.take(index), refit=refit, **taken)

    @cached_property
    def without_context(self) -> "Rows":
        """The same rows without the context, for formulas that need no more than predictions."""
        examples = copy_with(self.examples, context=self.examples.context[:, :0], normal_scores=None)
        return copy_with(self, examples=examples)

    @cached_property
    def refits(self) -> Refits:
        """Refits of the reward model on parts of these rows."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        return self.model.refit(self.examples)

    def predict_first(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the predicted rewards of the rows before each of the ascending ends, by a model refitted on them."""
        with blame(ModelError, "the reward model {}", self.model and self.model.name):
            yield from self.refits.predict(order, ends)

    def add_up_first(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        """Return the sums of these predictions times factors (terms x n x A of all rows) at each end (terms x ends)."""
        with blame(ModelError, "the reward model {}", self.model and self.model.name):
            return self.refits.add_up(order, ends, factors)
