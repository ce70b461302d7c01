"""Synthetic: makes logs of any size block by block, like those of a recommender or an ad server."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterfold.base import validation
from counterfold.base.arrays import Floats, row_sums
from counterfold.base.cached import cached_property
from counterfold.base.hashing import STEP, mix_bits
from counterfold.simulation import draw_actions, softmax

Reward = Literal["binary", "continuous"]

EXPLORATION = 0.2
"""The share of decisions that are uniformly random: no propensity is below this, divided by the number of actions."""

LARGEST_BLOCK, LARGEST_BLOCK_NUMBERS = 2**17, 2**23
"""The rows that a block has at most, and the numbers, so that the blocks of logs with many actions have fewer rows."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a log, by column (of lists, if it is a matrix), and the sum over them of each target's value."""

    columns: dict[str, NDArray[Any]]
    sums: Floats


@dataclass(frozen=True)
class Synthetic:
    r"""A contextual bandit whose columns are normal, heavy-tailed or binary, and share a common factor.

    With scores $f_a(x)$ that are linear in $x$ (in $\log x$ where it is heavy-tailed) the logging policy is
    $\pi_0(a \mid x) = (1 - \epsilon) \operatorname{softmax}(f(x))_a + \epsilon / A$. Targets are softmax policies, too:
    sharper, without exploration, and with more weight on actions that earn more. The mean reward is the logistic
    function of such a score, plus a wave in one direction and, where rows belong to users, an effect of the user.

    >>> block = Synthetic(actions=3, context=2).block(0, 1000)
    >>> list(block.columns)
    ['x0', 'x1', 'action', 'reward', 'propensity', 'logging_probs', 'target']
    >>> block.columns["target"].shape
    (1000, 3)
    """

    actions: int = 10
    context: int = 10
    targets: int = 1
    groups: int | None = None
    reward: Reward = "binary"
    logged_only: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        validation.whole(2, actions=self.actions)
        validation.whole(0, context=self.context)
        validation.seeds(seed=self.seed)
        validation.whole(1, targets=self.targets)
        validation.one_of(("binary", "continuous"), reward=self.reward)
        if self.groups is not None:
            validation.whole(2, groups=self.groups)

    @property
    def block_rows(self) -> int:
        """Return the rows of a full block."""
        numbers = self.width + (2 + self.targets) * self.actions
        return int(min(LARGEST_BLOCK, max(1, 2 ** (LARGEST_BLOCK_NUMBERS // numbers).bit_length() // 2)))

    @property
    def width(self) -> int:
        """Return the number of columns that decisions depend on, which are hidden where the log has no context."""
        return self.context or 5

    @property
    def target_names(self) -> list[str]:
        """Return the targets' columns."""
        return ["target", *(f"target_{number}" for number in range(2, self.targets + 1))]

    def block(self, number: int, rows: int) -> Block:
        """Return the block of that number with so many rows; it depends on no other block."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1, number)))
        user = None if self.groups is None else (self.groups * rng.random(rows) ** 2).astype(np.int64)
        columns, features = self._draw_context(rng, rows)
        logging_scores, scores, *target_scores = (features @ slopes for slopes in self._coefficients[2])
        logging = softmax(logging_scores) * (1 - EXPLORATION) + EXPLORATION / self.actions
        targets = [softmax(one) for one in target_scores]
        if user is not None:
            scores += user_effects(user, self.seed)[:, None]
        mean = 1 / (1 + np.exp(-scores))
        action = draw_actions(logging, rng.random(rows))
        logged = np.arange(rows), action
        if self.reward == "continuous":
            reward = mean[logged] + 0.5 * rng.standard_normal(rows)
        else:
            reward = (rng.random(rows) < mean[logged]).astype(np.float64)
        columns |= {"action": action, "reward": reward, "propensity": logging[logged]}
        columns |= {} if self.logged_only else {"logging_probs": logging}
        shown = (policy[logged] if self.logged_only else policy for policy in targets)
        columns |= dict(zip(self.target_names, shown, strict=True))
        if user is not None:
            columns["group"] = user
        return Block(columns, np.array([row_sums(policy, mean).sum() for policy in targets]))

    @cached_property
    def _coefficients(self) -> tuple[Floats, Floats, list[Floats]]:
        """Return what is the same for all rows: thresholds of binary columns, a direction of waves, slopes of scores.

        The first slopes are those of the logging policy, the second those of rewards, and the others those of targets.
        """
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(0,)))

        def scores(spread: float) -> Floats:
            slopes = rng.normal(0, spread / np.sqrt(self.width), (self.width, self.actions))
            return np.vstack([slopes, np.zeros(self.actions), rng.normal(0, spread / 2, self.actions)])

        cuts, direction = rng.uniform(-1, 1, self.width), rng.normal(0, 1 / np.sqrt(self.width), self.width)
        logging, reward = scores(1.0), scores(0.7)
        targets = [2.2 * (0.6 * logging + 0.8 * reward + scores(0.4)) for _ in range(self.targets)]
        reward[-2] = rng.normal(0, 0.5, self.actions)
        reward[-1] -= 1.0
        return cuts, direction, [logging, reward, *targets]

    def _draw_context(self, rng: np.random.Generator, rows: int) -> tuple[dict[str, NDArray[Any]], Floats]:
        """Return the context as stored, and what scores are linear in: columns without heavy tails, a wave and ones."""
        (cuts, direction, _), common = self._coefficients, rng.standard_normal(rows)
        plain = np.sqrt(0.7) * rng.standard_normal((self.width, rows)) + np.sqrt(0.3) * common
        np.rint(plain * 1000, out=plain)  # real columns mostly have few digits
        plain /= 1000
        plain[2::3] = np.where(plain[2::3] > cuts[2::3, None], 1.0, -1.0)
        stored = plain[: self.context].copy()  # normal, heavy-tailed and binary columns take turns
        np.exp(stored[1::3], out=stored[1::3])
        np.maximum(stored[2::3], 0.0, out=stored[2::3])
        wave = np.sin(2 * (direction @ plain))
        columns: dict[str, NDArray[Any]] = {f"x{place}": column for place, column in enumerate(stored)}
        return columns, np.ascontiguousarray(np.vstack([plain, wave, np.ones(rows)]).T)


def user_effects(users: NDArray[np.int64], seed: int) -> Floats:
    """Return each user's effect, with a standard deviation of 1/2; it is hashed, so that nothing need be stored.

    >>> user_effects(np.array([7, 8, 7]), seed=0).round(2)
    array([ 0.3 , -0.65,  0.3 ])
    """
    salt = np.random.SeedSequence(seed, spawn_key=(2,)).generate_state(3, np.uint64)
    return np.asarray(sum(mix_bits((users.astype(np.uint64) + one) * STEP) / 2.0**64 for one in salt) - 1.5)
