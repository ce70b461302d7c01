"""Whether `learn` overstates policies where no action is better than another, so that nothing can be gained.

`off` is the mean, over logs, of the stated difference to the log in its standard errors: 0 if the answer is right on
average. Behind it is the standard error of that mean, and how often the log is said to be beaten.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from rich.progress import track

import counterfold as cf


@dataclass(frozen=True)
class World:
    """Logs of so many rows and actions, and the learners that compete on them."""

    rows: int
    actions: int
    learners: str
    shares: tuple[float, ...] = (1.0, 0.5)

    def draw_log(self, seed):
        """Return a log in which the context matters to rewards, and the action does not."""
        rng = np.random.default_rng(seed)
        context, probs = (
            rng.normal(size=(self.rows, 2)),
            np.arange(self.actions, 0, -1) / np.arange(self.actions + 1).sum(),
        )
        action = rng.choice(self.actions, size=self.rows, p=probs)
        reward = context[:, 0] + rng.normal(size=self.rows)
        return cf.Log(context=context, action=action, reward=reward, logging_probs=np.tile(probs, (self.rows, 1)))

    def learn(self, seed):
        """Return the stated gain in standard errors, and whether the log is said to be beaten."""
        learned = cf.learn(self.draw_log(seed), self.learners, shares=self.shares, progress=False)
        gain = learned.attempt.uplift()
        return gain.value / gain.stderr, learned.beats_log


WORLDS = (World(300, 3, "default"), World(500, 8, "greedy-learner", (1.0,)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, nargs=len(WORLDS), default=[110, 160], help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0, help="that of the first log")
    asked = parser.parse_args()
    lines = ["| rows, actions, learners | logs | off | beaten |", "| --- | --- | --- | --- |"]
    for world, count in zip(WORLDS, asked.logs, strict=True):
        seeds = range(asked.seed, asked.seed + count)
        off, beaten = np.array([world.learn(seed) for seed in track(seeds, f"{world.rows} rows")]).T
        told = f"{off.mean():+.2f} ± {off.std(ddof=1) / np.sqrt(count):.2f}"
        lines.append(f"| {world.rows}, {world.actions}, {world.learners} | {count} | {told} | {beaten.sum():.0f} |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
