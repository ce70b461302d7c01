"""RewardModel: predicts the reward of every action in every row, trained on the rows of an estimator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from counterfold.base.arrays import Floats, Ints, take_rows
from counterfold.base.cached import cached_property, copy_with
from counterfold.base.errors import ModelError
from counterfold.base.messages import shorten
from counterfold.base.validation import LARGEST
from counterfold.log.log import Kind

Lazy = Callable[[], Floats]
"""Predicted rewards (n x A), computed when called."""

ROW_FIELDS = (
    "ids",
    "units",
    "context",
    "actions",
    "rewards",
    "doses",
    "importance",
    "target_probs",
    "logging_probs",
    "counts",
    "normal_scores",
)
"""The fields of `Examples` with one entry per row; `counts` and `normal_scores` may be missing."""

ADDED_EVEN_SHARE = 0.1
"""Part of an even share added to probabilities before the logarithm, so that 0 and a tiny probability look alike."""

ROWS_PER_BLOCK = 1 << 14
"""How many rows are processed at a time, so that they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Examples:
    """The rows that a reward model is trained on.

    - `ids`: places in the log.
    - `units`: groups, or the rows themselves.
    - `actions`: codes of the logged actions; 0 everywhere if actions are doses.
    - `doses`: no columns if actions are labels. Otherwise the actions of a row are the columns of its `doses`: the
      logged dose first, then the doses that the target would give.
    - `importance`: the importance weight of each row.
    - `target_probs`, `logging_probs`: probabilities of all actions (n x A); no columns if only the probabilities of the
      logged actions are available.
    - `counts`: how many decisions each row represents; None if each represents one.
    - `normal_scores`: the context with normal scores in place of skewed columns; None if no column is skewed.
    - `seed`: for models that draw random numbers.
    """

    ids: Ints
    units: Ints
    context: Floats
    actions: Ints
    rewards: Floats
    doses: Floats
    importance: Floats
    target_probs: Floats
    logging_probs: Floats
    n_actions: int
    counts: Floats | None = None
    normal_scores: Floats | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def masses(self) -> Floats:
        """Return the weight of each row under the target, times the number of decisions that the row represents."""
        if self.counts is None:
            return self.importance
        return self.importance * self.counts

    @property
    def columns(self) -> Floats:
        """Return the context for linear models (n x d), with normal scores in place of skewed columns."""
        if self.normal_scores is None:
            return self.context
        return self.normal_scores

    @cached_property
    def log_probs(self) -> tuple[Floats, ...]:
        """Return the logarithm of the probability of every action (n x A), by the target and by the logging policy.

        A policy is left out if only the probabilities of the logged actions are available.
        """
        return tuple(self._take_logarithm(probs) for probs in self._complete_probs)

    def see(self, actions: Ints) -> Floats:
        """Return the features of one action in each row (n x p): the `columns` and the action's `log_probs`.

        The result is in column order, because callers scale it column by column.
        """
        policies = self._complete_probs
        width = self.context.shape[1]
        rows = np.arange(len(self))
        features = np.empty((width + len(policies), len(self)))
        features[:width] = self.columns.T
        for feature, probs in zip(features[width:], policies, strict=True):
            feature[:] = self._take_logarithm(probs[rows, actions])
        return features.T

    @property
    def _complete_probs(self) -> list[Floats]:
        """Return the probabilities (n x A) of the policies that have them for all actions."""
        return [probs for probs in (self.target_probs, self.logging_probs) if probs.shape[1]]

    def _take_logarithm(self, probs: Floats) -> Floats:
        raised = np.asarray(probs + ADDED_EVEN_SHARE / self.n_actions)
        return np.log(raised, out=raised)

    def take(self, index: Ints | slice) -> "Examples":
        """Return the rows at `index`; a slice copies nothing."""
        taken: dict[str, Any] = {}
        for name in ROW_FIELDS:
            values = getattr(self, name)
            if values is not None:
                taken[name] = take_rows(values, index)
        return copy_with(self, **taken)

    @classmethod
    def join(cls, parts: Sequence["Examples"]) -> "Examples":
        """Return the rows of all parts, one part after the other."""
        joined: dict[str, Any] = {}
        for name in ROW_FIELDS:
            if getattr(parts[0], name) is not None:
                joined[name] = np.concatenate([getattr(part, name) for part in parts])
        return copy_with(parts[0], **joined)


