"""Contenders: the policies that compete. Each is a learner with the share of decisions that its policy takes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import Any

import numpy as np

from counterfold.base import registry, validation
from counterfold.base.arrays import Bools, Floats
from counterfold.base.errors import DataError, ParameterError
from counterfold.base.messages import list_names, shorten, show
from counterfold.learning.learners.base import Learner, TrainingRows, fit_learner
from counterfold.learning.learners.constant_arm import ConstantArm
from counterfold.learning.learners.imitation import Imitation
from counterfold.learning.learners.weighted_classifier import WeightedClassifier
from counterfold.log.labels import write_label
from counterfold.log.log import Log
from counterfold.log.support import find_supported
from counterfold.policies.learned.scorers import Scorer

DEFAULT = ("constant-arm", "greedy-learner", "softmax-learner", "ridge-learner", "boosted-learner", "policy-tree")
"""The learners that compete by default."""

MAX_CONSTANTS = 10
"""With up to so many allowed actions, each constant arm is a contender; with more, only the best by training rows."""

MIXED_COMPLEXITY = 100
"""The complexity of a policy that is mixed with an imitation of the log, beyond that of its learner."""

IMITATION = Imitation()
"""The learner that policies are mixed with, and that is saved if nothing beats the log."""


@dataclass(frozen=True, eq=False)
class Contender:
    """A learner, and the share of decisions that its policy takes; an imitation of the log takes the others."""

    learner: Learner
    share: float

    @property
    def complexity(self) -> int:
        """Return how hard its policy is to read; a mixed policy is harder to read than any other."""
        return self.learner.complexity + (MIXED_COMPLEXITY if self.share < 1 else 0)

    @property
    def is_constant(self) -> bool:
        """Say whether it takes one action everywhere."""
        return self.share == 1 and isinstance(self.learner, ConstantArm)

    @property
    def name(self) -> str:
        """Return its name in tables."""
        return self.learner.name if self.share == 1 else f"{self.share:g} * {self.learner.name} + imitation"

    @property
    def learners(self) -> list[Learner]:
        """Return the learners that it needs."""
        return [self.learner] if self.share == 1 else [self.learner, IMITATION]

    def mix(self, decisions: Mapping[str, Floats]) -> Floats:
        """Return its decisions (n x A), from those of its learners by name."""
        own = decisions[self.learner.name]
        if self.share == 1:
            return own
        return self.share * own + (1 - self.share) * decisions[IMITATION.name]


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
    items = wanted if is_list else [wanted]
    learners = [learner for item in items for learner in resolve_learner(item)]
    pairs = combinations(learners, 2)
    repeated = next((first.name for first, second in pairs if is_same(first, second)), None)
    if not learners or repeated is not None:
        got = "none" if repeated is None else f"`{show(repeated)}` more than once"
        raise ParameterError(f"`learners` must be different learners, got {got}.")
    return number_alike(learners)


def is_same(first: Learner, second: Learner) -> bool:
    """Say whether two learners are equal; the comparison of a user's own learner may fail in any way."""
    try:
        return first is second or bool(first == second)
    except Exception:  # noqa: BLE001
        return False


def number_alike(learners: Sequence[Learner]) -> list[Learner]:
    """Return the learners; one that tables would show by the name of another gets a number."""
    by_shown_name: dict[str, Learner] = {}
    for learner in learners:
        numbered = (Numbered.of(learner, number) for number in count(2))
        for candidate in chain([learner], numbered):
            shown_name = show(Contender(candidate, 0.5).name)
            if shown_name not in by_shown_name:
                by_shown_name[shown_name] = candidate
                break
    return list(by_shown_name.values())


def resolve_learner(wanted: Any) -> list[Learner]:
    """Return the learners that one item of a list stands for."""
    if isinstance(wanted, str):
        names = DEFAULT if wanted == "default" else (wanted,)
        return [registry.build("learners", name) for name in names]
    if isinstance(wanted, type):
        got = f"the class {wanted.__name__}"
        raise ParameterError(f"`learners` must be objects, got {got}. Did you mean `{wanted.__name__}()`?")
    if isinstance(wanted, Learner):
        return [wanted]
    if callable(getattr(wanted, "fit", None)) and callable(getattr(wanted, "predict_proba", None)):
        return [WeightedClassifier(wanted)]
    rule = "learners, their names, or classifiers with `fit` and `predict_proba`"
    raise ParameterError(f"`learners` must be {rule}, got {shorten(wanted)}.")


