"""RewardModel: predicts the reward of every action in every row, from the rows an estimator was given."""

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

BY_ROW = (
    *("ids", "units", "context", "actions", "rewards", "doses", "importance"),
    *("target_probs", "logging_probs", "counts", "normal_scores"),
)
"""What examples hold for every row; `counts` and `normal_scores` may be missing."""

EVEN_SHARE = 0.1
"""This part of an even share is added to probabilities in logarithms, so that never and hardly ever look much alike."""


@dataclass(frozen=True, eq=False)
class Examples:
    """What a reward model learns from: `ids` are places in the log, `units` the groups, or the rows themselves.

    `doses` has no columns where actions are labels. Where they are doses, the actions of a row are the columns of its
    `doses`: the logged one first, then those that the target would give; so `actions` is 0 everywhere. `importance` is
    the weight of each row. `target_probs` and `logging_probs` (n x A) have no columns if only those of logged actions
    are known. `counts` are how many decisions rows stand for, if that differs. `normal_scores` is the context with
    normal scores in place of skewed columns, if there are any. `seed` is for models that draw numbers.
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
        """Return how much the target counts each row: its weight, times how many decisions it stands for."""
        return self.importance if self.counts is None else self.importance * self.counts

    @property
    def columns(self) -> Floats:
        """Return the context as linear models see it (n x d): skewed columns by their normal scores."""
        return self.context if self.normal_scores is None else self.normal_scores

    @cached_property
    def log_probs(self) -> tuple[Floats, ...]:
        """Return the logarithm of the probability of every action (n x A), by the target and by the logging policy.

        A policy of which only the logged actions' probabilities are known is left out.
        """
        return tuple(map(self._take_logarithm, self._known_policies))

    def see(self, actions: Ints) -> Floats:
        """Return the `columns` and, as `log_probs`, what policies think of one action in each row (n x p).

        Numbers of a column are neighbours in memory, as it is columns that are scaled.
        """
        width, places, known = self.context.shape[1], (np.arange(len(self)), actions), self._known_policies
        columns = np.empty((width + len(known), len(self)))
        columns[:width] = self.columns.T
        for line, probs in zip(columns[width:], known, strict=True):
            line[:] = self._take_logarithm(probs[places])
        return columns.T

    @property
    def _known_policies(self) -> list[Floats]:
        return [probs for probs in (self.target_probs, self.logging_probs) if probs.shape[1]]

    def _take_logarithm(self, probs: Floats) -> Floats:
        raised = np.asarray(probs + EVEN_SHARE / self.n_actions)
        return np.log(raised, out=raised)

    def take(self, index: Ints | slice) -> "Examples":
        """Return some of the rows; a slice copies nothing."""
        there = {name: getattr(self, name) for name in BY_ROW}
        some: dict[str, Any] = {name: take_rows(one, index) for name, one in there.items() if one is not None}
        return copy_with(self, **some)

    @classmethod
    def join(cls, several: Sequence["Examples"]) -> "Examples":
        """Return the rows of several, one after the other."""
        there = [name for name in BY_ROW if getattr(several[0], name) is not None]
        every: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in several]) for name in there}
        return copy_with(several[0], **every)


def check_predictions(q: Any, examples: Examples) -> Floats:
    """Return predicted rewards if there is a finite number for each action in each row; or blame the model."""
    wanted = len(examples), examples.n_actions
    try:
        given = np.asarray(q)
        values = np.asarray(given, dtype=None if given.dtype.kind in "cmM" else np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"the reward model must predict numbers, got {shorten(q)}.") from None
    if values.dtype != np.float64:
        raise ModelError(f"the reward model must predict numbers, got {values.dtype}.")
    if values.shape != wanted:
        rule = f"predict a number for each of {wanted[1]} actions in each of {wanted[0]} rows"
        raise ModelError(f"the reward model must {rule}, got shape {values.shape}.")
    if values.size and not (values.min() >= -LARGEST and values.max() <= LARGEST):  # False where there is a NaN
        bad = ~(np.abs(values) <= LARGEST)
        row = int(np.argmax(bad.any(axis=1)))
        where = f"{int(bad.any(axis=1).sum())} of {len(values)} rows, first at row {examples.ids[row]}"
        rule = f"predict finite rewards of at most {LARGEST:g} in size"
        raise ModelError(f"the reward model must {rule}, got {values[row][bad[row]][0]} in {where}.")
    return values


Predictor = Callable[[Examples], Floats]
"""Predicted rewards (n x A) of rows whose rewards are not used."""


class Pulls(Protocol):
    """How far each row moves several values by being one of those that a reward model learns from."""

    def move(self, examples: Examples, residuals: Floats) -> Floats:
        """Return how far one decision like each row's moves each value (values x n)."""


FitNoise = Literal["none", "known", "unknown"]


def predict_nothing(rows: Examples) -> Floats:
    """Return 0 everywhere, as a model that no row was left for."""
    return np.zeros((len(rows), rows.n_actions))


