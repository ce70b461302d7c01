"""Random problems as plain arrays."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Data:
    """A log and a target: context, actions, rewards, logging and target probabilities, features of the actions."""

    x: np.ndarray
    a: np.ndarray
    r: np.ndarray
    logging: np.ndarray
    target: np.ndarray
    features: np.ndarray | None = None

    def take(self, index):
        parts = (part[index] for part in (self.x, self.a, self.r, self.logging, self.target))
        return Data(*parts, self.features)

    def weights(self):
        return [self.target[i, a] / self.logging[i, a] for i, a in enumerate(self.a)]


def random_data(seed, rows=60, columns=3, actions=4, *, binary=False):
    """Return a random problem with uneven policies."""
    rng = np.random.default_rng(seed)
    logging, target = (rng.dirichlet(np.full(actions, strength), size=rows) for strength in (2.0, 0.7))
    a = np.array([rng.choice(actions, p=row) for row in logging])
    x = rng.normal(size=(rows, columns))
    r = x[:, 0] * a + rng.normal(size=rows)
    features = np.column_stack([np.arange(actions) % 2, rng.normal(size=actions)])
    return Data(x, a, (r > 0).astype(float) if binary else r, logging, target, features)


@dataclass
class Doses:
    """A log of doses and a target: context, doses, rewards, densities of the logged doses, the target's draws."""

    x: np.ndarray
    d: np.ndarray
    r: np.ndarray
    density: np.ndarray
    target: np.ndarray


def random_doses(seed, rows=60, columns=2, draws=1):
    """Return a random problem whose logged doses are normal around a multiple of the context."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns))
    d = 0.5 * x[:, 0] + rng.normal(size=rows)
    density = np.array(
        [math.exp(-((di - 0.5 * xi) ** 2) / 2) / math.sqrt(2 * math.pi) for di, xi in zip(d, x[:, 0], strict=True)]
    )
    target = x[:, :1] + 0.3 * rng.normal(size=(rows, draws))
    return Doses(x, d, x[:, 1] - (d - x[:, 0]) ** 2 + rng.normal(size=rows), density, target)
