"""PropensityFit: the wish to fit propensities; FittedPropensities: what became of it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from counterfold.base import messages, validation
from counterfold.base.arrays import Bools, Floats, Ints
from counterfold.base.cached import cached_property
from counterfold.base.errors import ModelError, ParameterError, blame
from counterfold.base.hashing import assign_folds, sample_least
from counterfold.base.notation import split_head
from counterfold.log.propensities.calibration import Calibration
from counterfold.log.propensities.classifiers import CLASSIFIERS, make_forest
from counterfold.log.propensities.quality import Quality, compare_losses

if TYPE_CHECKING:
    from counterfold.log.records import FittedPropensitiesRecord

FOLDS = 5
"""Into how many parts rows are divided; the propensities of each are predicted by a fit on the others."""

MOST, ENOUGH = 1 << 16, 1 << 13
"""At most how many rows a classifier is fitted on, and how many tell how good it is."""

PRIOR = 0.5
"""How many rows more each action is taken to have, so that none of a log that a sample lacks has probability 0."""

EXPECTED = 2.0
"""An action is possible in a context if all rows of the log, were they like that, would have shown it so often."""

AT_ONCE = 1 << 16
"""How many rows are predicted at a time."""

WORD = "fit"


@runtime_checkable
class Fittable(Protocol):
    """Anything that learns, as scikit-learn has it."""

    def fit(self, context: Any, codes: Any, /) -> Any:
        """Learn which action is taken where."""


@runtime_checkable
class Classifier(Fittable, Protocol):
    """A fittable that predicts how likely each of its classes is."""

    def predict_proba(self, context: Any, /) -> Any:
        """Return the probability of each class."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was decided where: contexts (n x d), codes of actions, and units of rows that stay together.

    `available` says which actions could be taken (n x A), if that is known.
    """

    context: Floats
    codes: Ints
    units: Ints
    count: int
    available: Bools | None = None

    @property
    def features(self) -> Floats:
        """Return what classifiers see: the context, and what is available."""
        return add_available(self.context, self.available)

    def take(self, rows: Any) -> "Decisions":
        """Return some of the rows."""
        available = None if self.available is None else self.available[rows]
        return Decisions(self.context[rows], self.codes[rows], self.units[rows], self.count, available)


class Fold(NamedTuple):
    """A classifier that was fitted without one fold, and the actions that it knows; none if it knows one alone."""

    classifier: Any
    known: Ints

    @classmethod
    def of(cls, make: Any, decisions: Decisions) -> Self:
        """Return a classifier that is fitted on some rows."""
        known = np.unique(decisions.codes)
        if len(known) < 2:
            return cls(None, known)
        from threadpoolctl import threadpool_limits

        blamed = blame(ModelError, "the classifier {}", type(make).__name__)
        with threadpool_limits(1, "openmp"), warnings.catch_warnings(), blamed:  # on busy cores threads wait long
            warnings.simplefilter("ignore")  # that it did not converge is told by how well it predicts
            fitted = copy_unfitted(make).fit(decisions.features, decisions.codes)
            return cls(fitted, np.asarray(fitted.classes_))

    def predict(self, context: Floats, count: int) -> Floats:
        """Return the probabilities of all actions (n x A)."""
        probs = np.zeros((len(context), count))
        if self.classifier is None:
            probs[:, self.known] = 1.0
        elif len(context):
            name = type(self.classifier).__name__
            with blame(ModelError, "the classifier {}", name):
                found = np.asarray(self.classifier.predict_proba(context), dtype=np.float64)
            rule = f"predict a probability for each action, got {found.shape} for {len(context)} rows"
            if found.shape != (len(context), len(self.known)) or not np.isfinite(found).all() or (found < 0).any():
                raise ModelError(f"the classifier {name} must {rule}.")
            probs[:, self.known] = found
        return probs


@dataclass(frozen=True, eq=False)
class PropensityFit:
    """The wish that propensities be fitted, and by which classifier of scikit-learn's kind."""

    name: str
    classifier: Any

    def fit(self, decisions: Decisions) -> "FittedPropensities":
        """Return propensities that are fitted on rows of a log, or on a sample of them if they are very many."""
        codes, count = decisions.codes, decisions.count
        frequencies: Floats = np.asarray((np.bincount(codes, minlength=count) + PRIOR) / (len(codes) + PRIOR * count))
        decisions = decisions.take(sample_least(np.arange(len(codes)), MOST)) if len(codes) > MOST else decisions
        folds, rows = fit_folds(self.classifier, decisions), len(decisions.codes)
        some = decisions.take(sample_least(np.arange(rows), ENOUGH))
        raw = predict_folds(folds, some.features, some.units, count)
        calibration = Calibration.of(raw, some.codes, frequencies, some.available)
        probs = calibration.apply(raw, some.available)
        quality = Quality.of(probs, some.codes, try_rival(probs, some))
        return FittedPropensities(self, folds, calibration, quality, rows, decisions.available is not None)


