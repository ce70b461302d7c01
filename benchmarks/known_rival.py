"""The default against the simple method that one would have chosen beforehand, from a run of `bench selection`.

    counterfold bench selection --out results --seed 83 --problems 60
    python benchmarks/known_rival.py results/selection.parquet

The best simple method of a family is known in hindsight alone: of many methods whose errors hang on few logs, one is
lucky. Here the one with the least mean squared error on a random half of a family's problems meets the default on the
other half, 1,000 times. Ratios are those of the means over all halves. The last column is how much better than that one
the best method of the other half is: what even a rival loses who knows the family, for who is lucky there is not known.
"""

import argparse

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from counterfold_lab import results as shared
from counterfold_lab.selection.experiment import DEFAULT
from counterfold_lab.selection.results import error

HALVES, SIMPLE, LIMIT = 1000, ("fixed", "theory"), 1.1


def square_errors(rows):
    """Return the names of the simple methods, their mean squared errors (methods x problems), and the default's.

    The paper's conditions of one run are one problem.
    """
    methods = shared.group_rows(rows, "method", "kind")
    found = {}
    for (name, kind), some in methods.items():
        _, problems = np.unique([row["problem"] for row in some], return_inverse=True)
        squares = np.square([error(row) for row in some])
        found[name, kind] = np.bincount(problems, squares) / np.bincount(problems)
    simple = {name: line for (name, kind), line in found.items() if kind in SIMPLE}
    (own,) = (line for (_, kind), line in found.items() if kind == DEFAULT)
    return list(simple), np.stack(list(simple.values())), own


def compare(rows, rng):
    """Return the best method in hindsight, the default's ratio to it, and to the one that another half chooses.

    The last number is the ratio of that one to the best of the half on which both are judged.
    """
    names, errors, own = square_errors(rows)
    means = errors.mean(axis=1)
    theirs, mine, best = [], [], []
    for _ in range(HALVES):
        known, new = np.array_split(rng.permutation(len(own)), 2)
        theirs.append(errors[errors[:, known].mean(axis=1).argmin(), new].mean())
        mine.append(own[new].mean())
        best.append(errors[:, new].mean(axis=1).min())
    chosen = np.mean(theirs)
    return names[means.argmin()], own.mean() / means.min(), np.mean(mine) / chosen, chosen / np.mean(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="selection.parquet of a run")
    rows = pq.read_table(parser.parse_args().run).to_pylist()
    rng = np.random.default_rng(0)
    found = {family: compare(some, rng) for (family,), some in shared.group_rows(rows, "family").items()}
    table = Table("family", "best in hindsight", "default / it", "default / chosen beforehand", "chosen / best then")
    for family, (name, *ratios) in found.items():
        table.add_row(family, name, *(f"{one:.2f}" for one in ratios))
    ratios = np.array([line[1:] for line in found.values()])
    centre = [f"{one:.2f}" for one in np.exp(np.log(ratios).mean(axis=0))]
    table.add_row("geometric mean", "", *centre, end_section=True)
    table.add_row(f"at most {LIMIT}", "", *(f"{count} of {len(found)}" for count in (ratios <= LIMIT).sum(axis=0)))
    Console().print(table)


if __name__ == "__main__":
    main()