def check_predictions(q: Any, examples: Examples) -> Floats:
    """Return the predicted rewards; raise `ModelError` unless they are a finite number per row and action."""
    n_rows = len(examples)
    n_actions = examples.n_actions
    try:
        raw = np.asarray(q)
        # complex numbers and times could be converted, but they are no rewards: the check of the dtype rejects them
        values = np.asarray(raw, dtype=None if raw.dtype.kind in "cmM" else np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"the reward model must predict numbers, got {shorten(q)}.") from None
    if values.dtype != np.float64:
        raise ModelError(f"the reward model must predict numbers, got {values.dtype}.")
    if values.shape != (n_rows, n_actions):
        rule = f"predict a number for each of {n_actions} actions in each of {n_rows} rows"
        raise ModelError(f"the reward model must {rule}, got shape {values.shape}.")
    if values.size and not (values.min() >= -LARGEST and values.max() <= LARGEST):  # False where there is a NaN
        is_invalid = ~(np.abs(values) <= LARGEST)
        is_invalid_row = is_invalid.any(axis=1)
        row = int(np.argmax(is_invalid_row))
        first_invalid = values[row][is_invalid[row]][0]
        where = f"{int(is_invalid_row.sum())} of {len(values)} rows, first at row {examples.ids[row]}"
        rule = f"predict finite rewards of at most {LARGEST:g} in size"
        raise ModelError(f"the reward model must {rule}, got {first_invalid} in {where}.")
    return values


Predictor = Callable[[Examples], Floats]
"""Predicted rewards (n x A) of rows whose rewards are not used."""


class Pulls(Protocol):
    """The influence of each training row of a reward model on several values."""

    def move(self, examples: Examples, residuals: Floats) -> Floats:
        """Return how far one more decision like that of each row would move each value (values x n)."""


FitNoise = Literal["none", "known", "unknown"]


def predict_nothing(rows: Examples) -> Floats:
    """Predict 0 everywhere, as a model without training rows does."""
    return np.zeros((len(rows), rows.n_actions))


