"""Decision: which of several policies on one log to choose, and which of them may be the best."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Floats
from counterfold.base.cached import cached_property
from counterfold.diagnostics import Verdict
from counterfold.estimators.estimates import Estimate
from counterfold.evaluation.joint import Joint, find_each_level, find_two_sided_level, standardise, stretch_noise


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
        """Return the policies that the log cannot tell from the best one, the most probable first."""
        ranked = sorted(self.standings, key=lambda standing: -standing.probability_best)
        return [standing.policy for standing in ranked if standing.may_be_best]


ALIKE_NOISE_SHARE = 1e-4
"""Two policies differ by rounding errors alone if the noise of their difference is below this share of the largest."""

LOG = "log"
"""What the log's own policy is called."""


@dataclass(frozen=True, eq=False)
class Field:
    """All policies that a log can answer for.

    - `logged`: what the log earned.
    - `targets`: the estimates of the targets by name.
    - `baseline`: the target to compare with; None for the log.
    - `seed`: the seed of the draws.
    - `allowed`: the only targets that may be chosen; None for all.
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
        """Return the index of the baseline among the estimates."""
        return 0 if self.baseline is None else 1 + list(self.targets).index(self.baseline)

    @cached_property
    def every_gap(self) -> list[Estimate]:
        """Return the differences of all policies to the baseline, including its difference to itself."""
        baseline = self.estimates[self.home]
        return [estimate - baseline for estimate in self.estimates]

    @cached_property
    def gaps(self) -> dict[str, Estimate]:
        """Return the differences of targets to the baseline."""
        named_gaps = zip(self.targets, self.every_gap[1:], strict=True)
        return {name: gap for name, gap in named_gaps if name != self.baseline}

    @cached_property
    def drawn(self) -> Floats:
        """Return draws of the noise of the differences of all policies to the baseline, a column for each."""
        identity = np.eye(len(self.estimates))
        contrasts = identity - identity[self.home]
        return Joint.of(self.estimates).draw(contrasts, self.every_gap, self.seed)

    @cached_property
    def each_level(self) -> float:
        """Return the level of each interval at which the intervals of all targets cover together: max-t."""
        if len(self.gaps) < 2:
            return self.logged.level
        # No interval of the log's own difference is reported, so its column is left out.
        largest = np.abs(standardise(self.drawn[:, 1:])).max(axis=1)
        return find_each_level(largest, self.logged.level, tails=2, seed=self.seed)

    @cached_property
    def widened(self) -> dict[str, Estimate]:
        """Return the differences to the baseline, with the level at which their intervals cover all at once."""
        return {name: replace(gap, level=self.each_level) for name, gap in self.gaps.items()}

    def choose(self) -> str | None:
        """Return the target with the highest lower end of its simultaneous interval; None if that is not above 0."""
        allowed = self.widened if self.allowed is None else self.allowed
        lows = {name: gap.interval().low for name, gap in self.widened.items() if name in allowed}
        best = max(lows, key=lambda name: lows[name], default=None)
        return best if best is not None and lows[best] > 0 else None

    def find_probabilities(self) -> list[float]:
        """Return the probability that each policy earns most, by draws that reach as far as the intervals."""
        values = stretch_noise(self.drawn, self.every_gap)
        is_best = values == values.max(axis=1, keepdims=True)
        shares = is_best / is_best.sum(axis=1, keepdims=True)  # policies with equal values share the draw
        return [float(probability) for probability in shares.mean(axis=0)]

    def may_be_best(self, index: int) -> bool:
        """Say whether the log cannot tell a policy from the best one.

        It can if the policy with the highest value earns more, by an interval that allows for all comparisons of this
        policy with others: the best one is wrongly ruled out with a probability of at most $1 - level$.

        Edwards, Hsu (1983), "Multiple comparisons with the best treatment".
        """
        leader = int(np.argmax([estimate.in_differences.value for estimate in self.estimates]))
        gap = self.estimates[leader] - self.estimates[index]
        level = self.logged.level
        # The interval for all comparisons is wider than this one, so a gap that this one does not show needs no draws.
        if index == leader or gap.interval(find_two_sided_level(level)).low <= 0:
            return True
        least_deviation = ALIKE_NOISE_SHARE * float(self.drawn.std(axis=0).max())
        largest = standardise(self.drawn - self.drawn[:, [index]], least_deviation).max(axis=1)
        return gap.interval(find_each_level(largest, level, tails=1, seed=self.seed)).low <= 0

    def decide(self) -> Decision:
        """Return which policy to choose, and how all policies compare."""
        names = [LOG, *self.targets]
        standings = []
        for index, (name, probability) in enumerate(zip(names, self.find_probabilities(), strict=True)):
            standings.append(Standing(policy=name, probability_best=probability, may_be_best=self.may_be_best(index)))
        return Decision(
            level=self.logged.level,
            each_level=self.each_level,
            choice=self.choose(),
            standings=standings,
        )
