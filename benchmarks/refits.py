"""What refitting the reward model on every split is good for: the error of the answer with and without, in 1e-4.

In the setting of the paper's Figures 1 and 2 on some of its datasets, with IPS, DM, DR and with the paper's 191
candidates. Needs the datasets as files, by default beside the project, else where COUNTERFOLD_DATASETS says.
"""

import argparse
import os
import tempfile
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import counterfold as cf
from counterfold_lab.paper.experiment import PaperExperiment, PaperTask

DATASETS = Path(os.environ.get("COUNTERFOLD_DATASETS", Path(__file__).parents[2] / "shared" / "datasets"))
NAMES = "ecoli", "glass", "vehicle", "yeast", "page-blocks"
SETS = {"IPS, DM, DR": [cf.IPS(), cf.DM(), cf.DR()], "191": "paper"}
WAYS = {
    "refitted, K = 10": {},
    "fitted once, K = 10": {"refit": False},
    "fitted once, K = 100": {"refit": False, "splits": 100},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12, metavar="N")
    runs = parser.parse_args().runs
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        experiment = PaperExperiment("figure1", data=DATASETS, fits=Path(folder))
        every = list(product(NAMES, range(runs), (10.0, -10.0)))
        for dataset, run, beta in track(every, description="Evaluating"):
            problem = experiment.draw_problem(PaperTask(dataset, 1.0, beta, run=run))
            for (some, candidates), validator, (way, settings) in product(
                SETS.items(), (cf.IPS(), cf.DR()), WAYS.items()
            ):
                judge = cf.OCV(validator, **settings)
                found = cf.evaluate(problem.log, problem.target, candidates, judge, "ridge-per-action", progress=False)
                errors.setdefault((some, validator.name, way), {}).setdefault(dataset, []).append(
                    (found.value - problem.truth) ** 2
                )
    table = Table("candidates", "validator", "reward model", *NAMES, "all")
    for names, found in errors.items():
        means = [1e4 * np.mean(found[dataset]) for dataset in NAMES]
        table.add_row(*names, *(f"{mean:.1f}" for mean in (*means, np.mean(means))))
    Console().print(table)


if __name__ == "__main__":
    main()
