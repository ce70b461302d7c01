"""What an evaluation says of a policy on the rows that it was learnt from, were it not refused, and what `learn` says.

Development problems of `bench learning`: each learner learns from a log alone, and its policy is valued on the same log
and out of fold. `held` is how often the interval of the value holds the truth, `gain` the same of the difference to the
log, and `wrongly` how many policies of those that seem to beat the log are worse than the logger.
"""

import argparse
import warnings

import numpy as np

import counterfold as cf
from counterfold.diagnostics.known_rows import KnownRows
from counterfold_lab.learning.experiment import KNOWN, LearningExperiment, LearningTask
from counterfold_lab.selection.bandits import FAMILIES

LEARNERS = ("greedy-learner", "policy-tree", "policy-forest")


def judge(result, truth, logger):
    """Return whether an evaluation answers, holds the value and the gain, sees one, and sees one that is none."""
    low, high = result.uplift().interval()
    holds = result.interval.low <= truth <= result.interval.high
    return result.answerable, holds, low <= truth - logger <= high, low > 0, low > 0 and truth < logger


def value_twice(task, learner, experiment):
    """Return how the same policy fares on its own rows, and out of fold."""
    world = experiment.draw_world(task)
    learned = cf.learn(world.log, learner, progress=False)
    truth = world.value(learned.attempted.predict_proba(world.contexts))
    on_its_own = cf.evaluate(world.log, learned.attempted, progress=False)
    return [judge(one, truth, world.logger_value) for one in (on_its_own, learned.attempt)]


def show(name, lines):
    """Return a line of the table for some results."""
    found = np.array([line[1:] for line in lines if line[0]])
    held, gain, seen, wrong = found.mean(axis=0)[:2].tolist() + found.sum(axis=0)[2:].tolist()
    return f"| {name} | {len(found)} | {held:.1%} | {gain:.1%} | {seen} | {wrong} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=2, help="how many of each family")
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    KnownRows.measure = lambda *_: None  # so that it is not refused
    experiment = LearningExperiment(seed=asked.seed)
    families = [family for family in KNOWN if family in FAMILIES]
    print("| rows, learner, valued | answers | held | gain | seem to beat the log | wrongly |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rows in (500, 2000):
        tasks = [LearningTask(family, 3 * number, rows) for family in families for number in range(asked.problems)]
        for learner in LEARNERS:
            own, honest = zip(*(value_twice(task, learner, experiment) for task in tasks), strict=True)
            print(show(f"{rows:,}, {learner}, on its own rows", own))
            print(show(f"{rows:,}, {learner}, by `learn`", honest), flush=True)


if __name__ == "__main__":
    main()
