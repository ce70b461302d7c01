"""How often `learn` beats logs in which nothing can be gained and decisions, or users, are there several times.

Every policy earns 0.1 on average. `beaten` is how often the log is said to be beaten, and `held` how often the interval
holds what the attempted policy earns: with each row as a group of its own, and with groups of the rows of one context.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

import counterfold as cf

EARNED, LEARNERS = 0.1, ["policy-tree", "greedy-learner"]


def draw_visitors(rng, rows):
    """Return contexts that hardly ever come back."""
    age, device = rng.integers(18, 75, rows), rng.choice(["ios", "android", "web"], rows)
    return pd.DataFrame({"age": age, "spend": rng.lognormal(3, 1, rows).round(2), "device": device})


def decide(rng, context, chances=None):
    """Return a log of decisions at random, whose rewards have nothing to do with them."""
    rows = len(context)
    reward = rng.random(rows) < (EARNED if chances is None else chances)
    return context.assign(action=rng.choice(list("abc"), rows), reward=reward.astype(int), propensity=1 / 3)


def repeat(rng, log, times):
    """Return a log with each row so many times, at a time of its own, in any order."""
    several = log.loc[log.index.repeat(times)]
    seconds = pd.to_timedelta(rng.integers(30 * 86_400, size=len(several)), unit="s")
    return (
        several.assign(ts=pd.Timestamp("2026-01-01") + seconds).sample(frac=1, random_state=rng).reset_index(drop=True)
    )


def draw_users(rng, users=200, visits=10):
    """Return a log of users of whom only lasting features are known, and who differ in how often they are rewarded."""
    user = np.repeat(np.arange(users), visits)
    chances = rng.beta(0.5, 0.5 * (1 / EARNED - 1), users)
    return draw_visitors(rng, users).loc[user].reset_index(drop=True), chances[user], user


def give_once(rng):
    context, chances, user = draw_users(rng)
    log = decide(rng, context, chances)
    return log.assign(action=rng.choice(list("abc"), user.max() + 1)[user])


def draw_segments(rng, rows=2000):
    """Return 288 contexts, drawn anew for each row."""
    segment, device = rng.choice(list("pqrs"), rows), rng.choice(list("xyz"), rows)
    return pd.DataFrame({"segment": segment, "hour": rng.integers(24, size=rows), "device": device})


def draw_log(rng, rows=2000):
    return decide(rng, draw_visitors(rng, rows))


KINDS = {
    "all contexts differ, or nearly all": draw_log,
    "half of the decisions twice, at other times": lambda rng: repeat(rng, draw_log(rng), rng.integers(1, 3, 2000)),
    "pages loaded again": lambda rng: repeat(rng, draw_log(rng, 1200), rng.geometric(0.6, 1200)),
    "rows drawn with replacement": lambda rng: draw_log(rng).sample(frac=1, replace=True, random_state=rng),
    "users, an action drawn for each row": lambda rng: decide(rng, *draw_users(rng)[:2]),
    "users, one draw of the action each": give_once,
    "288 contexts": lambda rng: decide(rng, draw_segments(rng)),
}


def judge(log, **columns):
    """Return whether a log is beaten, and whether the interval of the attempt holds what it earns."""
    learned = cf.learn(log.reset_index(drop=True), LEARNERS, progress=False, **columns)
    return learned.beats_log, learned.attempt.interval.low <= EARNED <= learned.attempt.interval.high


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=40, help="how many of each kind")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| log | one by one: beaten | held | in groups: beaten | held |\n| --- | --- | --- | --- | --- |")
    for name, draw in KINDS.items():
        logs = [draw(np.random.default_rng([seed, len(name)])) for seed in range(asked.logs)]
        alone = [judge(log.assign(row=range(len(log))), group="row") for log in logs]
        shares = np.mean(np.hstack([alone, [judge(log) for log in logs]]), axis=0)
        print(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
