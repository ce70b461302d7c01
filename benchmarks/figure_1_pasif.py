"""PAS-IF on the paper's Figure 1 (IPS, DM or DR; beta 1 and 10) against its published results, better or worse?

Needs the datasets as Parquet files, by default beside the project, else where COUNTERFOLD_DATASETS says.
"""

import argparse
import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold_lab.paper.classification import Classification

ROOT = Path(__file__).parents[1]
DATASETS = Path(os.environ.get("COUNTERFOLD_DATASETS", ROOT.parent / "shared" / "datasets"))


def runs_of(dataset, runs):
    """Yield, per run, the squared error of PAS-IF and of each estimator alone, and what PAS-IF chose."""
    table = pq.read_table(DATASETS / f"{dataset}.parquet")
    features = np.column_stack([table.column(name).to_numpy() for name in table.column_names[:-1]])
    labels = np.array(table.column("class").to_pylist())
    for seed in track(range(runs), description=dataset):
        problem = Classification().draw_problem(features, labels, np.random.default_rng(seed))
        candidates = [cf.IPS(), cf.DM(), cf.DR()]
        result = cf.evaluate(
            problem.log, problem.target, candidates, "pasif", "ridge-per-action", seed=seed, progress=False
        )
        alone = {line.name: (line.value - problem.truth) ** 2 for line in result.table}
        yield {"PAS-IF": (result.value - problem.truth) ** 2} | alone, result.selected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200, metavar="N")
    parser.add_argument("--datasets", nargs="+", default=["ecoli", "yeast"], metavar="NAME")
    given = parser.parse_args()
    with (ROOT / "src" / "counterfold_lab" / "paper" / "published" / "figure1.csv").open() as file:
        published = {(row["dataset"], row["method"]): row for row in csv.DictReader(file)}
    shown = Table("dataset", "method", f"ours, {given.runs} runs", "published, 500 runs", "chosen")
    for dataset in given.datasets:
        errors, chosen = zip(*runs_of(dataset, given.runs), strict=True)
        draw = np.random.default_rng(0).integers(given.runs, size=(2000, given.runs))
        for method in errors[0]:
            ours = np.array([run[method] for run in errors])
            low, high = np.quantile(ours[draw].mean(axis=1), [0.025, 0.975])
            theirs = published[dataset, method]
            choices = ", ".join(f"{name} {count / given.runs:.0%}" for name, count in Counter(chosen).items())
            shown.add_row(
                dataset,
                method,
                f"{ours.mean():.5f} [{low:.5f}, {high:.5f}]",
                "{:.5f} [{:.5f}, {:.5f}]".format(*(float(theirs[part]) for part in ("mse", "ci_low", "ci_high"))),
                choices if method == "PAS-IF" else "",
            )
    Console().print(shown)


if __name__ == "__main__":
    main()
