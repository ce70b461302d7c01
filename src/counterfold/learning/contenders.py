"""Contenders: the policies that compete; each is a learner with the share of decisions that it takes itself."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import Any

import numpy as np

from counterfold.base import registry, validation
from counterfold.base.arrays import Bools
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import list_names, shorten, show
from counterfold.learning.learners.base import Learner, TrainingRows, fit_learner
from counterfold.learning.learners.constant_arm import ConstantArm
from counterfold.learning.learners.weighted_classifier import WeightedClassifier
from counterfold.log.labels import write_label
from counterfold.log.log import Log
from counterfold.log.support import find_supported
from counterfold.policies.learned.scorers import Scorer

DEFAULT = ("constant-arm", "greedy-learner", "softmax-learner", "ridge-learner", "boosted-learner", "policy-tree")
"""The learners that compete where the user does not say."""

MAX_CONSTANTS = 10
"""Up to so many allowed actions, each is a contender; of more, only the best one by the rows that are learnt from."""


MIXED = 100
"""By how much a policy that is mixed with an imitation of the logger is harder to read."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A learner, and the share of decisions that its policy takes; an imitation of the logger takes the others."""

    learner: Learner
    share: float

    @property
    def complexity(self) -> int:
        """Return how hard its policy is to read; one that is mixed with the logger is simpler than none."""
        return self.learner.complexity + (MIXED if self.share < 1 else 0)

    @property
    def is_constant(self) -> bool:
        """Say whether it takes one action everywhere."""
        return self.share == 1 and isinstance(self.learner, ConstantArm)

    @property
    def name(self) -> str:
        """Return what it is called in tables."""
        return self.learner.name if self.share == 1 else f"{self.share:g} * {self.learner.name} + imitation"


@dataclass(frozen=True, eq=False)
class Numbered(Learner):
    """A learner with a number behind its name, because another one would be shown by the same name."""

    learner: Learner
    number: int
    is_greedy: bool
    sees_rewards: bool
    complexity: int

    @classmethod
    def of(cls, learner: Learner, number: int) -> "Numbered":
        """Return a learner with a number."""
        return cls(learner, number, learner.is_greedy, learner.sees_rewards, learner.complexity)

    @property
    def name(self) -> str:
        return f"{self.learner.name}#{self.number}"

    def explain_lack(self, rows: TrainingRows) -> str | None:
        return self.learner.explain_lack(rows)

    def fit(self, rows: TrainingRows, seed: int) -> Scorer:
        return fit_learner(self.learner, rows, seed)


def resolve_learners(wanted: Any) -> list[Learner]:
    """Return the learners that a user names: "default", learners, names of learners, or classifiers."""
    is_list = isinstance(wanted, Sequence) and not isinstance(wanted, str)
    found = [learner for one in (wanted if is_list else [wanted]) for learner in resolve_learner(one)]
    repeated = next((one.name for one, other in combinations(found, 2) if is_same(one, other)), None)
    if not found or repeated is not None:
        got = "none" if repeated is None else f"`{show(repeated)}` more than once"
        raise ParameterError(f"`learners` must be different learners, got {got}.")
    return number_alike(found)


def is_same(one: Learner, other: Learner) -> bool:
    """Say whether two learners are equal, as far as that can be told: a user's own may compare in any way."""
    try:
        return one is other or bool(one == other)
    except Exception:  # noqa: BLE001
        return False


def number_alike(learners: Sequence[Learner]) -> list[Learner]:
    """Return the learners, where one that tables would show by the name of one before it has a number."""
    found: dict[str, Learner] = {}
    for one in learners:
        for each in chain([one], (Numbered.of(one, number) for number in count(2))):
            shown = show(Contender(each, 0.5).name)
            if shown not in found:
                found[shown] = each
                break
    return list(found.values())


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
        validation.within(0, 1, shares=share)
    found = sorted({float(share) for share in several} - {0.0}, reverse=True)
    if not found:
        raise ParameterError("`shares` must hold a number above 0, got none.")
    return found


def name_constants(learners: Sequence[Learner], rows: TrainingRows) -> list[Learner]:
    """Return the learners, with a constant arm for each allowed action in place of one that names none.

    One of an action that another learner names is left out. Where there are very many actions, all stays as it is.
    """
    if int(rows.allowed.sum()) > MAX_CONSTANTS:
        return list(learners)
    named = {learner.name for learner in learners if isinstance(learner, ConstantArm)}
    found: list[Learner] = []
    for learner in learners:
        if not isinstance(learner, ConstantArm) or learner.action is not None:
            found.append(learner)
            continue
        arms = [ConstantArm(rows.labels[code]) for code in np.flatnonzero(rows.allowed).tolist()]
        found += [arm for arm in arms if arm.name not in named]
    return number_alike(found)


def count_policies(learners: Sequence[Learner]) -> int:
    """Return how many policies learners stand for at most, before it is known which actions there are."""
    stands_for_all = any(isinstance(learner, ConstantArm) and learner.action is None for learner in learners)
    return len(learners) + (MAX_CONSTANTS - 1 if stands_for_all else 0)


def list_contenders(learners: Sequence[Learner], shares: Sequence[float]) -> dict[str, Contender]:
    """Return every learner at every share, by name; a constant arm decides alone, unless that is not wanted."""
    found = []
    for learner in learners:
        own_shares = shares[:1] if isinstance(learner, ConstantArm) else shares
        found += [Contender(learner, share) for share in own_shares]
    return {contender.name: contender for contender in found}


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
    several = forbidden if is_list else [one for one in (forbidden,) if one is not None]
    unwanted = [write_label(one) for one in several]
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
