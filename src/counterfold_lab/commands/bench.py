"""The commands `bench ...`: how well answers do on many problems whose truth is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfold.base.notation import split_commas
from counterfold.base.progress import bar
from counterfold.cli.options import make_option, take_options
from counterfold.cli.printing import print_json, print_warnings
from counterfold_lab.commands._options import ExperimentOptions

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from counterfold_lab.learning.benchmark import LearningBenchmark, LearningResults
    from counterfold_lab.records import LearningRecord, SelectionRecord
    from counterfold_lab.selection.benchmark import Benchmark, BenchmarkResults

bench = typer.Typer(help="Measure ways to answer on many problems whose truth is known.")

Problems = Annotated[int, make_option("N", "Problems per family, a tenth as many of paper's.")]
FewProblems = Annotated[int, make_option("N", "Problems per family and number of rows.")]
Sizes = Annotated[list[int] | None, make_option("N", "Rows of each log; repeat for several.", "500 and 2000")]
Training = Annotated[int, make_option("N", "Problems from which the rival AutoOPE learns.")]


@dataclass(frozen=True)
class ProblemOptions:
    """Which problems take part; the benchmark checks both."""

    part: Annotated[Any, make_option("PART", "development: every third problem, held: the others, or all.")] = "held"
    families: Annotated[list[str] | None, make_option("NAMES", "binary, paper and so on, with commas.", "all")] = None

    def list_families(self, known: tuple[str, ...]) -> tuple[str, ...]:
        """Return the families that were named, or all that are known."""
        return tuple(split_commas(self.families)) or known


@bench.callback()
def start() -> None:
    """Measure ways to answer on many problems whose truth is known."""


@bench.command()
@take_options
def selection(
    *, problems: Problems = 120, which: ProblemOptions, training: Training = 2200, run: ExperimentOptions
) -> None:
    """Compare ways to choose an estimator, and how far the default can be trusted."""
    from counterfold_lab.selection.benchmark import Benchmark
    from counterfold_lab.selection.experiment import KNOWN

    chosen, jobs = which.list_families(KNOWN), run.count_jobs()
    benchmark = Benchmark(run.out, problems, which.part, chosen, run.data, run.seed, jobs, training)
    measure(benchmark, "selection", show_selection, describe_selection, as_json=run.as_json)


@bench.command()
@take_options
def learning(*, problems: FewProblems = 12, which: ProblemOptions, rows: Sizes = None, run: ExperimentOptions) -> None:
    """Compare ways to learn a policy: what it is worth, how often it does harm, and whether that is known."""
    from counterfold_lab.learning.benchmark import LearningBenchmark
    from counterfold_lab.learning.experiment import KNOWN

    chosen, sizes = which.list_families(KNOWN), tuple(rows or (500, 2000))
    benchmark = LearningBenchmark(run.out, problems, which.part, chosen, sizes, run.seed, run.count_jobs(), run.data)
    measure(benchmark, "learning", show_learning, describe_learning, as_json=run.as_json)


def measure(
    benchmark: "Benchmark | LearningBenchmark",
    name: str,
    show: "Callable[[Any], Sequence[ConsoleRenderable]]",
    describe: Callable[[str, Any], Any],
    *,
    as_json: bool,
) -> None:
    """Run a benchmark, and print what it found."""
    benchmark.prepare()
    with print_warnings(), bar(f"Benchmark of {name}", unit="problems") as progress:
        found = benchmark.run(progress)
    if as_json:
        print_json(describe(benchmark.part, found))
        return
    from counterfold.report import console
    from counterfold_lab.report import paper

    console.show(*show(found), paper.paths(found.files))


def describe_selection(part: str, found: "BenchmarkResults") -> "SelectionRecord":
    """Return what JSON says about the benchmark of selection."""
    return {
        "benchmark": "selection",
        "part": part,
        "scores": found.scores,
        "coverage": found.coverage,
        "verdicts": found.verdicts,
        "checks": found.checks,
        "files": [str(file) for file in found.files],
    }


def describe_learning(part: str, found: "LearningResults") -> "LearningRecord":
    """Return what JSON says about the benchmark of learning."""
    return {
        "benchmark": "learning",
        "part": part,
        "gains": found.gains,
        "coverage": found.coverage,
        "files": [str(file) for file in found.files],
    }


def show_selection(found: "BenchmarkResults") -> "Sequence[ConsoleRenderable]":
    """Return the tables of what was found."""
    from counterfold_lab.report import bench as tables

    scores = tables.scores(found.scores), tables.ratios(found.scores)
    return *scores, tables.coverage(found.coverage), tables.verdicts(found.verdicts), tables.checks(found.checks)


def show_learning(found: "LearningResults") -> "Sequence[ConsoleRenderable]":
    """Return the tables of what was found."""
    from counterfold_lab.report import bench as tables

    return tables.gains(found.gains), tables.holdings(found.coverage)