def check_shares(shares: Any) -> list[float]:
    """Return the shares of decisions that a policy may take, the largest first."""
    several = list(shares) if isinstance(shares, Sequence) and not isinstance(shares, str) else [shares]
    for share in several:
        validation.within(0, 1, shares=share)
    checked = {float(share) for share in several} - {0.0}
    if not checked:
        raise ParameterError("`shares` must hold a number above 0, got none.")
    return sorted(checked, reverse=True)


def name_constants(learners: Sequence[Learner], rows: TrainingRows) -> list[Learner]:
    """Return the learners, with a constant arm for each allowed action in place of the one without an action.

    The arm of an action that another learner names is left out. With very many actions, nothing is replaced.
    """
    if int(rows.allowed.sum()) > MAX_CONSTANTS:
        return list(learners)
    named = {learner.name for learner in learners if isinstance(learner, ConstantArm)}
    replaced: list[Learner] = []
    for learner in learners:
        if not isinstance(learner, ConstantArm) or learner.action is not None:
            replaced.append(learner)
            continue
        arms = [ConstantArm(rows.labels[code]) for code in np.flatnonzero(rows.allowed).tolist()]
        replaced += [arm for arm in arms if arm.name not in named]
    return number_alike(replaced)


def count_policies(learners: Sequence[Learner]) -> int:
    """Return the largest possible number of policies, before the actions are known."""
    stands_for_all = any(isinstance(learner, ConstantArm) and learner.action is None for learner in learners)
    return len(learners) + (MAX_CONSTANTS - 1 if stands_for_all else 0)


def list_contenders(learners: Sequence[Learner], shares: Sequence[float]) -> dict[str, Contender]:
    """Return every learner at every share, by name; a constant arm competes at the largest share only."""
    contenders = []
    for learner in learners:
        own_shares = shares[:1] if isinstance(learner, ConstantArm) else shares
        contenders += [Contender(learner, share) for share in own_shares]
    return {contender.name: contender for contender in contenders}


def split_learners(learners: Sequence[Learner], rows: TrainingRows) -> tuple[list[Learner], dict[str, str]]:
    """Return the learners that apply to a log, and the reasons why others do not."""
    reasons = {learner.name: learner.explain_lack(rows) for learner in learners}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    applicable = [learner for learner in learners if learner.name not in left_out]
    if not applicable:
        name, reason = next(iter(left_out.items()))
        raise ParameterError(f"`learners` must hold one that applies to the log, but {name} {reason}.")
    return applicable, left_out


def find_allowed(log: Log, forbidden: Any) -> Bools:
    """Return which actions a policy may take: those that the log could take in some row and that are not forbidden."""
    if isinstance(forbidden, Collection) and not isinstance(forbidden, (str, bytes)):
        several = list(forbidden)
    else:
        several = [] if forbidden is None else [forbidden]
    unwanted = [write_label(label) for label in several]
    labels = [str(label) for label in log.actions]
    unknown = [label for label in unwanted if label not in labels]
    if unknown:
        got = f"`{show(unknown[0])}`"
        raise ParameterError(f"`forbidden` must be actions of the log, {list_names(labels)}, got {got}.")
    supported = find_supported(log)
    if supported.sum(axis=1).max() < 2:
        remedy = "Log decisions that are partly random, with their propensities"
        raise DataError(f"`learn` must have two possible actions or more in some row, got one in each. {remedy}.")
    allowed = supported.any(axis=0) & ~np.isin(labels, unwanted)
    if allowed.sum() < 2:
        raise DataError(f"`learn` must have two actions or more to choose from, got {int(allowed.sum())}.")
    return np.asarray(allowed)
