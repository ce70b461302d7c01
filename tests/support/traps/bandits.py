"""Clean bandits that traps spoil."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(eq=False)
class Bandit:
    """A log without mistakes: columns that a trap may change before it makes a table of them, and the truth.

    `means` (n x A) are the mean rewards; `logging` and `target` (n x A) the policies.
    """

    x: np.ndarray
    logging: np.ndarray
    target: np.ndarray
    action: np.ndarray
    means: np.ndarray
    reward: np.ndarray
    labels: list

    @property
    def truth(self):
        """Return the value of the target over the logged contexts."""
        return float((self.target * self.means).sum(axis=1).mean())

    @property
    def propensity(self):
        """Return the probability of each logged action."""
        return self.logging[np.arange(len(self.action)), self.action]

    def columns(self, **changes):
        """Return the columns of a log as people have it: context, label, reward, propensity, probabilities."""
        columns = {f"x{place}": column for place, column in enumerate(self.x.T)}
        columns |= {"action": [self.labels[code] for code in self.action], "reward": self.reward}
        columns |= {"propensity": self.propensity}
        columns |= {f"target_{label}": column for label, column in zip(self.labels, self.target.T, strict=True)}
        return {name: column for name, column in (columns | changes).items() if column is not None}

    def table(self, **changes):
        """Return the columns as a table; None leaves one out."""
        return pa.table(self.columns(**changes))


def softmax(scores):
    """Return probabilities."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def draw(probs, rng):
    """Return an action for each row of probabilities."""
    return (probs.cumsum(axis=1) > rng.random((len(probs), 1))).argmax(axis=1)


def make_bandit(rng, rows=2000, labels=("red", "green", "blue"), sharpness=1.0, noise=0.5):
    """Return a log whose policy and rewards depend on three numbers, with a target that knows a bit more."""
    x = rng.normal(size=(rows, 3))
    slopes, wanted = rng.normal(size=(2, 3, len(labels)))
    means = 1.0 + x @ slopes * 0.5 + np.arange(len(labels)) * 0.5
    logging = 0.9 * softmax(sharpness * x @ wanted) + 0.1 / len(labels)
    target = softmax(2.0 * means)
    action = draw(logging, rng)
    reward = means[np.arange(rows), action] + noise * rng.normal(size=rows)
    return Bandit(x, logging, target, action, means, reward, list(labels))