@dataclass(frozen=True, eq=False)
class FittedPropensities:
    """Classifiers that predict the actions of a log, one for each fold, calibrated.

    `rows` were fitted on, and `knows_available` says whether it is known which actions could be taken. `places` are the
    columns of the context that classifiers see, if these are not all.
    """

    wish: PropensityFit
    folds: Sequence[Fold]
    calibration: Calibration
    quality: Quality
    rows: int
    knows_available: bool
    places: Ints | None = None

    @property
    def least(self) -> float:
        """Return below which probability nobody can tell whether an action was ever possible."""
        return EXPECTED / self.rows

    def predict(self, context: Floats, units: Ints, available: Bools | None) -> Floats:
        """Return the probabilities of all actions (n x A), each row's by a fit without its fold."""
        found = np.empty((len(context), self.count))
        for start in range(0, len(context), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            there = None if available is None else available[some]
            raw = predict_folds(self.folds, self._see(context[some], there), units[some], self.count)
            found[some] = self.calibration.apply(raw, there)
        return found

    def predict_each(self, context: Floats, available: Bools | None) -> list[Floats]:
        """Return the probabilities of all actions by each of the fits, which differ as fits on other logs would."""
        features = self._see(context, available)
        return [self.calibration.apply(fold.predict(features, self.count), available) for fold in self.folds]

    def _see(self, context: Floats, available: Bools | None) -> Floats:
        """Return what classifiers see of some rows."""
        return add_available(context if self.places is None else context[:, self.places], available)

    def to_record(self) -> "FittedPropensitiesRecord":
        """Return how they were fitted, and how well they predict held-out rows."""
        return {
            "classifier": self.wish.name,
            "rows": self.quality.rows,
            "log_loss": self.quality.log_loss,
            "plain_log_loss": self.quality.plain_log_loss,
            "rival_p": self.quality.rival_p,
            "reliability": list(self.quality.reliability),
        }

    @cached_property
    def count(self) -> int:
        """Return the number of actions."""
        return len(self.calibration.frequencies)


def fit_folds(classifier: Any, decisions: Decisions, count: int = FOLDS) -> list[Fold]:
    """Return a classifier for each fold, fitted on the others."""
    fold = assign_folds(decisions.units, count)
    return [Fold.of(classifier, decisions.take(fold != number)) for number in range(count)]


def predict_folds(folds: Sequence[Fold], context: Floats, units: Ints, count: int) -> Floats:
    """Return the probabilities of all actions (n x A), each row's by the classifier of its fold."""
    fold, probs = assign_folds(units, len(folds)), np.empty((len(context), count))
    for number, one in enumerate(folds):
        probs[fold == number] = one.predict(context[fold == number], count)
    return probs


def try_rival(probs: Floats, decisions: Decisions) -> float | None:
    """Return how likely chance is to let a forest add as much to the fit as it does; None if there is no context."""
    if not decisions.context.shape[1]:
        return None
    rival = predict_folds(fit_folds(make_forest(), decisions, 2), decisions.features, decisions.units, decisions.count)
    if decisions.available is not None:
        rival = np.where(decisions.available, rival, 0.0)
        rival /= np.maximum(rival.sum(axis=1, keepdims=True), validation.SMALLEST_PROPENSITY)
    return compare_losses(probs, rival, decisions.codes, decisions.units)


def add_available(context: Floats, available: Bools | None) -> Floats:
    """Return what classifiers see of some rows: the context and which actions are available, a column at least."""
    if available is not None:
        return np.column_stack([context, available])
    return context if context.shape[1] else np.zeros((len(context), 1))


def copy_unfitted(classifier: Any) -> Any:
    """Return a classifier with the same settings that is not fitted yet, and that draws the same numbers each time."""
    from sklearn.base import clone

    fresh = clone(classifier)
    seeds = {name: 0 for name, value in fresh.get_params().items() if name.endswith("random_state") and value is None}
    return fresh.set_params(**seeds)


def as_fit(value: Any) -> PropensityFit | None:
    """Return the wish to fit propensities, `fit`, `fit:NAME` or a classifier; None if these are given.

    >>> as_fit("fit:boosting").name, as_fit("propensity"), as_fit([0.5, 0.5])
    ('boosting', None, None)
    """
    if isinstance(value, PropensityFit):
        return value
    if isinstance(value, str):
        word, name = split_head(value)
        if word != WORD:
            return None
        validation.one_of((WORD, *(f"{WORD}:{one}" for one in CLASSIFIERS)), propensity=value)
        name = name or next(iter(CLASSIFIERS))
        return PropensityFit(name, CLASSIFIERS[name]())
    if not isinstance(value, Fittable):
        return None
    if not isinstance(value, Classifier):
        rule = "have `predict_proba`, so that it knows how likely actions are"
        raise ParameterError(f"the classifier for `propensity` must {rule}, got {messages.shorten(value)}.")
    return PropensityFit(type(value).__name__, value)
