"""Several policies on one log: do all intervals hold at once, is the best a contender, and what is the pick worth?

For problems of some families of `counterfold bench selection`, 50 policies are compared with the log: softmaxes of
random mixtures of what rewards, the logging policy and the target prefer, each mixed with the logging policy by 10 %,
30 % or not at all. The first 2, the first 10 and all of them are compared. `covered` is how often the simultaneous
intervals of all differences hold the truth at once (policies that the log cannot answer for have none), `one by one`
how often the intervals of 95 % each do, `wider` how much farther the simultaneous ones reach, and `Bonferroni` how much
farther they would if nothing were known of how policies move together. `best` is how often the truly best policy is
among the contenders, and `contenders` how many there are on average, the log included.

All ways to pick are among the policies that the log can answer for, and may keep the log. Regret is what the best of
these earns more than the one that is picked, in standard deviations of the rewards; `worse` is how often the pick earns
less than the log.
"""

import argparse
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold_lab.paper.experiment import RUNS_PER_SEED
from counterfold_lab.selection.bandits import draw_bandit
from counterfold_lab.selection.experiment import part_of
from ranking import FIXED, draw_policies

COUNTS, SHARES = (2, 10, 50), (0.1, 0.3, 1.0)
USUAL = ("binary", "continuous", "heavy-tailed", "sparse", "few rows", "revenue", "users", "non-linear logistic")
LONGEST = 10_000


@dataclass(frozen=True)
class Outcome:
    """What came of one comparison: how many differences, whether all hold, and regrets by how the pick was made."""

    answerable: int
    covered: bool
    one_by_one: bool
    wider: float
    bonferroni: float
    best: bool
    contenders: int
    picks: dict


def compare(task):
    """Return the outcome of each number of policies, on one problem."""
    family, seed = task
    problem, policies, truth, logged = draw_policies(draw_bandit(family, seed), seed, max(COUNTS), SHARES)
    targets = {str(number): policy for number, policy in enumerate(policies)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.SupportWarning)
        model = "default" if problem.predictions is None else problem.predictions
        found = cf.evaluate(problem.log, targets, reward_model=model, progress=False, threads=1)
    return family, {count: judge(found, truth[:count], logged, problem.scale or 1.0) for count in COUNTS}


def judge(found, truth, logged, scale):
    """Return what came of comparing the first few."""
    compared = cf.Comparison({str(number): found[str(number)] for number in range(len(truth))})
    decision = compared.decision
    if decision is None:
        return None
    gaps = {line.target: (line, truth[int(line.target)] - logged) for line in compared.table}
    known = [pair for name, pair in gaps.items() if compared.is_answerable(name)]
    ends = [(line.simultaneous or (line.low, line.high), gap) for line, gap in known]
    worth = {"log": logged} | {line.target: logged + gap for line, gap in known}
    true_best = max(worth, key=worth.get)
    answered = {line.target: found[line.target] for line, _ in known}
    picks = {"lower bound": decision.choice or "log", "most probable": decision.contenders[0]}
    picks |= pick_by_values(answered, found["0"].logged.value)
    earned = {name: worth[pick] for name, pick in picks.items()}
    most = worth[true_best]
    return Outcome(
        len(known),
        all(low <= gap <= high for (low, high), gap in ends),
        all(line.low <= gap <= line.high for line, gap in known),
        reach(decision.each_level) / reach(decision.level),
        reach(1 - (1 - decision.level) / len(known)) / reach(decision.level),
        true_best in decision.contenders,
        len(decision.contenders),
        {name: ((most - own) / scale, own < logged) for name, own in earned.items()},
    )


def reach(level):
    """Return how many standard errors a normal interval reaches."""
    return NormalDist().inv_cdf((1 + level) / 2)


def pick_by_values(known, logged):
    """Return which policy has the highest value, or `log`, by the default and by fixed estimators."""
    values = {"point estimate": {name: one.value for name, one in known.items()}}
    for name in FIXED:
        lines = {one: [line.value for line in found.table if line.name == name] for one, found in known.items()}
        values[name] = {one: line[0] for one, line in lines.items() if line}
    return {
        name: max({"log": logged} | several, key=({"log": logged} | several).get) for name, several in values.items()
    }


def show_coverage(outcomes):
    """Return a table of coverage, by the number of policies and the family."""
    table = Table(
        "policies", "family", "comparisons", "covered", "one by one", "wider", "Bonferroni", "best", "contenders"
    )
    for count in COUNTS:
        lines = {family: outcomes[family, count] for family, one in outcomes if one == count}
        for family, own in [*lines.items(), ("all", [one for several in lines.values() for one in several])]:
            shares = [np.mean([getattr(one, name) for one in own]) for name in ("covered", "one_by_one")]
            wider, most = (np.mean([getattr(one, name) for one in own]) for name in ("wider", "bonferroni"))
            best, size = np.mean([one.best for one in own]), np.mean([one.contenders for one in own])
            numbers = (
                f"{shares[0]:.1%}",
                f"{shares[1]:.1%}",
                f"{wider:.2f}",
                f"{most:.2f}",
                f"{best:.1%}",
                f"{size:.1f}",
            )
            table.add_row(str(count), family, str(len(own)), *numbers, end_section=family == "all")
    return table


def show_regret(outcomes):
    """Return a table of regret and of picks that are worse than the log, by the number of policies."""
    names = ["lower bound", "most probable", "point estimate", *FIXED]
    table = Table("policies", *names)
    for count in COUNTS:
        own = [one for (_, several), ones in outcomes.items() if several == count for one in ones]
        pairs = [np.mean([one.picks[name] for one in own if name in one.picks], axis=0) for name in names]
        table.add_row(str(count), *(f"{regret:.4f}, worse {worse:.1%}" for regret, worse in pairs))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=60, metavar="N", help="per family, of which a part is used")
    parser.add_argument("--part", choices=["development", "held"], default="held")
    parser.add_argument("--families", default=",".join(USUAL), metavar="NAMES")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    given = parser.parse_args()
    numbers = [RUNS_PER_SEED * given.seed + one for one in range(given.problems) if part_of(one) == given.part]
    tasks = [(family, one) for family in given.families.split(",") for one in numbers]
    tasks = [task for task in tasks if draw_bandit(*task).rows <= LONGEST]
    outcomes = defaultdict(list)
    with ProcessPoolExecutor(given.jobs) as pool:
        for family, several in track(pool.map(compare, tasks), description="Comparing", total=len(tasks)):
            for count, one in several.items():
                outcomes[family, count] += [] if one is None else [one]
    Console(width=140).print(show_coverage(outcomes), show_regret(outcomes))


if __name__ == "__main__":
    main()
