"""Bandits of many kinds whose truth is known, to see what a way of choosing does where it was not tuned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from counterfold.arrays import Floats, row_sums
from counterfold.experiments.paper.classification import Problem, softmax
from counterfold.experiments.synthetic.generator import drawn
from counterfold.log import Log

Reward = Literal["binary", "sparse", "normal", "shifted", "heavy", "skewed"]
Model = Literal["fitted", "good", "bad"]

WIDTH = 5
"""Columns of context."""

POINTS = 2**22
"""How many numbers a policy's probabilities may hold while the truth is computed."""


@dataclass(frozen=True)
class Bandit:
    r"""A contextual bandit: $x \sim N(0, I)$, scores $f_a(x)$, and policies that know them only in part.

    The mean reward is $f_a(x)$, or its logistic function where rewards are 0 or 1. Scores are linear in $x$ but for
    a part `bent` that no linear model sees. The logging policy is
    $(1 - \epsilon) \operatorname{softmax}(\beta_0 g(x)) + \epsilon / A$, the target
    $\operatorname{softmax}(\beta_1 h(x))$, or its best action for an infinite $\beta_1$; $g$ and $h$ are like $f$ with
    other scores mixed in. `misread` is how far logged propensities are from those that drew the actions: the standard
    deviation of a factor's logarithm. `model` says who predicts rewards: one fitted on the log, or the user, well or
    badly.

    The truth is the target's value over all contexts, by a quasi-random sample.

    >>> problem = Bandit(rows=500, actions=3).problem(0)
    >>> problem.log
    Log(500 rows, 3 actions, 5 context columns, full logging probabilities)
    """

    rows: int = 1000
    actions: int = 5
    reward: Reward = "normal"
    bent: float = 0.0
    logging_beta: float = 1.0
    target_beta: float = 2.0
    exploration: float = 0.0
    misread: float = 0.0
    model: Model = "fitted"

    def problem(self, seed: int) -> "Asked":
        """Return the log, the target and its truth that a seed makes."""
        rng = np.random.default_rng(seed)
        nature = Nature.drawn(self, rng)
        context = rng.standard_normal((self.rows, WIDTH))
        scores = nature.scores(context)
        logging = self.logging(scores[1])
        means = self.means(scores[0])
        action = drawn(logging, rng)
        logged = np.arange(self.rows), action
        reward = self.rewards(means[logged], rng)
        misread = logging * np.exp(self.misread * rng.standard_normal(self.actions))
        log = Log(
            context=context,
            action=action,
            reward=reward,
            logging_probs=misread / misread.sum(axis=1, keepdims=True),
            actions=list(range(self.actions)),
        )
        predictions = None if self.model == "fitted" else self.predicted(means, rng)
        return Asked(log, self.target(scores[2]), self.truth(nature), predictions, float(reward.std()))

    def logging(self, scores: Floats) -> Floats:
        """Return the policy that draws actions."""
        return softmax(self.logging_beta * scores) * (1 - self.exploration) + self.exploration / self.actions

    def target(self, scores: Floats) -> Floats:
        """Return the policy to be valued."""
        if np.isinf(self.target_beta):
            best = (np.sign(self.target_beta) * scores).argmax(axis=1)
            return np.asarray(np.eye(self.actions)[best])
        return softmax(self.target_beta * scores)

    def means(self, scores: Floats) -> Floats:
        """Return the mean reward of every action."""
        if self.reward == "binary":
            return np.asarray(1 / (1 + np.exp(-scores)))
        if self.reward == "sparse":
            return np.asarray(1 / (1 + np.exp(4.5 - scores)))
        if self.reward == "skewed":
            return np.asarray(np.exp(0.5 * scores))
        return scores + 10.0 if self.reward == "shifted" else scores

    def rewards(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Return a reward for each mean."""
        if self.reward in {"binary", "sparse"}:
            found = (rng.random(len(means)) < means).astype(np.float64)
            if found.min() == found.max():  # no log may have equal rewards only
                found[rng.integers(len(found))] = 1 - found[0]
            return found
        if self.reward == "heavy":
            return np.asarray(means + rng.standard_t(2.5, len(means)) / 2)
        if self.reward == "skewed":  # log-normal with mean 1: what people spend
            return np.asarray(means * np.exp(1.2 * rng.standard_normal(len(means)) - 0.72))
        return np.asarray(means + rng.standard_normal(len(means)))

    def predicted(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Return a user's predictions: near the truth, or far from it in level, slope and detail."""
        spread = means.std()
        if self.model == "good":
            return np.asarray(means + 0.1 * spread * rng.standard_normal(means.shape))
        wrong = rng.standard_normal(self.actions) + rng.standard_normal(means.shape)
        return np.asarray(0.5 * means + spread * (1.0 + 0.5 * wrong))

    def truth(self, nature: "Nature") -> float:
        """Return the value of the target over all contexts."""
        from scipy.stats import norm, qmc

        count = 2 ** int(np.log2(min(2**16, max(2**13, POINTS // self.actions))))
        points = qmc.Sobol(WIDTH, scramble=True, rng=np.random.default_rng(0)).random(count)
        total = 0.0
        for part in np.array_split(norm.ppf(points), max(1, count * self.actions // 2**20)):
            scores = nature.scores(part)
            total += float(row_sums(self.target(scores[2]), self.means(scores[0])).sum())
        return float(total / count)


@dataclass(frozen=True, eq=False)
class Asked(Problem):
    """A problem with the predictions of a user's own model, if there are any, and the spread of the rewards."""

    predictions: Floats | None
    scale: float


@dataclass(frozen=True, eq=False)
class Nature:
    """What does not depend on the rows: the slopes of reward, logging and target scores, and how rewards bend."""

    slopes: Floats
    levels: Floats
    waves: Floats
    bent: float

    @classmethod
    def drawn(cls, bandit: Bandit, rng: np.random.Generator) -> "Nature":
        """Return a random one: both policies' scores share half of their variance with those of the rewards."""
        slopes = rng.standard_normal((3, WIDTH, bandit.actions)) * np.sqrt(0.7 / WIDTH)
        levels = rng.standard_normal((3, 1, bandit.actions)) * np.sqrt(0.3)
        for part in (slopes, levels):
            part[1:] = (part[:1] + part[1:]) / np.sqrt(2)
        return cls(slopes, levels, rng.standard_normal((WIDTH, bandit.actions)), bandit.bent)

    def scores(self, context: Floats) -> Floats:
        """Return the scores of rewards, logging and target (3 x n x actions)."""
        plain = np.einsum("nd,kda->kna", context, self.slopes) + self.levels
        if self.bent:
            wave = np.sqrt(2) * np.sin(2 * context @ self.waves)
            plain[0] = np.sqrt(1 - self.bent) * plain[0] + np.sqrt(self.bent) * wave
            plain[1:] += np.sqrt(self.bent) * wave / np.sqrt(2)
        return np.asarray(plain)


Choices = dict[str, Sequence[Any]]

USUAL: Choices = {
    "rows": (100, 300, 1000, 3000, 10_000),
    "actions": (2, 5, 10, 20),
    "reward": ("binary", "normal"),
    "bent": (0.0, 0.3, 0.8),
    "logging_beta": (-1.0, 0.5, 1.0, 2.0),
    "target_beta": (-2.0, 1.0, 3.0, 10.0),
    "exploration": (0.0, 0.1),
}
"""What a family's bandits are drawn from, unless it says otherwise."""

FAMILIES: dict[str, Choices] = {
    "binary": {"reward": ("binary",)},
    "continuous": {"reward": ("normal",)},
    "shifted": {"reward": ("shifted",)},
    "heavy-tailed": {"reward": ("heavy", "skewed")},
    "sparse": {"reward": ("sparse",), "rows": (1000, 3000, 10_000, 30_000)},
    "many actions": {"actions": (100, 300, 1000), "rows": (1000, 3000, 10_000), "exploration": (0.1, 0.5)},
    "user's model": {"model": ("good", "bad")},
    "near-deterministic logger": {"logging_beta": (6.0, 20.0), "exploration": (0.05, 0.1, 0.2)},
    "near-uniform logger": {"logging_beta": (0.0, 0.1)},
    "deterministic target": {"target_beta": (-np.inf, np.inf)},
    "few rows": {"rows": (100, 200)},
    "many rows": {"rows": (30_000, 100_000), "actions": (2, 5, 10)},
    "misread propensities": {"misread": (0.1, 0.3)},
}
"""Kinds of problems; all but one thing of a problem is drawn from what is usual."""


def bandit(family: str, seed: int) -> Bandit:
    """Return the bandit of a family that a seed draws."""
    rng = np.random.default_rng([list(FAMILIES).index(family), seed])
    given = USUAL | FAMILIES[family]
    return Bandit(**{name: choices[int(rng.integers(len(choices)))] for name, choices in given.items()})