class RewardModel(ABC):
    """Predicts the rewards of the rows that it is trained on, as in the paper."""

    learns: ClassVar[bool] = True
    """Whether predictions depend on the rows that are passed."""

    is_in_sample: ClassVar[bool] = False
    """Whether each row is predicted by a model that was trained on it, too."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels",)
    """The kinds of actions that the model supports."""

    @property
    def name(self) -> str:
        """Return the name of the model in errors."""
        return type(self).__name__

    def suits(self, kind: Kind) -> bool:
        """Return whether the model can predict the rewards of actions of this kind."""
        return kind in self.kinds

    @property
    def fit_noise(self) -> FitNoise:
        """Return whether `find_pulls` can compute the influence of each training row on the values."""
        return "unknown"

    @property
    def is_aimed(self) -> bool:
        """Return whether predictions depend on the target."""
        return True

    @abstractmethod
    def predictions(self, examples: Examples) -> Floats:
        """Return the predicted reward of every action in every row (n x A)."""

    def settle(self, examples: Examples) -> "RewardModel":
        """Return the model trained on these rows, if it can then predict each row without the others."""
        return self

    def find_pulls(self, examples: Examples, caps: Sequence[float]) -> Pulls:
        """Return the influence of training rows on `TruncatedSNDR` on these rows, for each cap on weights."""
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def count_lessons(self, examples: Examples) -> int:
        """Return how many numbers `sum_lessons` stores for each unit."""
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def sum_lessons(self, examples: Examples, residuals: Floats, unit: Ints, units: int) -> Any:
        """Return sums over the rows of each unit from which `pull_values` computes influences; they can be added."""
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def pull_values(self, examples: Examples, caps: Sequence[float], lessons: Any) -> Floats:
        """Return the influence of units, as training data, on `TruncatedSNDR` on these rows (caps x units).

        The caps are on weights. The mean influence is 0 over the rows that were summed.
        """
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def tune(self, examples: Examples) -> Self:
        """Return the model with every setting that depends on the rows chosen."""
        return self

    def refit(self, examples: Examples) -> "Refits":
        """Return an object that refits the model on parts of these rows."""
        return PlainRefits(self, examples)


class Refits(ABC):
    """Refits a reward model on the first rows of an order of the rows, for several numbers of rows (`ends`)."""

    @abstractmethod
    def predict(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the predicted rewards (n x A) of the rows before each of the ascending ends, from these rows alone."""

    @abstractmethod
    def add_up(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        """Return the sums of these predictions times factors (terms x n x A of all rows) at each end (terms x ends)."""


@dataclass(frozen=True, eq=False)
class PlainRefits(Refits):
    """Refits a model from scratch on the rows before each end."""

    model: RewardModel
    examples: Examples

    def predict(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        for end in ends:
            first_rows = self.examples.take(order[:end])
            yield check_predictions(self.model.predictions(first_rows), first_rows)

    def add_up(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        sums = []
        for end, q in zip(ends, self.predict(order, ends), strict=True):
            sums.append(np.einsum("tia,ia->t", factors[:, order[:end]], q))
        return np.stack(sums, axis=1)


@dataclass(frozen=True, eq=False)
class Given(RewardModel):
    r"""Predicted rewards $\hat q(x_i, a)$ (n x A) that the user supplies; nothing is fitted.

    On a log of doses the columns are the logged dose and the doses that the target would give. DR stays unbiased with
    predictions from a model that was trained on other data; in-sample predictions do not guarantee this.

    >>> import numpy as np
    >>> import counterfold as cf
    >>> cf.example_rows(cf.Given(np.full((4, 2), 0.5))).q_policy
    array([0.5, 0.5, 0.5, 0.5])
    """

    values: Floats
    learns = False
    kinds = ("labels", "doses")

    @property
    def fit_noise(self) -> FitNoise:
        return "none"

    def predictions(self, examples: Examples) -> Floats:
        return self.values[examples.ids]


class TrainedModel(RewardModel):
    """A reward model that can be trained on some rows and used on others."""

    is_in_sample = True
    knows_pulls: ClassVar[bool] = False
    """Whether the influence of each row on values can be computed from the models that `fit_outside` returns."""

    is_fast: ClassVar[bool] = False
    """Whether fitting takes little time for any number of rows."""

    @abstractmethod
    def fit(self, examples: Examples) -> Predictor:
        """Return a function that predicts the reward of every action (n x A) for any rows."""

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        """Return, for each fold, a predictor that is trained on the rows outside the fold."""
        predictors: list[Predictor] = []
        for number in range(folds):
            outside = np.flatnonzero(fold != number)
            # an empty fold has no rows to predict, and a fold with all rows leaves none to train on
            if 0 < len(outside) < len(fold):
                predictors.append(self.fit(examples.take(outside)))
            else:
                predictors.append(predict_nothing)
        return predictors

    def predictions(self, examples: Examples) -> Floats:
        return self.fit(examples)(examples)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The centre and scale of each column.

    Sums of squares of large raw numbers would lose digits, so that models are solved from scaled columns.
    """

    centre: Floats
    scale: Floats

    @classmethod
    def of(cls, context: Floats) -> Self:
        """Return the means and standard deviations of the columns; the scale is 1 for columns that do not vary."""
        centre = context.mean(axis=0)
        spread = context.std(axis=0)
        # the standard deviation of a constant column is a rounding error of its mean
        varies = spread > np.maximum(1e-12 * np.abs(centre), 1e-100)
        return cls(centre=centre, scale=np.where(varies, spread, 1.0))

    def apply(self, examples: Examples) -> Examples:
        """Return the rows with their context centred and scaled."""
        context = examples.context - self.centre
        context /= self.scale
        return copy_with(examples, context=context)
