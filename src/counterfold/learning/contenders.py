"""Contenders: the policies that compete, each a learner and the share of decisions that it takes from the logger."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfold import checks, registry
from counterfold.arrays import Bools
from counterfold.errors import DataError, ParameterError
from counterfold.learners.base import Learner, TrainingRows
from counterfold.learners.weighted_classifier import WeightedClassifier
from counterfold.log import Log
from counterfold.messages import list_names, shorten, show
from counterfold.support import find_supported

DEFAULT = ("greedy-learner", "softmax-learner", "policy-tree", "policy-forest")
"""The learners that compete where the user does not say."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A learner, and the share of decisions that its policy takes; the logger takes the others."""

    learner: Learner
    share: float

    @property
    def name(self) -> str:
        """Return what it is called in tables."""
        return self.learner.name if self.share == 1 else f"{self.share:g} * {self.learner.name} + logger"


def resolve_learners(wanted: Any) -> list[Learner]:
    """Return the learners that a user names: "default", learners, names of learners, or classifiers."""
    is_list = isinstance(wanted, Sequence) and not isinstance(wanted, str)
    found = [learner for one in (wanted if is_list else [wanted]) for learner in resolve_learner(one)]
    names = [one.name for one in found]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if not found or repeated is not None:
        got = "none" if repeated is None else f"`{repeated}` more than once"
        raise ParameterError(f"`learners` must be different learners, got {got}.")
    return found


def resolve_learner(wanted: Any) -> list[Learner]:
    """Return the learners that one item of a list stands for."""
    if isinstance(wanted, str):
        return [registry.build("learners", name) for name in (DEFAULT if wanted == "default" else (wanted,))]
    if isinstance(wanted, type):
        got = f"the class {wanted.__name__}"
        raise ParameterError(f"`learners` must be objects, got {got}. Did you mean `{wanted.__name__}()`?")
    if isinstance(wanted, Learner):
        return [wanted]
    if callable(getattr(wanted, "fit", None)) and callable(getattr(wanted, "predict_proba", None)):
        return [WeightedClassifier(wanted)]
    what = "learners, their names, or classifiers with `fit` and `predict_proba`"
    raise ParameterError(f"`learners` must be {what}, got {shorten(wanted)}.")


def check_shares(shares: Any) -> list[float]:
    """Return the shares of decisions that a policy may take, the largest first."""
    several = list(shares) if isinstance(shares, Sequence) and not isinstance(shares, str) else [shares]
    for share in several:
        checks.within(0, 1, shares=share)
    found = sorted({float(share) for share in several} - {0.0}, reverse=True)
    if not found:
        raise ParameterError("`shares` must hold a number above 0, got none.")
    return found


def split_learners(learners: Sequence[Learner], rows: TrainingRows) -> tuple[list[Learner], dict[str, str]]:
    """Return the learners that apply to a log, and why others do not."""
    reasons = {one.name: one.explain_lack(rows) for one in learners}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    kept = [one for one in learners if one.name not in left_out]
    if not kept:
        name, reason = next(iter(left_out.items()))
        raise ParameterError(f"`learners` must hold one that applies to the log, but {name} {reason}.")
    return kept, left_out


def find_allowed(log: Log, forbidden: Any) -> Bools:
    """Return which actions a policy may take: those that the log ever could, without the forbidden ones."""
    is_list = isinstance(forbidden, Collection) and not isinstance(forbidden, (str, bytes))
    unwanted = [str(one) for one in (forbidden if is_list else [forbidden])]
    labels = [str(label) for label in log.actions]
    strange = [one for one in unwanted if one not in labels]
    if strange:
        got = f"`{show(strange[0])}`"
        raise ParameterError(f"`forbidden` must be actions of the log, {list_names(labels)}, got {got}.")
    supported = find_supported(log)
    if supported.sum(axis=1).max() < 2:
        way = "Log decisions that are partly random, with their propensities"
        raise DataError(f"`learn` must have two possible actions or more in some row, got one in each. {way}.")
    allowed = supported.any(axis=0) & ~np.isin(labels, unwanted)
    if allowed.sum() < 2:
        raise DataError(f"`learn` must have two actions or more to choose from, got {int(allowed.sum())}.")
    return np.asarray(allowed)
