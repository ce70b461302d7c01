"""Bandits of many kinds whose truth is known, in families of problems."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from counterfold.base.arrays import Floats, Ints, row_sums
from counterfold.log.log import Log
from counterfold.simulation import Problem, draw_actions, softmax

Reward = Literal[
    "binary",
    "sparse",
    "logistic",
    "normal",
    "shifted",
    "heavy",
    "skewed",
    "purchases",
    "revenue",
    "scattered",
    "prices",
    "ratings",
]
Model = Literal["fitted", "good", "bad"]

CONTEXT_COLUMNS = 5

COLD_SHARE = 0.005
"""How often the log takes each cold action."""

TARGET_COLD_SHARE = 1 / 6
"""How often the target takes any of the cold actions."""

TEXT_LEVELS = 40
"""How many levels the useless text column has; the log holds it as indicator columns."""

JUMP = 1.5
"""How much higher ratings are where the shared column is above its median."""

HOURS = 24
"""How many hours of equal length the rows of a log with a rotation cover."""

Scores = Callable[[Floats], Floats]
"""From contexts to the scores of rewards, logging policy and target (3 x n x actions)."""


@dataclass(frozen=True)
class Bandit:
    r"""A contextual bandit: $x \sim N(0, I)$, scores $f_a(x)$, and policies that know the scores only roughly.

    The mean reward is $f_a(x)$, or its logistic function where rewards are 0 or 1. `curvature` is the share of the
    scores' variance that is not linear in $x$, so that no linear model sees it: waves, or `bands` with sharp edges,
    which no smooth model sees. The logging policy is
    $(1 - \epsilon) \operatorname{softmax}(\beta_0 g(x)) + \epsilon / A$, the target
    $\operatorname{softmax}(\beta_1 h(x))$, or its best action for an infinite $\beta_1$; $g$ and $h$ are like $f$ with
    other scores mixed in. `popularity` makes the k-th action $k^{-\text{popularity}}$ times as likely in the
    log, and `floor` is the least propensity. `propensity_noise` is the standard deviation of the logarithm of the
    factor by which logged propensities differ from those that drew the actions. With a `drift`, rewards rise by so much
    from the first row to the last, while $\beta_0$ turns into $-\beta_0$. Rows come from users who have `per_user` rows
    each, a part of their context in common and a level of their own. `model` says where predicted rewards come from: a
    model that is fitted on the log, or the user, whose predictions are good or bad.

    Seven more settings describe logs as they are met in practice. Actions matter only in a `subgroup`, a share of the
    contexts. The last `cold` actions are new: the log takes each of them in 0.5 % of its decisions, the target takes
    one of them in a sixth. With `rotates`, the log prefers another action in each hour, and rewards have a level of
    their own in each hour. With `log_normal`, the log holds the exponentials of the context columns. `useless` columns
    and a text of 40 levels say nothing about rewards. With rewards `"prices"`, each action has a price, and the prices
    have a heavy tail.

    >>> problem = Bandit(rows=500, actions=3).draw_problem(0)
    >>> problem.log
    Log(500 rows, 3 actions, 5 context columns, full logging probabilities)
    """

    rows: int = 1000
    actions: int = 5
    reward: Reward = "normal"
    curvature: float = 0.0
    logging_beta: float = 1.0
    target_beta: float = 2.0
    exploration: float = 0.0
    propensity_noise: float = 0.0
    model: Model = "fitted"
    bands: bool = False
    popularity: float = 0.0
    floor: float = 0.0
    drift: float = 0.0
    per_user: int = 1
    subgroup: float = 1.0
    cold: int = 0
    rotates: bool = False
    log_normal: bool = False
    useless: int = 0
    moved_ranges: float = 0.0

    def draw_problem(self, seed: int) -> Problem:
        """Return the log, the target and its truth that a seed makes."""
        rng = np.random.default_rng(seed)
        compute_scores = self.draw_scores(rng)
        context = rng.standard_normal((self.rows, CONTEXT_COLUMNS))
        users = np.arange(self.rows) // self.per_user
        if self.per_user > 1:
            context = (context + rng.standard_normal((self.rows, CONTEXT_COLUMNS))[users]) / np.sqrt(2)
        reward_scores, logging_scores, target_scores = compute_scores(context)
        logging, means = self.logging(logging_scores), self.means(reward_scores)
        action = draw_actions(logging, rng.random(self.rows))
        reward = self.draw_rewards(means[np.arange(self.rows), action], rng)
        if self.drift:
            reward += self.drift * (count_through(self.rows) - 0.5)
        if self.per_user > 1:
            reward += rng.standard_normal(self.rows)[users]
        if self.rotates:
            reward += compute_hour_levels(self.rows)
        noisy = logging * np.exp(self.propensity_noise * rng.standard_normal(self.actions))
        known = {"logging_probs": noisy / noisy.sum(axis=1, keepdims=True), "actions": list(range(self.actions))}
        group = users if self.per_user > 1 else None
        predictions = None if self.model == "fitted" else self.draw_predictions(means, rng)
        columns = self.draw_columns(context, rng)
        log = Log(context=columns, action=action, reward=reward, group=group, **known)
        truth = self.truth(compute_scores)
        return Problem(log, self.target(target_scores), truth, predictions, float(reward.std()))

    def draw_columns(self, context: Floats, rng: np.random.Generator) -> Floats:
        """Return the columns of the context as the log holds them."""
        columns = np.exp(1.5 * context) if self.log_normal else context
        if not self.useless:
            return columns
        numbers = rng.standard_normal((self.rows, self.useless))
        levels = np.eye(TEXT_LEVELS)[rng.integers(TEXT_LEVELS, size=self.rows)]
        return np.hstack([columns, numbers, levels])

    def draw_scores(self, rng: np.random.Generator) -> Scores:
        """Return a random function; the scores of both policies share half of their variance with those of rewards."""
        slopes = rng.standard_normal((3, CONTEXT_COLUMNS, self.actions)) * np.sqrt(0.7 / CONTEXT_COLUMNS)
        levels = rng.standard_normal((3, 1, self.actions)) * np.sqrt(0.3)
        for array in (slopes, levels):
            array[1:] = (array[:1] + array[1:]) / np.sqrt(2)
        waves = rng.standard_normal((CONTEXT_COLUMNS, self.actions))

        def compute_scores(context: Floats) -> Floats:
            scores = np.einsum("nd,kda->kna", context, slopes) + levels
            if self.curvature:
                wave = np.sign(np.sin(3 * context @ waves)) if self.bands else np.sqrt(2) * np.sin(2 * context @ waves)
                scores[0] = np.sqrt(1 - self.curvature) * scores[0] + np.sqrt(self.curvature) * wave
                scores[1:] += np.sqrt(self.curvature) * wave / np.sqrt(2)
            if self.subgroup < 1:
                is_inside = context[:, :1] > ndtri(1 - self.subgroup)
                level = scores[0].mean(axis=1, keepdims=True)
                scores[0] = np.where(is_inside, 1.5 * scores[0], 0.5 * level)
            if self.moved_ranges:
                place = ndtr(context[:, 0])
                scores[0] = 0.3 * scores[0] + JUMP * ((place > 0.5)[:, None] - 0.5)
                scores[1] = self.prefer_by_range(place)
                scores[2] = self.prefer_by_range(place - self.moved_ranges)
            return np.asarray(scores)

        return compute_scores

    def prefer_by_range(self, place: Floats) -> Floats:
        """Return a score of 1 for the action of the range that each place in [0, 1] is in, and of 0 for the others."""
        ranges = np.clip(np.floor(place * self.actions), 0, self.actions - 1)
        return np.eye(self.actions)[ranges.astype(np.intp)]

    def logging(self, scores: Floats) -> Floats:
        """Return the policy that logged, row by row."""
        turn = 1 - 2 * count_through(len(scores))[:, None] if self.drift else 1.0
        likely = self.popularity * np.log(np.arange(1, self.actions + 1))
        drawn = self.exploration + self.floor * self.actions
        preferences = self.logging_beta * turn * scores - likely
        if self.rotates:
            favourite = count_hours(len(scores)) % self.actions
            preferences = preferences + 3.0 * np.eye(self.actions)[favourite]
        if self.cold:
            return self.add_cold_actions(softmax(preferences[:, : -self.cold]), self.cold * COLD_SHARE)
        return softmax(preferences) * (1 - drawn) + drawn / self.actions

    def add_cold_actions(self, known: Floats, share: float) -> Floats:
        """Return probabilities of known actions, scaled down so that the cold ones have a share in equal parts."""
        cold = np.full((len(known), self.cold), share / self.cold)
        return np.hstack([(1 - share) * known, cold])

    def target(self, scores: Floats) -> Floats:
        """Return the policy to be valued."""
        if self.cold:
            return self.add_cold_actions(softmax(self.target_beta * scores[:, : -self.cold]), TARGET_COLD_SHARE)
        if np.isinf(self.target_beta):
            return np.asarray(np.eye(self.actions)[(np.sign(self.target_beta) * scores).argmax(axis=1)])
        return softmax(self.target_beta * scores)

    def means(self, scores: Floats) -> Floats:
        """Return the mean reward of every action."""
        if self.reward in {"binary", "sparse"}:
            return np.asarray(1 / (1 + np.exp((4.5 if self.reward == "sparse" else 0.0) - scores)))
        if self.reward == "logistic":  # steep, so that it is far from linear
            return np.asarray(1 / (1 + np.exp(1.0 - 3.0 * scores)))
        if self.reward in {"skewed", "revenue"}:
            return np.asarray(np.exp(0.5 * scores))
        if self.reward == "prices":
            return np.exp(0.5 * scores) * compute_prices(self.actions)
        if self.reward == "purchases":  # about one in twenty buys
            return np.asarray(1 / (1 + np.exp(3.2 - 0.7 * scores)))
        if self.reward == "ratings":
            scores = np.clip(3.0 + scores, 1.0, 5.0)
        return scores + 10.0 if self.reward == "shifted" else scores

    def draw_rewards(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Return a reward for each mean."""
        if self.reward in {"binary", "sparse", "logistic", "purchases"}:
            found = (rng.random(len(means)) < means).astype(np.float64)
            if found.min() == found.max():  # no log may have rewards that are all equal
                found[rng.integers(len(found))] = 1 - found[0]
            return found * draw_amounts(len(means), rng) if self.reward == "purchases" else found
        if self.reward == "heavy":
            return np.asarray(means + rng.standard_t(2.5, len(means)) / 2)
        if self.reward == "scattered":  # the larger, the farther apart
            return np.asarray(means + np.exp(0.6 * means) * rng.standard_t(2.5, len(means)) / 2)
        if self.reward in {"skewed", "revenue", "prices"}:
            return self.draw_payments(means, rng)
        if self.reward == "ratings":
            return np.asarray(1 + rng.binomial(4, (means - 1) / 4), dtype=np.float64)
        return np.asarray(means + rng.standard_normal(len(means)))

    def draw_payments(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Return what people pay: all of them, one in four (revenue), or one in ten, who pays the price."""
        if self.reward == "prices":
            return 10 * means * (rng.random(len(means)) < 0.1)
        payments = means * draw_amounts(len(means), rng)
        return 4 * payments * (rng.random(len(means)) < 0.25) if self.reward == "revenue" else payments

    def draw_predictions(self, means: Floats, rng: np.random.Generator) -> Floats:
        """Return the predictions of a user's model: near the means, or far from them in level, slope and detail."""
        spread = means.std()
        if self.model == "good":
            return np.asarray(means + 0.1 * spread * rng.standard_normal(means.shape))
        wrong = rng.standard_normal(self.actions) + rng.standard_normal(means.shape)
        return np.asarray(0.5 * means + spread * (1.0 + 0.5 * wrong))

    def truth(self, compute_scores: Scores) -> float:
        """Return the target's value over all contexts, by 2**13 to 2**16 quasi-random ones, fewer for many actions."""
        from scipy.stats import norm, qmc

        count = 2 ** int(np.log2(min(2**16, max(2**13, 2**22 // self.actions))))
        points = qmc.Sobol(CONTEXT_COLUMNS, scramble=True, rng=np.random.default_rng(0)).random(count)
        total, chunks = 0.0, max(1, count * self.actions // 2**20)  # so that memory does not grow with the actions
        for contexts in np.array_split(norm.ppf(points), chunks):
            scores = compute_scores(contexts)
            total += float(row_sums(self.target(scores[2]), self.means(scores[0])).sum())
        return float(total / count)


def count_through(rows: int) -> Floats:
    """Return how far each row is from the first one to the last, from 0 to 1."""
    return (np.arange(rows) + 0.5) / rows


def count_hours(rows: int) -> Ints:
    """Return the hour of each row."""
    return np.asarray(HOURS * count_through(rows)).astype(np.intp)


def compute_hour_levels(rows: int) -> Floats:
    """Return how much higher or lower rewards are in the hour of each row; 0 on average."""
    return np.asarray(np.sin(2 * np.pi * (count_hours(rows) + 0.5) / HOURS))


def compute_prices(actions: int) -> Floats:
    """Return the price of each action: the quantiles of a log-normal distribution, in an order that tells nothing."""
    places = (np.arange(actions) * (math.sqrt(5) - 1) / 2) % 1
    ranks = places.argsort().argsort()
    return np.asarray(np.exp(1.2 * ndtri((ranks + 0.5) / actions) - 0.72))


def draw_amounts(count: int, rng: np.random.Generator) -> Floats:
    """Return what people spend, 1 on average: log-normal numbers."""
    return np.asarray(np.exp(1.2 * rng.standard_normal(count) - 0.72))


USUAL: dict[str, Sequence[Any]] = {
    "rows": (100, 300, 1000, 3000, 10_000),
    "actions": (2, 5, 10, 20),
    "reward": ("binary", "normal"),
    "curvature": (0.0, 0.3, 0.8),
    "logging_beta": (-1.0, 0.5, 1.0, 2.0),
    "target_beta": (-2.0, 1.0, 3.0, 10.0),
    "exploration": (0.0, 0.1),
}
"""The values of each setting that a family's bandits are drawn from, unless the family has its own."""

THREE = (300, 2000, 10_000)
"""The rows of families that are to be seen at several sizes."""

FAMILIES: dict[str, dict[str, Sequence[Any]]] = {
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
    "misread propensities": {"propensity_noise": (0.1, 0.3)},
    "rare heavy rewards": {"reward": ("purchases",), "rows": (300, 2000, 10_000)},
    "non-linear logistic": {"reward": ("logistic",), "curvature": (0.5, 1.0), "rows": THREE},
    "popular actions": {"actions": (50,), "popularity": (1.0,), "exploration": (0.1, 0.3), "rows": THREE},
    "revenue": {"reward": ("revenue",), "rows": THREE},
    "drift": {"reward": ("normal",), "drift": (1.0, 3.0), "rows": THREE},
    "users": {"reward": ("normal",), "per_user": (5, 20), "rows": THREE},
    "low propensities": {"floor": (0.01,), "logging_beta": (3.0, 10.0), "actions": (2, 5, 10), "rows": THREE},
    "scattered rewards": {"reward": ("scattered",), "rows": THREE},
    "bands": {"curvature": (1.0,), "bands": (True,), "rows": THREE},
    "rare responses": {"reward": ("sparse",), "subgroup": (0.2,), "actions": (2, 3, 5), "rows": THREE},
    "cold start": {"cold": (1, 3), "actions": (5, 10), "exploration": (0.0,), "rows": THREE},
    "deterministic logger": {"logging_beta": (20.0,), "exploration": (0.01, 0.02, 0.05), "rows": THREE},
    "log-normal columns": {"log_normal": (True,), "reward": ("normal",), "rows": THREE},
    "price tails": {"reward": ("prices",), "actions": (200, 500), "exploration": (0.1, 0.3), "rows": THREE},
    "rotation": {"rotates": (True,), "reward": ("normal",), "rows": THREE},
    "useless columns": {"useless": (20,), "rows": THREE},
    "shared column": {
        "moved_ranges": (-0.12, -0.06, 0.06, 0.12),
        "reward": ("ratings",),
        "actions": (4,),
        "floor": (0.05,),
        "logging_beta": (20.0,),
        "target_beta": (5.0,),
        "exploration": (0.0,),
        "rows": (300, 1500, 6000),
    },
}
"""Families of problems, by the settings in which they differ from the usual ones."""


def draw_bandit(family: str, seed: int) -> Bandit:
    """Return the bandit of a family that a seed draws."""
    rng = np.random.default_rng([list(FAMILIES).index(family), seed])
    settings = USUAL | FAMILIES[family]
    return Bandit(**{name: choices[int(rng.integers(len(choices)))] for name, choices in settings.items()})
