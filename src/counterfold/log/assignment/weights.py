"""Were the actions drawn with the logged propensities, where those of other actions are unknown? Tests from sums."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from counterfold.base.arrays import Floats, Ints
from counterfold.log.assignment.base import PropensityTest, Suspicion, Tested
from counterfold.log.assignment.features import CHANGED, FeatureRange
from counterfold.log.assignment.tails import TOLERANCE, tame_excess
from counterfold.log.log import Log

MOST = 1000
"""So many actions are tested, the first by label: the most frequent ones were luckier than their propensities."""

OFTEN = 10
"""All actions together are tested if each was taken so often: those that were seen by luck weigh too much."""


@dataclass(frozen=True, eq=False)
class WeightSums:
    r"""Sums over rows (2 x J x K) of some numbers for J features and K actions, times features and their squares.

    `weights` are $w_{ia} = 1[a_i = a] / p_i$ and, last, their mean over actions; `squares` are $w_{ia}^2 - 2 w_{ia}$.
    `expected` is 1 where the action could be taken.
    """

    weights: Floats
    squares: Floats
    expected: Floats
    ends: FeatureRange

    def __add__(self, other: "WeightSums") -> "WeightSums":
        weights, squares = self.weights + other.weights, self.squares + other.squares
        return WeightSums(weights, squares, self.expected + other.expected, self.ends + other.ends)


@dataclass(frozen=True, eq=False)
class WeightTest(PropensityTest[WeightSums]):
    r"""Inverse propensities of an action sum to the number of rows, or to fewer if it was not always available.

    So do they with any factor $h$ from 0 to 1 that was known before: $\sum_i h(x_i) (1[a_i = a] / p_i - 1)$ is not
    above 0. Factors are how far a column is above its mean, and below it, and how far a row is from either end of the
    log. That the sum is below 0 proves nothing, as an action may not have been available, or rare rows of large weights
    may be missing.
    """

    labels: tuple[str, ...]
    together: bool

    @classmethod
    def of(cls, first: Log, rows: Ints) -> Self:
        """Return the test for a log that begins like this one; some of its first rows tell which actions there are."""
        counts = np.bincount(first.action[rows], minlength=len(first.actions))
        seen = counts > 0
        labels = sorted(str(action) for action, is_seen in zip(first.actions, seen, strict=True) if is_seen)
        return cls(tuple(labels[:MOST]), len(labels) <= MOST and int(counts[seen].min()) >= OFTEN)

    @property
    def fewest_rows(self) -> int:
        return 4 * len(self.labels)

    def sum_rows(self, log: Log, place: Ints | slice, features: Floats, probs: Floats) -> WeightSums:
        halves = split_columns(features)
        codes, lines = self._encode(log), np.concatenate([halves.T, np.square(halves).T])
        column, inverse, number = codes[log.action[place]], 1 / log.propensity[place], len(self.labels)
        shape = 2, halves.shape[1], number + 1

        def total(numbers: Floats, together: Floats) -> Floats:
            """Return the sums of numbers for every action, 0 but for the logged one, and for all together."""
            sums = [np.bincount(column, line * numbers, number + 1)[:number] for line in lines]
            return np.column_stack([sums, lines @ (together * (column < number))]).reshape(shape)

        mean = inverse / number
        expected = np.repeat(lines.sum(axis=1)[:, None], number + 1, axis=1)
        if log.available is not None:
            known = np.flatnonzero(codes < number)
            expected[:, codes[known]] = lines @ log.available[place][:, known]
        weights, squares = total(inverse, mean), total(inverse**2 - 2 * inverse, mean**2 - 2 * mean)
        return WeightSums(weights, squares, expected.reshape(shape), FeatureRange.of(halves))

    def _encode(self, log: Log) -> Ints:
        """Return the place of each action of some rows among those that are tested, a last one if it is not."""
        places = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(str(action), len(places)) for action in log.actions], dtype=np.intp)

    def test(self, sums: WeightSums, design_effect: float) -> Tested:
        low, high = sums.ends.low, sums.ends.high
        steep = np.divide(1.0, high - low, out=np.zeros(len(low)), where=high > low)
        level = self.score(sums, 0, (1.0, 0.0))
        order = [
            self.score(sums, 1, (-low[1] * steep[1], steep[1])),
            self.score(sums, 1, (high[1] * steep[1], -steep[1])),
        ]
        several = np.array(
            [self.score(sums, place, (-low[place] * steep[place], steep[place])) for place in range(2, len(low))]
        )
        columns = several.reshape(2, -1, len(level)).transpose(1, 0, 2).reshape(-1, 2 * len(level))
        error = np.sqrt(design_effect)
        found = [Suspicion(bound(level / error), self._describe(sums, int(level.argmax())))]
        found.append(Suspicion(bound(np.concatenate(order) / error), CHANGED, needs_time=True))
        return Tested(found, np.array([bound(scores / error) for scores in columns]))

    def score(self, sums: WeightSums, place: int, line: tuple[float, float]) -> Floats:
        """Return how far the sum for every action is above 0, with a factor that is a line in a feature."""
        level, slope = line

        def once(numbers: Floats) -> Floats:
            return np.asarray(level * numbers[0, 0] + slope * numbers[0, place])

        def twice(numbers: Floats) -> Floats:
            cross = 2 * level * slope * numbers[0, place]
            return np.asarray(level**2 * numbers[0, 0] + cross + slope**2 * numbers[1, place])

        excess = once(sums.weights) - (1 + TOLERANCE) * once(sums.expected)
        scores = tame_excess(excess, twice(sums.squares) + twice(sums.expected))
        return scores if self.together else scores[:-1]

    def _describe(self, sums: WeightSums, worst: int) -> str:
        mean = sums.weights[0, 0, worst] / max(sums.expected[0, 0, worst], 1.0)
        whose = f"of action `{self.labels[worst]}`" if worst < len(self.labels) else "of all actions"
        return f"the mean weight {whose} is {mean:.4g} where at most 1 is expected"


def split_columns(features: Floats) -> Floats:
    """Return the features with each column of the context as two: how far it is above its mean, and below."""
    columns = features[:, 2:]
    return np.column_stack([features[:, :2], np.maximum(columns, 0.0), np.maximum(-columns, 0.0)])


def bound(scores: Floats) -> float:
    """Return the p-value of the largest of several scores (Bonferroni)."""
    return min(1.0, scores.size * float(special.ndtr(-scores.max())))
