"""Whether `learn` overstates policies where no action is better than another, so that nothing can be gained.

`off` is the mean, over logs, of the stated difference to the log in its standard errors: 0 if the answer is right on
average. Behind it is the standard error of that mean, and how often the log is said to be beaten, with the exact
binomial interval of 95 %. It should be at most 2.5 %.

The clicks are binary rewards of 2 to 10 %, in logs of 2,000 to 5,000 rows and 3 to 8 actions; all of these are drawn
for each log. Half of these logs were drawn by a uniform policy, half by a softmax of the context.
"""

import argparse
import json
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from rich.progress import track
from scipy.special import expit, softmax
from scipy.stats import binomtest

import counterfold as cf


@dataclass(frozen=True)
class World(ABC):
    """Logs without anything to gain, and the learners that compete on them."""

    name: str
    learners: str = "default"
    shares: tuple[float, ...] = (1.0,)

    @abstractmethod
    def draw_log(self, seed):
        """Return a log in which the context matters to rewards, and the action does not."""

    def learn(self, seed):
        """Return the stated gain in standard errors, and whether the log is said to be beaten."""
        learned = cf.learn(self.draw_log(seed), self.learners, shares=self.shares, threads=1, progress=False)
        gain = learned.attempt.uplift()
        outcome = {
            "world": self.name,
            "seed": seed,
            "off": gain.value / gain.stderr,
            "beaten": learned.beats_log,
            "chosen": learned.chosen,
            "folds": {line.contender: line.folds for line in learned.table if line.folds},
            "verdict": learned.attempt.verdict,
        }
        print(json.dumps(outcome), file=sys.stderr, flush=True)
        return outcome["off"], outcome["beaten"]


@dataclass(frozen=True)
class Normal(World):
    """Normal rewards, and a logging policy that knows no context."""

    rows: int = 300
    actions: int = 3

    def draw_log(self, seed):
        rng = np.random.default_rng(seed)
        context = rng.normal(size=(self.rows, 2))
        probs = np.arange(self.actions, 0, -1) / np.arange(self.actions + 1).sum()
        action = rng.choice(self.actions, size=self.rows, p=probs)
        reward = context[:, 0] + rng.normal(size=self.rows)
        return cf.Log(context=context, action=action, reward=reward, logging_probs=np.tile(probs, (self.rows, 1)))


@dataclass(frozen=True)
class Clicks(World):
    """Rare binary rewards; every other log was drawn by a softmax of the context."""

    def draw_log(self, seed):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(2000, 5001))
        n_actions = int(rng.integers(3, 9))
        rate = rng.uniform(0.02, 0.1)
        context = rng.normal(size=(n_rows, 4))
        slopes = rng.normal(size=(4, n_actions)) if seed % 2 else np.zeros((4, n_actions))
        probs = softmax(0.7 * context @ slopes, axis=1)
        action = (probs.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
        # The rate varies by a factor of about two up and down with the first two columns.
        chance = expit(np.log(rate / (1 - rate)) + 0.7 * context[:, 0] - 0.4 * context[:, 1])
        reward = (rng.random(n_rows) < chance).astype(float)
        return cf.Log(context=context, action=action, reward=reward, logging_probs=probs)


WORLDS = (
    Normal("300 rows, 3 actions, default", shares=(1.0, 0.5)),
    Normal("500 rows, 8 actions, greedy-learner", "greedy-learner", rows=500, actions=8),
    Clicks("clicks, default"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, nargs=len(WORLDS), default=[110, 160, 200], help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0, help="that of the first log")
    asked = parser.parse_args()
    lines = ["| kind | logs | off | beaten |", "| --- | --- | --- | --- |"]
    for world, count in zip(WORLDS, asked.logs, strict=True):
        seeds = range(asked.seed, asked.seed + count)
        if not count:
            continue
        off, beaten = np.array([world.learn(seed) for seed in track(seeds, world.name)]).T
        stated = f"{off.mean():+.2f} ± {off.std(ddof=1) / np.sqrt(count):.2f}"
        bounds = binomtest(int(beaten.sum()), count).proportion_ci()
        share = f"{beaten.sum():.0f} ({bounds.low:.1%} to {bounds.high:.1%})"
        lines.append(f"| {world.name} | {count} | {stated} | {share} |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
