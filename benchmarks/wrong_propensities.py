"""How often wrong propensities are found, and clean logs alarmed: `python benchmarks/wrong_propensities.py`.

Every log is another random bandit of 2,000 rows. A mistake is found if the propensities or a column of the context are
suspected, at the alarm rates of the diagnostics `propensities` and `outcome-context`; rewards are not looked at.
"""

import argparse

import numpy as np

from counterfold.diagnostics.outcome_context import OutcomeContext
from counterfold.diagnostics.propensities import Propensities
from counterfold.log.assignment import balance_log
from counterfold.log.log import Log
from counterfold.simulation import draw_actions, softmax
from counterfold_lab.selection.bandits import Bandit

ROWS = 2000

CASES = {
    "marginal frequencies": 0.9,
    "two columns swapped in a third of the rows": 0.7,
    "exploration of 20 % forgotten": 0.7,
    "softened: square roots": 0.9,
    "sharpened: squares": 0.9,
    "changed half-way": 0.9,
}
"""Mistakes, and how often each must be found at least where all probabilities are logged."""


def draw_policy(rng):
    """Return contexts, and a policy that depends on them by a softmax of random scores, with or without exploration."""
    actions, beta = int(rng.choice([2, 3, 5, 10, 20])), float(rng.choice([-1.0, 0.5, 1.0, 2.0]))
    bandit = Bandit(rows=ROWS, actions=actions, curvature=float(rng.choice([0.0, 0.3, 0.8])))
    context = rng.standard_normal((ROWS, 5))
    policy = softmax(beta * bandit.draw_scores(rng)(context)[1])
    share = float(rng.choice([0.0, 0.1]))
    return context, (1 - share) * policy + share / actions


def act(case, policy, rng):
    """Return the policy that acts, and the one that is logged; None stands for how often each action was taken."""
    rows, actions = policy.shape
    if case == "marginal frequencies":
        return policy, None
    if case == "two columns swapped in a third of the rows":
        logged = policy.copy()
        some, (one, other) = rng.random(rows) < 1 / 3, rng.choice(actions, 2, replace=False)
        logged[some, one], logged[some, other] = policy[some, other], policy[some, one]
        return policy, logged
    if case == "exploration of 20 % forgotten":
        return 0.8 * policy + 0.2 / actions, policy
    if case == "changed half-way":
        before, after = (softmax(rng.standard_normal((1, actions))) for _ in range(2))
        return np.where((np.arange(rows) < rows / 2)[:, None], before, after), np.full((rows, actions), 1 / actions)
    powers = {"softened: square roots": 0.5, "sharpened: squares": 2.0}
    raised = policy ** powers.get(case, 1.0)
    return policy, raised / raised.sum(axis=1, keepdims=True)


def draw_log(case, seed):
    """Return a log with all probabilities, and the same with propensities alone."""
    rng = np.random.default_rng([23, seed])
    context, policy = draw_policy(rng)
    acting, logged = act(case, policy, rng)
    action = draw_actions(acting, rng.random(ROWS))
    if logged is None:
        counts = np.bincount(action, minlength=policy.shape[1]) + 1e-9
        logged = np.tile(counts / counts.sum(), (ROWS, 1))
    given = {"context": context, "action": action, "reward": rng.normal(size=ROWS), "actions": range(policy.shape[1])}
    propensity = logged[np.arange(ROWS), action]
    return Log(**given, logging_probs=logged), Log(**given, propensity=propensity)


def is_alarmed(log):
    """Say whether a diagnostic speaks."""
    found = balance_log(log)
    return found.general.p < Propensities().alarm or found.columns_p < OutcomeContext().alarm


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=400, help="how many logs of each case")
    number = parser.parse_args().logs
    print("| mistake | all probabilities | propensities alone |")
    print("| --- | --- | --- |")
    rates = []
    for case in [*CASES, "none"]:
        alarms = np.array([[is_alarmed(log) for log in draw_log(case, seed)] for seed in range(number)])
        full, alone = alarms.mean(axis=0)
        rates += [] if case == "none" else [(full, alone)]
        print(f"| {case} | {full:.1%} | {alone:.1%} |", flush=True)
    full, alone = np.mean(rates, axis=0)
    print(f"| all mistakes | {full:.1%} | {alone:.1%} |")


if __name__ == "__main__":
    main()
