"""What a reward model is worth: the default's answers with one and with another, on the same logs.

`--models` are their names; "default,best" tells what the stack is worth, "cross-fitted:model=shared-ridge,default" what
the default's pooled regression is. Development problems of every family of `counterfold bench selection`, `--problems`
of each, and with `--data` every `--every`-th of the paper's 90 conditions. For each family: the mean squared error with
the second model as a multiple of that with the first one, how often the 95 % intervals of good answers hold the truth,
how wide they are, and how long both take. Problems with fewer than `--smallest` or more than `--largest` rows times
actions are left out, and none is begun after `--minutes` of processor time.
"""

import argparse
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold_lab.selection.bandits import FAMILIES
from counterfold_lab.selection.experiment import PAPER, SelectionExperiment, SelectionTask, list_tasks


def list_problems(given):
    """Return the tasks, the first of every family before the second of any."""
    own = [name for name in FAMILIES if FAMILIES[name].get("model") is None]  # a user's model takes the place of ours
    families = [name for name in own if not given.families or name in given.families.split(",")]
    tasks = [SelectionTask(name, 3 * number) for number in range(given.problems) for name in families]
    paper = list_tasks([PAPER], 10, "development")[:: given.every] if given.data else []
    step = max(1, len(tasks) // max(1, len(paper)))
    for place, one in enumerate(paper):
        tasks.insert(place * (step + 1), one)
    return tasks


def answer(problem, models):
    """Return for each model its error and the interval in standard deviations of rewards, the verdict and seconds."""
    found = []
    for model in models:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cf.SupportWarning)
            one = cf.evaluate(problem.log, problem.target, reward_model=model, progress=False, threads=1)
        ends = one.interval.low - problem.truth, one.interval.high - problem.truth
        seconds = time.process_time() - start
        error = (one.value - problem.truth) / problem.scale
        width = (one.interval.high - one.interval.low) / problem.scale
        found.append((error, ends[0] <= 0 <= ends[1], one.verdict == "good", width, seconds))
    return found


def summarise(name, several):
    """Return the line of a family, and the logarithm of its ratio of mean squared errors."""
    first, second = (np.array(one, dtype=float) for one in zip(*several, strict=True))
    ratio = np.mean(second[:, 0] ** 2) / np.mean(first[:, 0] ** 2)
    good = [one[one[:, 2] == 1] for one in (first, second)]
    covered = [f"{one[:, 1].mean():.3f}" if len(one) else "" for one in good]
    width = np.exp(np.mean(np.log(second[:, 3] / first[:, 3])))
    seconds = [f"{one[:, 4].mean():.2f}" for one in (first, second)]
    return [
        name,
        str(len(several)),
        f"{np.mean(first[:, 0] ** 2):.2e}",
        f"{ratio:.2f}",
        *covered,
        f"{width:.2f}",
        *seconds,
    ], ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="default,best", metavar="NAME,NAME")
    parser.add_argument("--problems", type=int, default=10, metavar="N")
    parser.add_argument("--families", default="", metavar="NAMES")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--every", type=int, default=5, metavar="N")
    parser.add_argument("--smallest", type=int, default=0, metavar="N")
    parser.add_argument("--largest", type=int, default=100_000, metavar="N")
    parser.add_argument("--minutes", type=float, default=20.0, metavar="N")
    given = parser.parse_args()
    experiment, by_family = SelectionExperiment(data=given.data), defaultdict(list)
    for task in track(list_problems(given), description="Answering"):
        if time.process_time() > 60 * given.minutes:
            break
        problem = experiment.draw_problem(task)
        if given.smallest <= len(problem.log) * len(problem.log.actions) <= given.largest:
            by_family[task.family].append(answer(problem, given.models.split(",")))
    names = ["MSE", "ratio", "covered", "by second", "width", "seconds", "by second"]
    table, ratios = Table("family", "problems", *names), []
    for name, several in by_family.items():
        line, ratio = summarise(name, several)
        table.add_row(*line)
        ratios.append(ratio)
    table.add_section()
    line, _ = summarise("all, geometric mean", [one for several in by_family.values() for one in several])
    line[3] = f"{np.exp(np.mean(np.log(ratios))):.3f}"
    table.add_row(*line)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
