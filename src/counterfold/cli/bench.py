"""The commands `bench ...`: how well answers do on many problems whose truth is known."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from counterfold.cli.options import (
    ExperimentOptions,
    make_option,
    print_json,
    print_warnings,
    split_commas,
    take_options,
)
from counterfold.progress import bar

bench = typer.Typer(help="Measure ways to answer on many problems whose truth is known.")

Problems = Annotated[int, make_option("N", "Problems per family, a tenth as many of paper's.")]
Part = Annotated[str, make_option("PART", "development: every third problem, held: the others, or all.")]
FewProblems = Annotated[int, make_option("N", "Problems per family and number of rows.")]
Sizes = Annotated[list[int] | None, make_option("N", "Rows of each log; repeat for several.", "500 and 2000")]
Families = Annotated[list[str] | None, make_option("NAMES", "binary, paper and so on, with commas.", "all")]

Training = Annotated[int, make_option("N", "Problems from which the rival AutoOPE learns.")]


@bench.callback()
def start() -> None:
    """Measure ways to answer on many problems whose truth is known."""


@bench.command()
@take_options
def selection(
    *,
    problems: Problems = 120,
    part: Part = "held",
    families: Families = None,
    training: Training = 2200,
    run: ExperimentOptions,
) -> None:
    """Compare ways to choose an estimator, and how far the default can be trusted."""
    from counterfold.experiments.selection.benchmark import Benchmark
    from counterfold.experiments.selection.experiment import KNOWN

    chosen = tuple(split_commas(families)) or KNOWN
    kind: Any = part  # checked there
    benchmark = Benchmark(run.out, problems, kind, chosen, run.data, run.seed, run.count_jobs(), training)
    benchmark.prepare()
    with print_warnings(), bar("Answering problems", unit="problems") as progress:
        found = benchmark.run(progress)
    if run.as_json:
        files = [str(file) for file in found.files]
        print_json({"benchmark": "selection", "part": part, **asdict(found), "files": files})
        return
    from counterfold.report import bench as tables
    from counterfold.report import console, paper

    scores = tables.scores(found.scores), tables.ratios(found.scores)
    trust = tables.coverage(found.coverage), tables.verdicts(found.verdicts), tables.checks(found.checks)
    console.show(*scores, *trust, paper.paths(found.files))


@bench.command()
@take_options
def learning(
    *,
    problems: FewProblems = 12,
    part: Part = "held",
    families: Families = None,
    rows: Sizes = None,
    run: ExperimentOptions,
) -> None:
    """Compare ways to learn a policy: what it is worth, how often it does harm, and whether that is known."""
    from counterfold.experiments.learning.benchmark import LearningBenchmark
    from counterfold.experiments.learning.experiment import KNOWN

    chosen = tuple(split_commas(families)) or KNOWN
    kind: Any = part  # checked there
    sizes = tuple(rows or (500, 2000))
    benchmark = LearningBenchmark(run.out, problems, kind, chosen, sizes, run.seed, run.count_jobs(), run.data)
    benchmark.prepare()
    with print_warnings(), bar("Learning", unit="problems") as progress:
        found = benchmark.run(progress)
    if run.as_json:
        files = [str(file) for file in found.files]
        print_json({"benchmark": "learning", "part": part, **asdict(found), "files": files})
        return
    from counterfold.report import bench as tables
    from counterfold.report import console, paper

    console.show(tables.gains(found.gains), tables.holdings(found.coverage), paper.paths(found.files))
