"""PropensityFit: the wish to fit propensities; FittedPropensities: what became of it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from counterfold import checks, messages
from counterfold.arrays import Floats, Ints
from counterfold.errors import ModelError, ParameterError, blame
from counterfold.hashing import assign_folds, sample_least
from counterfold.propensities.calibration import Calibration
from counterfold.propensities.classifiers import CLASSIFIERS, make_forest
from counterfold.propensities.quality import Quality, compare_losses

FOLDS = 5
"""Into how many parts rows are divided; the propensities of each are predicted by a fit on the others."""

MOST, ENOUGH = 1 << 16, 1 << 13
"""At most how many rows a classifier is fitted on, and how many tell how good it is."""

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
    """What was decided where: contexts (n x d), codes of actions, and units of rows that stay together."""

    context: Floats
    codes: Ints
    units: Ints
    count: int

    def take(self, rows: Any) -> "Decisions":
        """Return some of the rows."""
        return Decisions(self.context[rows], self.codes[rows], self.units[rows], self.count)


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
        with warnings.catch_warnings(), blame(ModelError, "the classifier {}", type(make).__name__):
            warnings.simplefilter("ignore")  # that it did not converge is told by how well it predicts
            fitted = copy_unfitted(make).fit(add_column(decisions.context), decisions.codes)
            return cls(fitted, np.asarray(fitted.classes_))

    def predict(self, context: Floats, count: int) -> Floats:
        """Return the probabilities of all actions (n x A)."""
        probs = np.zeros((len(context), count))
        if self.classifier is None:
            probs[:, self.known] = 1.0
        elif len(context):
            name = type(self.classifier).__name__
            with blame(ModelError, "the classifier {}", name):
                found = np.asarray(self.classifier.predict_proba(add_column(context)), dtype=np.float64)
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

    def fit(self, context: Floats, codes: Ints, units: Ints, count: int) -> "FittedPropensities":
        """Return propensities that are fitted on rows of a log, or on a sample of them if they are very many."""
        decisions = Decisions(context, codes, units, count)
        decisions = decisions.take(sample_least(np.arange(len(codes)), MOST)) if len(codes) > MOST else decisions
        folds, rows = fit_folds(self.classifier, decisions), len(decisions.codes)
        some = decisions.take(sample_least(np.arange(rows), ENOUGH))
        raw = predict_folds(folds, some.context, some.units, count)
        calibration = Calibration.of(raw, some.codes)
        probs = calibration.apply(raw)
        quality = Quality.of(probs, some.codes, try_rival(probs, some))
        return FittedPropensities(self, folds, calibration, quality, rows)


@dataclass(frozen=True, eq=False)
class FittedPropensities:
    """Classifiers that predict the actions of a log, one for each fold, calibrated; `rows` were fitted on."""

    wish: PropensityFit
    folds: Sequence[Fold]
    calibration: Calibration
    quality: Quality
    rows: int

    def predict(self, context: Floats, units: Ints) -> Floats:
        """Return the probabilities of all actions (n x A), each row's by a fit without its fold."""
        return self.calibration.apply(predict_folds(self.folds, context, units, self.count))

    def predict_each(self, context: Floats) -> list[Floats]:
        """Return the probabilities of all actions by each of the fits, which differ as fits on other logs would."""
        return [self.calibration.apply(fold.predict(context, self.count)) for fold in self.folds]

    def to_dict(self) -> dict[str, Any]:
        """Return how they were fitted, and how good they are, as plain numbers, texts and lists."""
        return {"classifier": self.wish.name, **self.quality.to_dict()}

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
    rival = predict_folds(fit_folds(make_forest(), decisions, 2), decisions.context, decisions.units, decisions.count)
    return compare_losses(probs, rival, decisions.codes, decisions.units)


def add_column(context: Floats) -> Floats:
    """Return a context that has columns, as classifiers need some."""
    return context if context.shape[1] else np.zeros((len(context), 1))


def copy_unfitted(classifier: Any) -> Any:
    """Return a classifier with the same settings that is not fitted yet."""
    from sklearn.base import clone

    return clone(classifier)


def as_fit(value: Any) -> PropensityFit | None:
    """Return the wish to fit propensities, `fit`, `fit:NAME` or a classifier; None if these are given.

    >>> as_fit("fit:boosting").name, as_fit("propensity"), as_fit([0.5, 0.5])
    ('boosting', None, None)
    """
    if isinstance(value, PropensityFit):
        return value
    if isinstance(value, str):
        word, _, name = value.partition(":")
        if word != WORD:
            return None
        checks.one_of((WORD, *(f"{WORD}:{one}" for one in CLASSIFIERS)), propensity=value)
        name = name or next(iter(CLASSIFIERS))
        return PropensityFit(name, CLASSIFIERS[name]())
    if not isinstance(value, Fittable):
        return None
    if not isinstance(value, Classifier):
        rule = "have `predict_proba`, so that it knows how likely actions are"
        raise ParameterError(f"the classifier for `propensity` must {rule}, got {messages.shorten(value)}.")
    return PropensityFit(type(value).__name__, value)
