"""Decision: which of several policies on one log to choose, and which of them may be the best."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.diagnostics import Verdict
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.joint import LOWEST, Joint, find_each_level, standardise, stretch_noise


@dataclass(frozen=True)
class Standing:
    """How one policy compares with all others that the log can answer for."""

    policy: str
    """The target's name; the first policy is the one that logged, `log`."""

    probability_best: float
    """The probability that it earns the most."""

    may_be_best: bool
    """Whether the log cannot tell it from the best policy."""


@dataclass(frozen=True)
class Decision:
    """What all differences together say: which target to choose, and which may be the best."""

    level: float
    """The probability that all simultaneous intervals cover, and that the best policy is among those that may be."""

    each_level: float
    """The level of each of the simultaneous intervals."""

    choice: str | None
    """The target whose simultaneous interval has the highest lower end, among those that keep to all guards.

    Null if no lower end is above 0: no target beats the baseline safely.
    """

    standings: list[Standing]
    """A line for each policy that the log can answer for, the one that logged first."""

    verdict: Verdict | None = None
    """The verdict on the choice: a caution must be looked into first; null if there is no choice."""

    @property
    def contenders(self) -> list[str]:
        """Return the policies that cannot be told from the best one, the most probable first."""
        ranked = sorted(self.standings, key=lambda one: -one.probability_best)
        return [one.policy for one in ranked if one.may_be_best]


ALIKE = 1e-4
"""Policies whose difference has a noise below this share of the largest one are the same, but for rounding errors."""

LOG = "log"
"""What the log's own policy is called."""


@dataclass(frozen=True, eq=False)
class Field:
    """All policies that a log can answer for: what it `logged`, and targets by name, one of which is the `baseline`.

    If only some are `allowed`, others are not chosen.
    """

    logged: Estimate
    targets: Mapping[str, Estimate]
    baseline: str | None
    seed: int
    allowed: Collection[str] | None = None

    @cached_property
    def estimates(self) -> list[Estimate]:
        """Return the log's own value, and those of the targets."""
        return [self.logged, *self.targets.values()]

    @property
    def home(self) -> int:
        """Return the place of the baseline."""
        return 0 if self.baseline is None else 1 + list(self.targets).index(self.baseline)

    @cached_property
    def every_gap(self) -> list[Estimate]:
        """Return the differences of all policies to the baseline, its own included."""
        return [one - self.estimates[self.home] for one in self.estimates]

    @cached_property
    def gaps(self) -> dict[str, Estimate]:
        """Return the differences of targets to the baseline."""
        own = zip(self.targets, self.every_gap[1:], strict=True)
        return {name: gap for name, gap in own if name != self.baseline}

    @cached_property
    def drawn(self) -> Floats:
        """Return draws of the noise of the differences of all policies to the baseline, a column for each."""
        every = np.eye(len(self.estimates))
        return Joint.of(self.estimates).draw(every - every[self.home], self.every_gap, self.seed)

    @cached_property
    def each_level(self) -> float:
        """Return the level of each interval, by which those of all targets hold together: max-t."""
        if len(self.gaps) < 2:
            return self.logged.level
        largest = np.abs(standardise(self.drawn[:, 1:])).max(axis=1)  # the log's own is none of those that are shown
        return find_each_level(largest, self.logged.level, tails=2, seed=self.seed)

    @cached_property
    def widened(self) -> dict[str, Estimate]:
        """Return the differences to the baseline, whose intervals hold all at once."""
        return {name: replace(gap, level=self.each_level) for name, gap in self.gaps.items()}

    def choose(self) -> str | None:
        """Return the target that beats the baseline by most, by the lower ends of the intervals; None if none does."""
        allowed = self.widened if self.allowed is None else self.allowed
        lows = {name: gap.interval().low for name, gap in self.widened.items() if name in allowed}
        best = max(lows, key=lambda name: lows[name], default=None)
        return best if best is not None and lows[best] > 0 else None

    def find_probabilities(self) -> list[float]:
        """Return with which probability each policy earns most, by draws that reach as far as the intervals."""
        values = stretch_noise(self.drawn, self.every_gap)
        best = values == values.max(axis=1, keepdims=True)
        return [float(share) for share in (best / best.sum(axis=1, keepdims=True)).mean(axis=0)]

    def may_be_best(self, place: int) -> bool:
        """Say whether a policy cannot be told from the best one.

        It can, if the policy with the highest value earns more by an interval that allows for all comparisons of this
        policy with others: the best one is wrongly ruled out with a probability of at most $1 - level$.

        Edwards, Hsu (1983), "Multiple comparisons with the best treatment".
        """
        leader = int(np.argmax([one.in_differences.value for one in self.estimates]))
        gap, level = self.estimates[leader] - self.estimates[place], self.logged.level
        if place == leader or gap.interval(max(2 * level - 1, LOWEST)).low <= 0:
            return True
        least = ALIKE * float(self.drawn.std(axis=0).max())
        largest = standardise(self.drawn - self.drawn[:, [place]], least).max(axis=1)
        return gap.interval(find_each_level(largest, level, tails=1, seed=self.seed)).low <= 0

    def decide(self) -> Decision:
        """Return what to choose, and how all stand."""
        may, probable = map(self.may_be_best, range(len(self.estimates))), self.find_probabilities()
        standings = [Standing(*one) for one in zip([LOG, *self.targets], probable, may, strict=True)]
        return Decision(self.logged.level, self.each_level, self.choose(), standings)
