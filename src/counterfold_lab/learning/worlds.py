"""Worlds: what logs to learn from are drawn from, where it is known what any policy is truly worth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from counterfold.base.arrays import Floats, row_sums
from counterfold.base.cached import cached_property
from counterfold.log.log import Log
from counterfold.simulation import draw_actions, fit_policy, softmax
from counterfold_lab.paper.datasets import Dataset
from counterfold_lab.selection.bandits import CONTEXT_COLUMNS, Bandit

CONTEXTS = 1 << 12
"""On how many quasi-random contexts the true value of a policy is computed."""


class World(ABC):
    """Contexts with the mean reward of each action, the policy that logs, and a log."""

    @property
    @abstractmethod
    def log(self) -> Log:
        """The log."""

    @property
    @abstractmethod
    def contexts(self) -> Floats:
        """The contexts (n x d) over which a value is the mean."""

    @property
    @abstractmethod
    def means(self) -> Floats:
        """The mean reward of every action in each of the contexts (n x A)."""

    @property
    @abstractmethod
    def logging_probs(self) -> Floats:
        """The probability with which the logging policy takes every action in each of the contexts (n x A)."""

    def value(self, probs: Floats) -> float:
        """Return what a policy truly earns per decision."""
        return float(row_sums(probs, self.means).mean())

    @property
    def logger_value(self) -> float:
        """Return what the logging policy truly earns."""
        return self.value(self.logging_probs)


@dataclass(frozen=True, eq=False)
class BanditWorld(World):
    """A bandit, and the seed that draws its log."""

    bandit: Bandit
    seed: int

    @cached_property
    def log(self) -> Log:
        return self.bandit.draw_problem(self.seed).log

    @cached_property
    def latent(self) -> Floats:
        """The contexts by which rewards and policies are drawn; the log may hold other columns."""
        from scipy.stats import norm, qmc

        points = qmc.Sobol(CONTEXT_COLUMNS, scramble=True, rng=np.random.default_rng(0)).random(CONTEXTS)
        return np.asarray(norm.ppf(points))

    @cached_property
    def contexts(self) -> Floats:
        alike = replace(self.bandit, rows=CONTEXTS)
        return alike.draw_columns(self.latent, np.random.default_rng(0))

    @cached_property
    def scores(self) -> Floats:
        """The scores of rewards, logging policy and target, by the function that the seed draws first."""
        return self.bandit.draw_scores(np.random.default_rng(self.seed))(self.latent)

    @cached_property
    def means(self) -> Floats:
        return self.bandit.means(self.scores[0])

    @cached_property
    def logging_probs(self) -> Floats:
        return self.bandit.logging(self.scores[1])


@dataclass(frozen=True, eq=False)
class DatasetWorld(World):
    r"""Classification data as a bandit: an action is a class, and the reward is 1 if it is the right one, else 0.

    The contexts are all rows of the dataset, each column with mean 0 and variance 1. The log draws `rows` of them with
    replacement, so that what a policy earns on all of them is the truth, at any number of rows. The logging policy is
    that of the paper, $\pi(a \mid x) \propto \exp(\beta f_a(x))$ with the class probabilities $f_a(x)$ by a logistic
    regression, which is fitted on a twentieth of the dataset, or ten rows for each class if that is more.

    >>> labels = np.repeat(["left", "right"], 50)
    >>> world = DatasetWorld(Dataset("easy", np.where(labels == "left", -1.0, 1.0)[:, None], labels), 0.0, 80, seed=0)
    >>> world.log
    Log(80 rows, 2 actions, 1 context columns, full logging probabilities)
    >>> world.logger_value, world.value(world.means)
    (0.5, 1.0)
    """

    dataset: Dataset
    logging_beta: float
    rows: int
    seed: int

    @cached_property
    def contexts(self) -> Floats:
        features = self.dataset.features
        spread = features.std(axis=0)
        return np.asarray((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0))

    @cached_property
    def means(self) -> Floats:
        return np.asarray(self.dataset.labels[:, None] == np.unique(self.dataset.labels), dtype=np.float64)

    @cached_property
    def logging_probs(self) -> Floats:
        codes, rng = self.means.argmax(axis=1), np.random.default_rng([self.seed, 0])
        few = rng.choice(len(codes), max(len(codes) // 20, 10 * self.means.shape[1]))
        coefficients, intercepts = fit_policy(self.contexts, codes, few)
        return softmax(self.logging_beta * softmax(self.contexts @ coefficients.T + intercepts))

    @cached_property
    def log(self) -> Log:
        rng = np.random.default_rng([self.seed, 1])
        drawn = rng.integers(len(self.contexts), size=self.rows)
        probs, classes = self.logging_probs[drawn], np.unique(self.dataset.labels)
        action = draw_actions(probs, rng.random(self.rows))
        reward = self.means[drawn, action]
        known = {"logging_probs": probs, "actions": classes.tolist()}
        return Log(context=self.contexts[drawn], action=classes[action], reward=reward, **known)
