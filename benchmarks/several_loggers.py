"""How much better balanced weights are than those of each row's own logger: `python benchmarks/several_loggers.py`.

Three loggers decide in 50, 30 and 20 % of the rows of a log. Prints a table: the mean squared error with balanced
weights as a multiple of that with own ones, for IPS, SNIPS and the default, and how often intervals of the default hold
the truth.
"""

import argparse
import warnings

import numpy as np

import counterfold as cf
from counterfold.simulation import draw_actions, softmax

ACTIONS, COLUMNS = 5, 3
LOGGERS = {
    "similar": (1.0, 1.0, 1.0),
    "different": (1.0, -2.0, 3.0),
    "one of them random": (0.0, 3.0, -3.0),
    "nearly deterministic, 3 % explored": (6.0, -6.0, 5.0),
}
"""How sharply each logger follows its own scores."""


def draw_run(sharpness, rows, seed):
    """Return squared errors (2 x 3) of IPS, SNIPS and the default by own and by balanced weights, and who held."""
    rng = np.random.default_rng(seed)
    x, scores = rng.normal(size=(rows, COLUMNS)), rng.normal(size=(3, COLUMNS, ACTIONS)) * 0.8
    policies = [softmax(beta * x @ one) for beta, one in zip(sharpness, scores, strict=True)]
    policies = [0.97 * one + 0.03 / ACTIONS for one in policies] if max(sharpness) > 5 else policies
    logger = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    action = draw_actions(np.stack(policies)[logger, np.arange(rows)], rng.random(rows))
    reward = (0.5 * x @ scores[0])[np.arange(rows), action] + rng.normal(size=rows)
    many = np.random.default_rng(9).normal(size=(40_000, COLUMNS)) @ scores[0]
    truth, target = float((softmax(2 * many) * 0.5 * many).sum(axis=1).mean()), softmax(2 * x @ scores[0])
    errors, held = [], []
    for weights in ("own", "balanced"):
        given = {"context": x, "action": action, "reward": reward, "actions": range(ACTIONS), "logger": logger}
        log = cf.Log(**given, logger_probs=dict(enumerate(policies)), logger_weights=weights)
        result = cf.evaluate(log, target, progress=False)
        values = [cf.estimate(log, target, name).value for name in ("ips", "snips")]
        errors.append([(value - truth) ** 2 for value in (*values, result.value)])
        held.append(result.interval.low <= truth <= result.interval.high)
    return errors, held


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1500, metavar="N")
    parser.add_argument("--runs", type=int, default=200, metavar="N")
    options = parser.parse_args()
    warnings.simplefilter("ignore", cf.SupportWarning)
    print("| loggers | IPS | SNIPS | default | own: held | balanced: held |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, sharpness in LOGGERS.items():
        runs = [draw_run(sharpness, options.rows, seed) for seed in range(options.runs)]
        own, balanced = np.mean([errors for errors, _ in runs], axis=0)
        cells = [f"{one:.2f}" for one in balanced / own] + [
            f"{one:.1%}" for one in np.mean([held for _, held in runs], axis=0)
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
