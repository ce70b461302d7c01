"""How often `drift` and `row-order` speak, on logs that change and on logs that do not: `python benchmarks/drift.py`.

Logs are the development problems of the benchmark of selection, decided in the course of 30 days. Values by SNIPS need
no reward model; those by DR are of problems of at most 10,000 rows and 20 actions. For `row-order` rows are in the
order of their times, and nobody knows these.
"""

import argparse

import numpy as np

import counterfold as cf
from counterfold_lab.selection.bandits import FAMILIES, draw_bandit

START, DAYS = np.datetime64("2024-01-01", "us"), 30
MOST_ROWS, MOST_ACTIONS = 10_000, 20

CASES = ("nothing changes", "rewards rise", "the advantage rises", "the context shifts", "the last fifth is 0")
"""What changes: rewards rise by one standard deviation, or those of what the target prefers by two."""


def draw_log(case, family, number, *, has_times=True):
    """Return a log, in no order or without times, and its target."""
    problem = draw_bandit(family, number).draw_problem(number)
    rng = np.random.default_rng([29, number])
    log, rows = problem.log, np.arange(len(problem.log))
    share, reward = rng.random(len(rows)), log.reward
    if case == "the context shifts":  # each row is decided when contexts like its own are common
        share = (np.argsort(np.argsort(log.context[:, 0] + rng.normal(size=len(rows)))) + 0.5) / len(rows)
    if case == "rewards rise":
        reward = reward + reward.std() * share
    if case == "the advantage rises":
        gain = problem.target[rows, log.action] > log.propensity
        reward = reward + reward.std() * (2 * share - 1) * gain
    if case == "the last fifth is 0":
        reward = np.where(share > 0.8, 0.0, reward)
    time = START + (share * DAYS * 86.4e9).astype("timedelta64[us]")
    given = {"context": log.context, "action": log.action, "logging_probs": log.logging_probs}
    if has_times:
        return cf.Log(**given, reward=reward, time=time, actions=log.actions), problem.target
    order = np.argsort(share)
    given = {name: values[order] for name, values in (given | {"reward": reward}).items()}
    return cf.Log(**given, actions=log.actions), problem.target[order]


def find_change(log, target, estimator):
    """Return how the diagnostic speaks: not at all, by a note, or by a caution."""
    if estimator != "DR":
        found = cf.check(log, target)
    else:
        found = cf.evaluate(log, target, candidates=["dr"], selector="slope", progress=False).diagnostics
    names = {"drift", "row-order"}
    return next((one.severity for one in found.findings if one.name in names), "nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=30, help="how many problems of each family")
    problems = parser.parse_args().problems
    print("| what changes | by | logs | caution | note |")
    print("| --- | --- | --- | --- | --- |")
    for case in CASES:
        found = {"SNIPS": [], "DR": [], "the order of rows": []}
        for one in ((case, family, 3 * number) for family in FAMILIES for number in range(problems)):
            log, target = draw_log(*one)
            is_small = len(log) <= MOST_ROWS and len(log.actions) <= MOST_ACTIONS
            for estimator in ("SNIPS", "DR") if is_small else ("SNIPS",):
                found[estimator].append(find_change(log, target, estimator))
            found["the order of rows"].append(find_change(*draw_log(*one, has_times=False), "the order of rows"))
        for estimator, severities in found.items():
            shares = [f"{severities.count(severity) / len(severities):.1%}" for severity in ("caution", "note")]
            print(f"| {case} | {estimator} | {len(severities)} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
