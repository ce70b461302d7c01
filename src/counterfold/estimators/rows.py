"""Rows: what an estimator sees of one log, one target and one reward model."""

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

BY_ROW = (
    *("weights", "propensity", "unsupported", "groups"),
    *("row_numbers", "counts", "times", "identifiers", "segments", "recognised"),
)
"""What rows hold for every row, besides the examples of the reward model; some of it may be missing."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The vectors that formulas are written in; reward predictions are computed when first asked for.

    `weights`, `propensity` and `rewards` are always there. `q_logged` and `q_policy` (the reward model's prediction for
    the logged action, and its mean under the target) and `q` (n x A) need a model; `target_probs` and `logging_probs`
    (n x A) have no columns when only the logged actions' probabilities are known, and `action_features` (A x k) none
    when there are none; `has` says what is there. `unsupported` is the target's probability, row by row, of actions
    that the log could never take, if that is known. `row_numbers` are places in the log. Where actions are doses, the
    columns of `q` and `target_probs` are the logged dose and those that the target would give, and `weights` are
    smoothed by the rule of thumb. `times` say when each row was decided, if that is known: in microseconds since 1970,
    or in numbers that tell the order alone unless the log `has_days`.

    `labels` are the actions by their codes. `segments` (n x k) are each row's, by each of k columns, if asked for.
    `precision` says how well propensities are known, if they are counted in draws or rounded. `counts` are how many
    decisions each row stands for, where some rows were likelier to be kept than others. `identifiers` (n x k) are
    hashes of users or sessions that nobody named as groups, -1 where there is none. Of a target that is mixed
    of policies which were learnt from `learnt_rows`, `recognised` (n x k x 3) says what each row is to each of them.
    `stands_for` is the number of rows in the log if these are a sample of it. `whole` are all rows, or that sample,
    for formulas that look at them.
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
        ids, nothing = freeze(np.arange(len(log))), np.empty((len(log), 0))
        row_numbers = ids if log.row_numbers is None else log.row_numbers
        doses, target_probs = target.lay_out(log)
        n_actions = doses.shape[1] or len(log.actions)
        units = log.row_units if log.group is None else log.group
        weights = target.logged / log.propensity
        weights = freeze(np.where(weights < SMALLEST_SPREAD, 0.0, weights))  # as its square would be
        logging_probs = nothing if log.logging_probs is None else log.logging_probs
        known = log.context, log.action, log.reward, doses, weights, target_probs, logging_probs
        return cls(
            examples=Examples(ids, units, *known, n_actions, log.counts, log.normal_scores),
            weights=weights,
            propensity=log.propensity,
            action_features=np.empty((n_actions, 0)) if log.action_features is None else log.action_features,
            unsupported=target.find_unsupported(log),
            loggers=log.loggers,
            model=model,
            groups=log.group,
            row_numbers=row_numbers,
            labels=log.actions,
            counts=log.counts,
            precision=log.precision,
            times=None if log.time is None else log.time.values,
            has_days=log.time is not None and log.time.has_days,
            identifiers=stack_columns(list(log.identifiers.values())),
            segments=stack_columns([one.codes for one in log.segments]),
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
        """The reward of nearly all rows, such as that of no click; 0 where no reward is so common."""
        if self.whole is not None:
            return self.whole.usual_reward
        if self.counts is None:
            middle = float(np.partition(self.rewards, len(self) // 2)[len(self) // 2])  # what most rows have is there
            return middle if np.count_nonzero(self.rewards == middle) >= USUAL_SHARE * len(self) else 0.0
        values, places = np.unique(self.rewards, return_inverse=True)
        counts = np.bincount(places, self.counts)
        return float(values[counts.argmax()]) if counts.max() >= USUAL_SHARE * counts.sum() else 0.0

    @cached_property
    def weighted_reward(self) -> float:
        """The mean reward under the weights of all rows, or of the sample that stands for them; 0 without weight."""
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
        """The places of the rows in the order of time, equal times in that of the log; nothing if time is unknown."""
        return None if self.times is None else np.argsort(self.times, kind="stable")

    @property
    def actions(self) -> Ints:
        """The codes of the actions that were logged."""
        return self.examples.actions

    @property
    def kind(self) -> Kind:
        """What an action is here."""
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
        """How near to the target's dose a logged one must be to get any weight; nothing where actions are labels."""
        return kernels.choose_bandwidth(self.dose) if self.kind == "doses" else None

    @property
    def masses(self) -> Floats:
        """The weights, times how many decisions each row stands for: what a row's reward counts in a sum."""
        return self.weights if self.counts is None else self.weights * self.counts

    def add_up(self, values: Floats) -> float:
        """Return the sum over decisions of a number per row."""
        return float(values.sum() if self.counts is None else values @ self.counts)

    def average(self, values: Floats) -> Floats:
        """Return the mean over decisions of some numbers per row (... x n)."""
        return np.asarray(values.mean(axis=-1) if self.counts is None else values @ self.counts / self.counts.sum())

    @property
    def even_rows(self) -> bool:
        """Say whether all rows stand for the same number of decisions."""
        return self.counts is None

    @property
    def all_rows(self) -> bool:
        """Say whether these are rows of the log itself, and not a sample that stands for it."""
        return self.stands_for is None

    @cached_property
    def q(self) -> Floats:
        """The predicted reward of every action (n x A)."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        with blame(ModelError, "the reward model {}", self.model.name):
            found = self.fitted.predictions(self.examples) if self.refit is None else self.refit()
        return check_predictions(found, self.examples)

    @cached_property
    def fitted(self) -> RewardModel:
        """The reward model as it is once it has learnt from these rows."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        return self.model.settle(self.examples)

    @cached_property
    def known_pulls(self) -> dict[tuple[float, ...], Pulls]:
        """How far rows move TruncatedSNDR by what the model learns from them, for caps that were asked for before."""
        return {}

    @cached_property
    def q_logged(self) -> Floats:
        """The predicted reward of the logged action."""
        return self.q[np.arange(len(self)), self.actions]

    @cached_property
    def residuals(self) -> Floats:
        """The reward of the logged action less its prediction."""
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
        """What the model thinks of each action (A x at most A): as far apart as the columns of `q`, and shorter."""
        if self.whole is not None:
            return self.whole.embeddings
        return np.transpose(np.linalg.qr(self.q, mode="r"))

    @cached_property
    def q_policy(self) -> Floats:
        """The predicted reward under the target policy."""
        return row_sums(self.target_probs, self.q)

    def has(self, need: Need) -> bool:
        """Say whether something that may be missing is there."""
        found = getattr(self, need)
        return found.size > 0 if isinstance(found, np.ndarray) else found is not None and found is not False

    def explain_lack(self, needs: Iterable[Need], kinds: Iterable[Kind] = ("labels", "doses")) -> str | None:
        """Return why what has these needs and takes such actions does not apply, if so."""
        if self.kind not in kinds:
            return KINDS[self.kind]
        return next((NEEDS[need] for need in needs if not self.has(need)), None)

    def with_policies(self, logging_probs: Floats, target_probs: Floats | None = None) -> "Rows":
        """Return the same rows as if one policy (n x A) had logged them and, if given, another were to be valued."""
        place = np.arange(len(self)), self.actions
        logged = logging_probs[place]
        weights = (self.weights * self.propensity if target_probs is None else target_probs[place]) / logged
        target_probs = self.target_probs if target_probs is None else target_probs
        examples = replace(self.examples, logging_probs=logging_probs, target_probs=target_probs, importance=weights)
        return replace(self, propensity=logged, weights=weights, examples=examples)

    def take(self, index: Ints | slice, refit: Lazy | None = None) -> "Rows":
        """Return some of the rows, with the reward model refitted on them; a slice copies nothing."""
        there = {name: getattr(self, name) for name in BY_ROW}
        some: dict[str, Any] = {name: take_rows(one, index) for name, one in there.items() if one is not None}
        return copy_with(self, examples=self.examples.take(index), refit=refit, **some)

    @cached_property
    def without_context(self) -> "Rows":
        """The same rows without the context, for formulas that need no more than predictions."""
        return copy_with(
            self, examples=copy_with(self.examples, context=self.examples.context[:, :0], normal_scores=None)
        )

    @cached_property
    def refits(self) -> Refits:
        """The reward model as it is fitted anew on parts of these rows."""
        if self.model is None:
            raise AttributeError("these rows have no reward model")
        return self.model.refit(self.examples)

    def predict_first(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the predicted rewards of the first rows of an order, up to each of the ascending ends, by refits."""
        with blame(ModelError, "the reward model {}", self.model and self.model.name):
            yield from self.refits.predict(order, ends)

    def add_up_first(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        """Return the sums of these predictions times factors (terms x n x A of all rows) at each end (terms x ends)."""
        with blame(ModelError, "the reward model {}", self.model and self.model.name):
            return self.refits.add_up(order, ends, factors)
