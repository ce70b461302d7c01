"""What features of the actions are worth to a greedy policy: the share of what the best policy earns.

Products of context and features of the actions tell most of the rewards; each action has something of its own besides.
Actions are logged evenly. Features that tell nothing are drawn anew.
"""

import argparse

import numpy as np

import counterfold as cf

WORLDS = ((50, 4, 1000), (200, 5, 2000), (1000, 8, 5000), (10, 3, 10_000))
"""How many actions, features and rows."""

CONTEXT, FRESH = 4, 4000


def learn_all(actions, width, rows, rng):
    """Return the shares that a policy earns without features, with them, and with features that tell nothing."""
    features, effect = rng.normal(size=(actions, width)), rng.normal(size=(CONTEXT, width)) / np.sqrt(CONTEXT * width)
    own, slopes = 0.3 * rng.normal(size=actions), 0.15 * rng.normal(size=(CONTEXT, actions))

    def mean(context):
        return context @ effect @ features.T + own + context @ slopes

    context, action = rng.normal(size=(rows, CONTEXT)), rng.integers(actions, size=rows)
    reward = mean(context)[np.arange(rows), action] + rng.normal(size=rows)
    known = {"context": context, "action": action, "reward": reward, "propensity": np.full(rows, 1 / actions)}
    fresh = rng.normal(size=(FRESH, CONTEXT))
    means = mean(fresh)

    def earn(action_features):
        log = cf.Log(**known, actions=range(actions), action_features=action_features)
        policy = cf.learn(log, "greedy-learner", shares=1, folds=3, progress=False).attempted
        return means[np.arange(FRESH), policy.predict_proba(fresh).argmax(axis=1)].mean() / means.max(axis=1).mean()

    return [earn(given) for given in (None, features, rng.normal(size=features.shape))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=6)
    asked = parser.parse_args()
    print("| actions, features, rows | without features | with features | with features that tell nothing |")
    print("| --- | --- | --- | --- |")
    for world in WORLDS:
        found = np.mean([learn_all(*world, np.random.default_rng(seed)) for seed in range(asked.logs)], axis=0)
        print(f"| {', '.join(f'{one:,}' for one in world)} | {' | '.join(f'{one:.0%}' for one in found)} |", flush=True)


if __name__ == "__main__":
    main()