class RewardModel(ABC):
    """Predicts rewards for the very rows it learns from, as the paper does."""

    learns: ClassVar[bool] = True
    """Whether predictions depend on which rows are given."""

    is_in_sample: ClassVar[bool] = False
    """Whether rows are predicted by a model that was fitted on them, too."""

    kinds: ClassVar[tuple[Kind, ...]] = ("labels",)
    """What an action may be."""

    @property
    def name(self) -> str:
        """Return what the model is called in errors."""
        return type(self).__name__

    def suits(self, kind: Kind) -> bool:
        """Say whether the model can predict the rewards of such actions."""
        return kind in self.kinds

    @property
    def fit_noise(self) -> FitNoise:
        """Say whether it is known how far each row moves values by what the model learns from it; see `find_pulls`."""
        return "unknown"

    @property
    def is_aimed(self) -> bool:
        """Say whether predictions depend on the target."""
        return True

    @abstractmethod
    def predictions(self, examples: Examples) -> Floats:
        """Return the predicted reward of every action in every row (n x A)."""

    def settle(self, examples: Examples) -> "RewardModel":
        """Return the model as it is once it has learnt from these rows, if it then predicts each of them by itself."""
        return self

    def find_pulls(self, examples: Examples, caps: Sequence[float]) -> Pulls:
        """Return how far rows move `TruncatedSNDR` on these rows by what the model learns from them, for each cap.

        The caps are on weights.
        """
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def count_lessons(self, examples: Examples) -> int:
        """Return how many numbers `sum_lessons` keeps for each unit."""
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def sum_lessons(self, examples: Examples, residuals: Floats, unit: Ints, units: int) -> Any:
        """Return what the rows of each unit teach the model, summed; that of other rows can be added."""
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def pull_values(self, examples: Examples, caps: Sequence[float], lessons: Any) -> Floats:
        """Return how far units move `TruncatedSNDR` on these rows by what the model learns, for each cap.

        The caps are on weights, and the result (caps x units) is 0 on average over the rows that were summed.
        """
        raise NotImplementedError(f"{type(self).__name__} does not tell")

    def tune(self, examples: Examples) -> Self:
        """Return the model with every setting chosen that it leaves to the rows."""
        return self

    def refit(self, examples: Examples) -> "Refits":
        """Return the model as it is fitted anew on parts of these rows."""
        return PlainRefits(self, examples)


class Refits(ABC):
    """A reward model fitted anew on the first rows of any order of some rows, which end at several places."""

    @abstractmethod
    def predict(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        """Yield the predicted rewards (n x A) of the rows before each of the ascending ends, from these rows alone."""

    @abstractmethod
    def add_up(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        """Return the sums of these predictions times factors (terms x n x A of all rows) at each end (terms x ends)."""


@dataclass(frozen=True, eq=False)
class PlainRefits(Refits):
    """A model that is fitted on the rows before each end as if there were no others."""

    model: RewardModel
    examples: Examples

    def predict(self, order: Ints, ends: Sequence[int]) -> Iterator[Floats]:
        for end in ends:
            some = self.examples.take(order[:end])
            yield check_predictions(self.model.predictions(some), some)

    def add_up(self, order: Ints, ends: Sequence[int], factors: Floats) -> Floats:
        pairs = zip(ends, self.predict(order, ends), strict=True)
        return np.stack([np.einsum("tia,ia->t", factors[:, order[:end]], q) for end, q in pairs], axis=1)


@dataclass(frozen=True, eq=False)
class Given(RewardModel):
    r"""Predicted rewards $\hat q(x_i, a)$ (n x A) that the user brings; nothing is ever fitted.

    On a log of doses the columns are the logged dose and what the target would give. Predictions from a model trained
    on other data keep DR unbiased, which in-sample predictions do not promise.

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
    """A reward model that can be fitted on some rows and used on others."""

    is_in_sample = True
    knows_pulls: ClassVar[bool] = False
    """Whether what it makes of the rows outside of folds tells how far each row moves values."""

    is_fast: ClassVar[bool] = False
    """Whether it takes little time to fit, however many rows there are."""

    @abstractmethod
    def fit(self, examples: Examples) -> Predictor:
        """Return a function that predicts the reward of every action (n x A) in any rows."""

    def fit_outside(self, examples: Examples, fold: Ints, folds: int) -> Sequence[Predictor]:
        """Return, for each of several folds, the function that knows only the rows outside of it."""
        sizes = np.bincount(fold, minlength=folds)
        is_there = [0 < size < len(fold) for size in sizes]
        outside = (examples.take(np.flatnonzero(fold != number)) for number in range(folds))
        return [self.fit(some) if there else predict_nothing for some, there in zip(outside, is_there, strict=True)]

    def predictions(self, examples: Examples) -> Floats:
        return self.fit(examples)(examples)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centre and scale of the columns: sums of large raw numbers would lose digits; the penalty is scaled back."""

    centre: Floats
    scale: Floats

    @classmethod
    def of(cls, context: Floats) -> Self:
        """Return the means and standard deviations, 1 for columns that do not vary."""
        centre, spread = context.mean(axis=0), context.std(axis=0)
        return cls(centre, np.where(spread > np.maximum(1e-12 * np.abs(centre), 1e-100), spread, 1.0))

    def apply(self, examples: Examples) -> Examples:
        """Return the rows with context centred and scaled."""
        context = examples.context - self.centre
        context /= self.scale
        return copy_with(examples, context=context)
